//! The archives of the tree in the order of the start, if that proves to be faster.

use std::fs::File;
use std::io;

use coldpress_bench::stats::Verdict;
use coldpress_bench::versus;
use coldpress_files::archives::order_in;
use coldpress_writer::{Input, Output};

use super::Press;
use super::content::Content;
use super::image::Image;
use super::prove::Proof;
use crate::start::Start;
use crate::steps;

/// The image with the archives as they were, in the work directory, and as a contestant.
pub(super) const AS_THEY_WERE_IMAGE: &str = "archives-as-they-were.sqfs";
pub(super) const AS_THEY_WERE: &str = "archives as they were";

impl Press<'_> {
    /// The source with ordered archives and the same start from it, if asked for; and beside it what
    /// it was before.
    pub(super) fn order_archives(
        &self,
        inputs: &[Input],
        content: Content,
    ) -> anyhow::Result<(Content, Option<Content>)> {
        let trace = match &content.start {
            Some(Start::Trace(trace)) if self.request.args.archives => trace.clone(),
            _ => return Ok((content, None)),
        };
        let mut source = steps::gather(inputs, &self.request.settings, self.ui)?;
        let directory = self.work_dir.path();
        let (trace, ordered) = order_in(&mut source, trace, directory, self.ui)?;
        if ordered.is_empty() {
            self.ui
                .note("the start reads no archive that can be ordered");
            return Ok((content, None));
        }
        let start = Some(Start::Trace(trace));
        Ok((Content { source, start }, Some(content)))
    }

    /// Builds the image with the archives as they were, in the work directory.
    pub(super) fn build_former(
        &self,
        as_it_was: Option<&mut Content>,
    ) -> anyhow::Result<Option<Image>> {
        let build = |content: &mut Content| {
            let output = Output::create(&self.work_dir.file(AS_THEY_WERE_IMAGE))?;
            let plan = self.planned(content);
            self.build(content, &plan, output)
        };
        as_it_was.map(build).transpose()
    }

    /// Puts the image with the archives as they were in its place, unless the other was shown to be
    /// faster on a device and slower on none; returns the one that stays.
    ///
    /// * `former`: that image, if archives were ordered.
    pub(super) fn keep_the_proven(
        &self,
        image: Image,
        former: Option<Image>,
        proof: &Proof,
    ) -> anyhow::Result<Image> {
        let Some(former) = former else {
            return Ok(image);
        };
        let ratios = proof
            .studies
            .iter()
            .filter_map(|study| versus(study, "cold_s", AS_THEY_WERE, "pressed"));
        let verdicts: Vec<Verdict> = ratios.map(|ratio| ratio.verdict).collect();
        if verdicts.contains(&Verdict::Faster) && !verdicts.contains(&Verdict::Slower) {
            return Ok(image);
        }
        let output = Output::create(&self.request.args.output)?;
        let mut bytes = File::open(self.work_dir.file(AS_THEY_WERE_IMAGE))?;
        io::copy(&mut bytes, &mut output.file())?;
        steps::commit(output, self.ui)?;
        self.ui.say(
            "archives are as they were: nothing shows that a start from ordered ones is faster",
        );
        Ok(Image {
            built: former.built,
            ..image
        })
    }
}
