//! What orders an image: a plan, a profile, or the sort file of another tool.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, anyhow};
use coldpress_dialects::sort_file::{bring_inside, sources};
use coldpress_layout::{Dialect, Finding, Plan, SortFile};
use coldpress_report::failure::hint;
use coldpress_report::text::quoted;
use coldpress_session::ui::Ui;
use coldpress_trace::WorkingSet;
use coldpress_writer::{Input, Rules, Source};

use crate::flags::profile::OrderingProfileArgs;
use crate::profiles::OrderingProfile;
use crate::resolve::ImageSettings;
use crate::steps;

/// How many findings are printed before the rest is only counted.
const FINDINGS_MAX: usize = 10;

/// What the order of an image is taken from.
#[derive(Debug)]
pub(crate) enum Ordering {
    Plan(Plan),
    Profile(OrderingProfile),
    Sort(SortFile),
}

impl Ordering {
    /// Reads what orders an image; an empty plan if nothing is named.
    ///
    /// * `sort`: a sort file, and whose it is.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, or the line that breaks a rule.
    pub(crate) fn read(
        sort: Option<(&Path, Dialect)>,
        profile: &OrderingProfileArgs,
        plan: Option<&Path>,
    ) -> anyhow::Result<Self> {
        if let Some((path, dialect)) = sort {
            return Ok(Self::Sort(read_sort_file(path, dialect)?));
        }
        if let Some(profile) = OrderingProfile::read(profile)? {
            return Ok(Self::Profile(profile));
        }
        let plan = plan.map(steps::read_plan).transpose()?;
        Ok(Self::Plan(plan.unwrap_or_default()))
    }

    /// Leaves out of a source what neither the profile names, if this is one, nor patterns match.
    ///
    /// # Errors
    ///
    /// If more of the profile is stale than allowed.
    pub(crate) fn keep_recorded(
        &mut self,
        source: &mut Source,
        include: &Rules,
        ui: &Ui,
    ) -> anyhow::Result<()> {
        match self {
            Self::Profile(profile) => profile.keep_recorded(source, include, ui),
            Self::Plan(_) | Self::Sort(_) => Ok(()),
        }
    }

    /// What a start touches, for a start pack.
    ///
    /// # Errors
    ///
    /// If this is no profile, or more of it is stale than allowed.
    pub(crate) fn working_set(&mut self, source: &Source, ui: &Ui) -> anyhow::Result<WorkingSet> {
        match self {
            Self::Profile(profile) => profile.working_set(source, ui),
            Self::Plan(_) | Self::Sort(_) => {
                let error = anyhow!("a start pack needs a recording of the start");
                Err(hint(error, "name a trace or a profile with --profile"))
            }
        }
    }

    /// The plan for a source. Warns of the lines of a sort file that do nothing for it, and of what
    /// of a profile is stale.
    ///
    /// # Errors
    ///
    /// If more of a profile is stale than allowed.
    pub(crate) fn into_plan(
        self,
        source: &Source,
        inputs: &[Input],
        settings: &ImageSettings,
        ui: &Ui,
    ) -> anyhow::Result<Plan> {
        let tree = &source.tree;
        match self {
            Self::Plan(plan) => Ok(plan),
            Self::Profile(profile) => profile.plan(source, settings.block_size, ui),
            Self::Sort(mut file) => {
                bring_inside(&mut file, inputs);
                let sources = sources(tree, inputs);
                warn_of_findings(&file.lint(tree, &sources), ui);
                warn_of_flags(&file, ui);
                Ok(file.plan(tree, &sources, settings.block_size, settings.tails))
            }
        }
    }
}

/// Reads a sort file.
///
/// # Errors
///
/// If the file cannot be read, or the line that its tool would refuse.
pub(crate) fn read_sort_file(path: &Path, dialect: Dialect) -> anyhow::Result<SortFile> {
    let bytes = fs::read(path).with_context(|| format!("cannot read {}", quoted(path)))?;
    SortFile::parse(&bytes, dialect).with_context(|| format!("cannot use {}", quoted(path)))
}

/// Warns of the first of some findings, and how many more there are.
pub(crate) fn warn_of_findings(findings: &[Finding], ui: &Ui) {
    for finding in findings.iter().take(FINDINGS_MAX) {
        ui.warn(&format!("the sort file, {finding}"));
    }
    let more = findings.len().saturating_sub(FINDINGS_MAX);
    if more > 0 {
        ui.warn(&format!(
            "and {more} more of this kind; `coldpress plan lint` names them all"
        ));
    }
}

/// Warns of the flags of gensquashfs that are not obeyed; true if there are any.
pub(crate) fn warn_of_flags(file: &SortFile, ui: &Ui) -> bool {
    let mut flags: Vec<_> = file.unplanned_flags().collect();
    // One warning for each flag, with its first line.
    flags.sort_by_key(|(entry, flag)| (flag.word(), entry.line));
    flags.dedup_by_key(|(_, flag)| *flag);
    for (entry, flag) in &flags {
        ui.warn(&format!(
            "the sort file, line {}: `{flag}` is not obeyed",
            entry.line
        ));
    }
    !flags.is_empty()
}
