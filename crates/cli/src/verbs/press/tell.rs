//! How a press ends.

use std::io::Write as _;

use coldpress_report::text::{escaped_path, quoted};
use coldpress_session::exit::Exit;
use coldpress_writer::Output;

use super::image::Image;
use super::json::Pressed;
use super::prove::Proof;
use super::request::Request;
use super::{Press, summary};
use crate::steps;

impl Press<'_> {
    /// The results: standard output, and the report.
    pub(super) fn tell(
        &self,
        image: &Image,
        proof: Proof,
        report: Option<Output>,
        samples: Option<Output>,
    ) -> anyhow::Result<()> {
        let Request { args, devices, .. } = &self.request;
        let ui = self.ui;
        if let Some(output) = report {
            let mut html = Vec::new();
            coldpress_bench::report_html(&proof.report(), &mut html)?;
            steps::write_small(output, &html)?;
        }
        if !args.json {
            for (study, device) in proof.studies.iter().zip(devices) {
                if devices.len() > 1 {
                    writeln!(ui.out(), "{}:\n", device.name)?;
                }
                summary::print(study, ui)?;
            }
        }
        let measured = Pressed::new(&self.request, image).proven(proof);
        if let Some(output) = samples {
            steps::write_small(output, &serde_json::to_vec_pretty(&measured)?)?;
        }
        if args.json {
            ui.json(&measured)?;
        }
        if let Some(path) = &args.report {
            ui.say(&format!("report: {}", escaped_path(path)));
        }
        Ok(())
    }

    /// Without root: sizes only, and an exit status that says that not all was done.
    pub(super) fn end_without_proof(&self, image: &Image) -> anyhow::Result<Exit> {
        let Request { args, .. } = &self.request;
        let ui = self.ui;
        if args.json {
            ui.json(&Pressed::new(&self.request, image).unproven())?;
        }
        let missing = [&args.report, &args.samples];
        for path in missing.into_iter().flatten() {
            ui.warn(&format!("{} is not written", quoted(path)));
        }
        ui.warn(&format!(
            "{} is sound, but nothing shows that it starts faster",
            quoted(&args.output)
        ));
        Ok(Exit::Partial)
    }
}
