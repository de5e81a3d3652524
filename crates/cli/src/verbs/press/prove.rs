//! The proof: the pressed image in turn with one without the plan and one of mksquashfs.

use std::time::Instant;

use coldpress_bench::{Contestant, Report, Scenario};
use coldpress_history::{Kind, Study};
use coldpress_host::{Device, Readahead};
use coldpress_layout::{Plan, PlanItem};
use coldpress_report::failure::hint;
use coldpress_report::text::plural;
use coldpress_report::units;
use coldpress_writer::{MetadataLayout, Output, Source, Summary};

use super::archives::{AS_THEY_WERE, AS_THEY_WERE_IMAGE};
use super::content::Content;
use super::request::Request;
use super::{Press, rival};
use crate::steps;
use crate::study;

/// The image of the same settings without the plan, in the work directory.
pub(super) const UNPLANNED_IMAGE: &str = "unplanned.sqfs";
/// mksquashfs's image, in the work directory.
pub(super) const RIVAL_IMAGE: &str = "mksquashfs.sqfs";

/// The measurement at the end of a press.
pub(super) struct Proof {
    /// One for each device.
    pub(super) studies: Vec<Study>,
    /// Facts beside the measurement, as (name, value): plan, build times, checks, tool versions.
    pub(super) notes: Vec<(String, String)>,
}

impl Proof {
    pub(super) fn report(&self) -> Report {
        Report {
            title: self
                .studies
                .first()
                .map(|study| study.title.clone())
                .unwrap_or_default(),
            studies: self.studies.clone(),
            notes: self.notes.clone(),
            ..Report::default()
        }
    }
}

impl Press<'_> {
    /// Starts from all images in turn, on each device.
    ///
    /// * `as_it_was`: before archives were ordered.
    pub(super) fn prove(
        &self,
        content: &Content,
        as_it_was: Option<&Content>,
        plan: &Plan,
        built: &Summary,
    ) -> anyhow::Result<Proof> {
        let Request {
            args,
            devices,
            population,
            ..
        } = &self.request;
        let source = &as_it_was.unwrap_or(content).source;
        let mut notes = plan_notes(plan, built);
        notes.extend(self.tuned.losses.iter().cloned());
        let mut contestants = Vec::new();
        // The baseline of all ratios is what people use today, where it is there.
        match rival::build(self)? {
            Ok(rival) => {
                notes.push(("mksquashfs".to_owned(), rival.note));
                contestants.push(Contestant::image("mksquashfs", &rival.image));
            }
            Err(why) => notes.push(("mksquashfs".to_owned(), why.to_owned())),
        }
        contestants.extend(args.against.iter().map(|image| {
            let name = image.file_name().unwrap_or_default().display().to_string();
            Contestant::image(&name, image)
        }));
        let image = self.work_dir.file(UNPLANNED_IMAGE);
        self.build_unplanned(source, &mut notes)?;
        contestants.push(Contestant::image("unplanned", &image));
        if as_it_was.is_some() {
            let image = self.work_dir.file(AS_THEY_WERE_IMAGE);
            contestants.push(Contestant::image(AS_THEY_WERE, &image));
        }
        contestants.push(Contestant::image("pressed", &args.output));
        contestants.extend(self.readaheads().into_iter().map(|readahead| {
            let name = format!("readahead {readahead}");
            Contestant::image_with(&name, &args.output, readahead)
        }));
        let places = devices.iter().zip(&population.members);
        let studies = places.map(|(device, (target, _))| {
            let mut contestants = contestants.clone();
            // The start would not read the same pages of archives that are ordered.
            if let (Some(start), None) = (&content.start, as_it_was) {
                self.predict(start, source, target, &mut contestants);
            }
            self.measure(device, &contestants)
        });
        let studies = studies.collect::<anyhow::Result<_>>()?;
        Ok(Proof { studies, notes })
    }

    /// With which readaheads starts from the image are measured, beside the usual one: those that
    /// were asked for; else, if one was chosen, that one and what users have who set none.
    fn readaheads(&self) -> Vec<Readahead> {
        let args = self.request.args;
        let chosen = [self.tuned.readahead, Readahead::Kernel];
        let chosen = if args.tune { &chosen[..] } else { &[] };
        let mut readaheads = args.readahead.or(chosen).to_vec();
        readaheads.retain(|it| *it != Readahead::Disk);
        readaheads.dedup();
        readaheads
    }

    /// Starts from each image in turn, on one device.
    fn measure(&self, device: &Device, contestants: &[Contestant]) -> anyhow::Result<Study> {
        let Request { args, command, .. } = &self.request;
        let scenario = Scenario {
            kind: Kind::Press,
            title: format!("coldpress press {}", args.source.display()),
            command: command.clone(),
            device: device.clone(),
            runs: args.runs.number.get(),
            seed: study::seed(),
            walk: false,
        };
        study::measure(
            &scenario,
            contestants,
            self.work_dir.path(),
            self.janitor,
            self.ui,
        )
        .map_err(|error| hint(error, rival::PROOF_IS_MISSING))
    }

    fn build_unplanned(
        &self,
        source: &Source,
        notes: &mut Vec<(String, String)>,
    ) -> anyhow::Result<()> {
        let started = Instant::now();
        let output = Output::create(&self.work_dir.file(UNPLANNED_IMAGE))?;
        let settings = &self.request.settings;
        let order = steps::order(source, &Plan::default(), settings, self.ui);
        let options = settings.build_options(&source.tree, MetadataLayout::Dense);
        steps::write("for comparison", source, &order, &output, &options, self.ui)?;
        steps::commit(output, self.ui)?;
        let time = units::seconds(started.elapsed().as_secs_f64());
        notes.push((
            "unplanned".to_owned(),
            format!("same settings, built in {time}"),
        ));
        Ok(())
    }
}

fn plan_notes(plan: &Plan, built: &Summary) -> Vec<(String, String)> {
    let tails: usize = plan
        .data
        .iter()
        .map(|item| {
            if let PlanItem::Fragment(paths) = item {
                paths.len()
            } else {
                0
            }
        })
        .sum();
    let blocks = plan
        .data
        .iter()
        .filter(|item| matches!(item, PlanItem::Blocks(_)))
        .count();
    let planned = format!(
        "{} and {} first in the data area, {} and {} first in the tables",
        plural(blocks as u64, "file's blocks", "files' blocks"),
        plural(tails as u64, "tail end", "tail ends"),
        plural(plan.inodes.len() as u64, "inode", "inodes"),
        plural(
            plan.directories.len() as u64,
            "directory listing",
            "directory listings"
        ),
    );
    let content = format!(
        "{} of {} files' content; {}",
        units::bytes(built.image_bytes),
        units::bytes(built.data_bytes),
        "verified against the source: names, metadata, content"
    );
    vec![
        ("plan".to_owned(), planned),
        ("pressed".to_owned(), content),
    ]
}
