//! `coldpress man` and `coldpress completions`: their command lines.

use std::path::PathBuf;

use clap::Args;

/// Write the manual pages of all verbs into a directory
///
/// One page for coldpress and one for each verb, in section 1: `coldpress.1`,
/// `coldpress-build.1` and so on. The directory is created if it is missing.
#[derive(Debug, Args)]
#[command(
    hide = true,
    after_long_help = "\
Example:
  coldpress man /usr/local/share/man/man1"
)]
pub(crate) struct ManArgs {
    /// The directory for the pages
    #[arg(value_name = "DIR")]
    pub(crate) directory: PathBuf,
}

/// Print the completions of a shell
///
/// Prints a script for the shell to read when it starts.
#[derive(Debug, Args)]
#[command(
    hide = true,
    after_long_help = "\
Example:
  coldpress completions bash > /etc/bash_completion.d/coldpress"
)]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    pub(crate) shell: clap_complete::Shell,
}
