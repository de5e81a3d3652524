//! The archives of the tree in the order of the start, if that proves to be faster.

use std::fs::File;
use std::io;

use coldpress_bench::stats::Verdict;
use coldpress_bench::versus;
use coldpress_files::archives::order_in;
use coldpress_history::Study;
use coldpress_writer::{Input, Output, Source};

use super::Press;
use crate::start::Start;
use crate::steps;

/// The image with the archives as they were, in the work directory, and as a contestant.
pub(super) const AS_THEY_WERE_IMAGE: &str = "archives-as-they-were.sqfs";
pub(super) const AS_THEY_WERE: &str = "archives as they were";

impl Press<'_> {
    /// The source with ordered archives, and the same start from it; `None` if it reads none.
    pub(super) fn order_archives(
        &self,
        inputs: &[Input],
        start: Option<&Start>,
    ) -> anyhow::Result<Option<(Source, Start)>> {
        let Some(Start::Trace(trace)) = start.filter(|_| self.args.archives) else {
            return Ok(None);
        };
        let mut source = steps::gather(inputs, &self.settings, self.ui)?;
        let directory = self.work_dir.path();
        let (trace, ordered) = order_in(&mut source, trace.clone(), directory, self.ui)?;
        if ordered.is_empty() {
            self.ui
                .note("the start reads no archive that can be ordered");
            return Ok(None);
        }
        Ok(Some((source, Start::Trace(trace))))
    }

    /// Puts the image with the archives as they were in its place, unless the other was shown to be
    /// faster on a device and slower on none; returns whether it did.
    pub(super) fn keep_the_proven(&self, studies: &[Study]) -> anyhow::Result<bool> {
        let ratios = studies
            .iter()
            .filter_map(|study| versus(study, "cold_s", AS_THEY_WERE, "pressed"));
        let verdicts: Vec<Verdict> = ratios.map(|ratio| ratio.verdict).collect();
        if verdicts.contains(&Verdict::Faster) && !verdicts.contains(&Verdict::Slower) {
            return Ok(false);
        }
        let output = Output::create(&self.args.output)?;
        let mut image = File::open(self.work_dir.file(AS_THEY_WERE_IMAGE))?;
        io::copy(&mut image, &mut output.file())?;
        steps::commit(output, self.ui)?;
        self.ui.say(
            "archives are as they were: nothing shows that a start from ordered ones is faster",
        );
        Ok(true)
    }
}
