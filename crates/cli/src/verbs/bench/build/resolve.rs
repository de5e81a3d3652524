//! Flags to a study: lists, tools that are there, places.

use std::env;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow};
use coldpress_bench::build_study::{Lists, Maker, Unpacker, version};
use coldpress_report::failure::hint;
use coldpress_session::ui::Ui;

use crate::resolve::{block_size, check_outputs};
use crate::verbs::bench::build::args::BenchBuildArgs;

/// What is to be combined, with tools that may be missing.
pub(super) fn lists(args: &BenchBuildArgs) -> anyhow::Result<Lists> {
    let block_sizes = args
        .blocks
        .iter()
        .map(|bytes| Ok(block_size(*bytes)?.bytes()));
    Ok(Lists {
        makers: args.tools.clone().unwrap_or(Maker::ALL.to_vec()),
        compressors: args.compressors.clone(),
        levels: args.levels.clone(),
        block_sizes_bytes: block_sizes.collect::<anyhow::Result<_>>()?,
        threads: threads(&args.threads),
        unpackers: args.unpackers.clone().unwrap_or(Unpacker::ALL.to_vec()),
        unpack_threads: threads(&args.unpack_threads),
    })
}

fn threads(asked: &[NonZeroU32]) -> Vec<u32> {
    if asked.is_empty() {
        return vec![coldpress_host::machine().cores];
    }
    asked.iter().map(|threads| threads.get()).collect()
}

/// Nothing that is written may become a part of what is measured.
pub(super) fn check_places(args: &BenchBuildArgs) -> anyhow::Result<()> {
    // What lies in the directories, as it is their own place that counts.
    let work = args.work_dir.join("work");
    let kept = args.keep.iter().map(|directory| directory.join("kept"));
    let files = args.study.files().map(Path::to_owned);
    let outputs: Vec<PathBuf> = files.chain([work]).chain(kept).collect();
    let outputs: Vec<&Path> = outputs.iter().map(PathBuf::as_path).collect();
    check_outputs(&outputs, std::slice::from_ref(&args.source))
}

/// Which programs are there.
pub(super) struct Tools {
    /// This program.
    pub(super) coldpress: PathBuf,
    /// Names, and what they say of their versions.
    versions: Vec<(&'static str, String)>,
    /// Whether one that was asked for by its name is not there.
    pub(super) misses_one_asked_for: bool,
}

impl Tools {
    /// Asks all tools for their version, and takes those that are not there off the lists.
    ///
    /// # Errors
    ///
    /// If none is left to make images.
    pub(super) fn look_up(
        lists: &mut Lists,
        args: &BenchBuildArgs,
        ui: &Ui,
    ) -> anyhow::Result<Self> {
        let coldpress = env::current_exe().context("cannot find this program")?;
        let mut tools = Self {
            coldpress,
            versions: Vec::new(),
            misses_one_asked_for: false,
        };
        let mut makers = Vec::new();
        for maker in &lists.makers {
            if tools.has(maker.name(), args.tools.is_some(), ui)? {
                makers.push(*maker);
            }
        }
        let mut unpackers = Vec::new();
        for unpacker in &lists.unpackers {
            if tools.has(unpacker.name(), args.unpackers.is_some(), ui)? {
                unpackers.push(*unpacker);
            }
        }
        (lists.makers, lists.unpackers) = (makers, unpackers);
        if lists.makers.is_empty() {
            let error = anyhow!("none of the tools that make images is in PATH");
            return Err(hint(error, "`--tools coldpress` needs no other program"));
        }
        Ok(tools)
    }

    /// The programs that are not this one, and their versions.
    pub(super) fn others(&self) -> impl Iterator<Item = (&'static str, String)> {
        let versions = self.versions.iter().cloned();
        versions.filter(|(tool, _)| *tool != "coldpress")
    }

    fn has(&mut self, tool: &'static str, is_asked_for: bool, ui: &Ui) -> anyhow::Result<bool> {
        if self.versions.iter().any(|(known, _)| *known == tool) {
            return Ok(true);
        }
        let mut stop = || ui.interrupt.is_pending();
        match version(tool, &self.coldpress, &mut stop)? {
            Some(version) => {
                self.versions.push((tool, version));
                return Ok(true);
            }
            None if is_asked_for => {
                ui.error(&format!("{tool} is not in PATH and takes no part"));
                self.misses_one_asked_for = true;
            }
            None => ui.say(&format!("{tool} is not in PATH and takes no part")),
        }
        Ok(false)
    }
}
