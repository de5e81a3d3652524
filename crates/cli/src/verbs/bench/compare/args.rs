//! `coldpress bench compare`.

use std::path::PathBuf;

use clap::Args;
use coldpress_bench::Condition;

/// Compare a study with an older one, and fail if it is worse
///
/// Compares contestants with the same name, figure by figure: the ratio of the medians, with a 95 %
/// interval, because the two studies were measured at different times. Compares exactly a size that
/// is the same in all runs.
///
/// A condition is `FIGURE > +PERCENT%` or `FIGURE < -PERCENT%`. It holds if the figure certainly
/// changed by more than that: the whole interval lies beyond the limit. With fewer than six runs on
/// either side nothing is certain, and a warning says so. FIGURE is the name of a figure, with or
/// without its unit: cold, warm, size, reads, build, boot.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Exit status: 0 no condition holds, 1 one does, 2 there is nothing to compare

Example:
  coldpress bench compare main.json 13 --fail-if 'cold > +5%' --fail-if 'size > 0%' --junit out.xml")]
pub(crate) struct CompareArgs {
    /// The older study: its number, or a file of `history export --format json`
    #[arg(value_name = "BASE")]
    pub(crate) base: PathBuf,

    /// The newer study, in the same form
    #[arg(value_name = "NEW")]
    pub(crate) new: PathBuf,

    /// Fail if this condition holds for any contestant; may be repeated
    #[arg(long, value_name = "CONDITION")]
    pub(crate) fail_if: Vec<Condition>,

    /// Write the judgements as JUnit XML, with a test for each condition and contestant
    #[arg(long, value_name = "FILE", requires = "fail_if")]
    pub(crate) junit: Option<PathBuf>,

    /// Write the comparison as a Markdown table, for a pull request
    #[arg(long, value_name = "FILE")]
    pub(crate) markdown: Option<PathBuf>,

    /// Print the comparison as JSON
    #[arg(long)]
    pub(crate) json: bool,
}
