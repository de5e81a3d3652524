//! Profiles and sources: what files are, what of a profile is in a source, the plan of it.

use std::path::{Path, PathBuf};

use anyhow::{anyhow, bail};
use coldpress_format::BlockSize;
use coldpress_layout::{Matching, Plan, match_profile};
use coldpress_report::failure::hint;
use coldpress_report::text::{plural, quoted, some_of};
use coldpress_report::units::count;
use coldpress_session::ui::Ui;
use coldpress_trace::{ContentHash, Profile, WorkingSet};
use coldpress_writer::{Output, Rules, Source};

use crate::flags::profile::{OrderingProfileArgs, StalenessArgs};
use crate::steps;

/// A profile that an image is ordered by.
#[derive(Debug)]
pub(crate) struct OrderingProfile {
    /// Its file.
    path: PathBuf,
    /// What of it counts.
    profile: Profile,
    fail_stale_percent: Option<f64>,
}

impl OrderingProfile {
    /// Reads the profile that the flags name, if they do.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, or the line that breaks a rule.
    pub(crate) fn read(args: &OrderingProfileArgs) -> anyhow::Result<Option<Self>> {
        let Some(path) = &args.profile else {
            return Ok(None);
        };
        Ok(Some(Self {
            path: path.clone(),
            profile: steps::read_profile(path)?.at_least(args.min_share),
            fail_stale_percent: args.fail_stale,
        }))
    }

    /// A profile with its limits.
    ///
    /// # Errors
    ///
    /// As [`read`](Self::read).
    pub(crate) fn with_limits(path: PathBuf, limits: &StalenessArgs) -> anyhow::Result<Self> {
        let profile = steps::read_profile(&path)?.at_least(limits.share.min_share);
        Ok(Self {
            path,
            profile,
            fail_stale_percent: limits.fail_stale,
        })
    }

    /// The plan for a source. Warns of what is not in it.
    ///
    /// # Errors
    ///
    /// If more of it is stale than allowed, or the user interrupts.
    pub(crate) fn plan(
        &self,
        source: &Source,
        block_size: BlockSize,
        ui: &Ui,
    ) -> anyhow::Result<Plan> {
        let profile = &self.fresh(source, ui)?.profile;
        Ok(coldpress_layout::plan(&source.tree, profile, block_size))
    }

    /// Leaves out of a source what neither the profile names nor patterns match, and takes over the
    /// names of what is left. Warns of what is not in it.
    ///
    /// # Errors
    ///
    /// As [`plan`](Self::plan).
    pub(crate) fn keep_recorded(
        &mut self,
        source: &mut Source,
        include: &Rules,
        ui: &Ui,
    ) -> anyhow::Result<()> {
        let matching = self.fresh(source, ui)?;
        let steps = matching.profile.steps.iter();
        let wanted = steps
            .filter_map(|step| source.tree.find(&step.path))
            .collect();
        let before = source.tree.nodes.len();
        source.keep_only(&wanted, include);
        ui.say(&format!(
            "{} of {} stay, because a start needs them",
            count(source.tree.nodes.len() as u64),
            plural(before as u64, "inode", "inodes")
        ));
        self.profile = matching.profile;
        Ok(())
    }

    /// What of it is in a source, by the paths that the source has; warns of the rest.
    ///
    /// # Errors
    ///
    /// As [`plan`](Self::plan).
    pub(crate) fn fresh(&self, source: &Source, ui: &Ui) -> anyhow::Result<Matching> {
        let matching = matched(&self.profile, source, ui)?;
        if let Some(why) = self.too_stale(&matching) {
            let advice = "record again, or allow more with --fail-stale";
            return Err(hint(anyhow!(why), advice));
        }
        warn_of_stale(&matching, ui);
        Ok(matching)
    }

    /// What it touches, as far as the source has it; warns of the rest.
    ///
    /// # Errors
    ///
    /// As [`plan`](Self::plan).
    pub(crate) fn working_set(&mut self, source: &Source, ui: &Ui) -> anyhow::Result<WorkingSet> {
        self.profile = self.fresh(source, ui)?.profile;
        Ok(self.profile.working_set(0.0))
    }

    /// What of the profile is in a source.
    ///
    /// # Errors
    ///
    /// If the user interrupts.
    pub(crate) fn matched(&self, source: &Source, ui: &Ui) -> anyhow::Result<Matching> {
        matched(&self.profile, source, ui)
    }

    /// That more of it is stale than allowed, as a sentence.
    pub(crate) fn too_stale(&self, matching: &Matching) -> Option<String> {
        let limit = self.fail_stale_percent?;
        let staleness = matching.staleness();
        (staleness.percent() > limit).then(|| {
            format!(
                "{} is too old: {:.1} % of its paths and {:.1} % of its bytes are stale, at most \
                 {limit} % may be",
                quoted(&self.path),
                staleness.path_percent(),
                staleness.byte_percent(),
            )
        })
    }

    /// Its file.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// How many recordings it was made of.
    pub(crate) fn recordings(&self) -> u32 {
        self.profile.recordings
    }
}

/// Finds what a profile names in a source; reads files that may be those that were renamed.
fn matched(profile: &Profile, source: &Source, ui: &Ui) -> anyhow::Result<Matching> {
    let step = ui.step("matching", 0).about("a profile with the source");
    let matching = match_profile(&source.tree, profile, &mut |node| {
        // A file that cannot be read is not the one, and is told of when its blocks are read.
        let is_wanted = !ui.interrupt.is_pending();
        is_wanted.then(|| source.content_hash(node).ok()).flatten()
    });
    step.finish("");
    if ui.interrupt.is_pending() {
        bail!("interrupted");
    }
    Ok(matching)
}

/// Warns of what of a profile is not in a source.
fn warn_of_stale(matching: &Matching, ui: &Ui) {
    let stale = matching.stale();
    if stale.is_empty() {
        return;
    }
    ui.warn(&format!(
        "{:.1} % of the profile is stale: the source lacks all or a part of {}",
        matching.staleness().percent(),
        some_of(stale.iter().map(|path| path.path.as_slice())),
    ));
}

/// Notes in a profile what the files of a source are; warns of those that it does not have.
///
/// # Errors
///
/// If a file cannot be read, or the user interrupts.
pub(crate) fn fill(profile: &mut Profile, source: &Source, ui: &Ui) -> anyhow::Result<()> {
    let step = ui.step("hashing", 0).about("the files of the profile");
    let (mut missing, mut failed, mut done) = (0_u64, None, 0);
    profile.fill(|path| {
        if failed.is_some() || ui.interrupt.is_pending() {
            return None;
        }
        let known = identity(source, path);
        missing += u64::from(known.is_none());
        let (size_bytes, hash) = known?;
        done += size_bytes;
        step.set(done);
        match hash {
            Ok(hash) => Some((size_bytes, Some(hash))),
            Err(error) => {
                failed = Some(error);
                None
            }
        }
    });
    step.finish("");
    if let Some(error) = failed {
        return Err(error.into());
    }
    if ui.interrupt.is_pending() {
        bail!("interrupted");
    }
    if missing > 0 {
        let files = plural(missing, "file", "files");
        ui.warn(&format!("the source does not have {files} of the profile"));
    }
    Ok(())
}

/// The length and the content of a regular file; `None` if there is none.
fn identity(
    source: &Source,
    path: &[u8],
) -> Option<(u64, Result<ContentHash, coldpress_writer::Error>)> {
    let node = source.tree.find(path)?;
    let size_bytes = source.tree.file_size(node)?;
    Some((size_bytes, source.content_hash(node)))
}

/// Writes a profile to its file.
///
/// # Errors
///
/// If it cannot be written; what stood there before still does.
pub(crate) fn write(profile: &Profile, output: Output) -> anyhow::Result<()> {
    let mut text = Vec::new();
    profile.write(&mut text)?;
    steps::write_small(output, &text)
}
