//! What is predicted of the images, beside what is measured.

use std::path::Path;

use coldpress_bench::{Contestant, Row, figure};
use coldpress_calibration::Target;
use coldpress_cost::{AccessSequence, Geometry, Prediction, predict};
use coldpress_history::Figures;
use coldpress_report::text::quoted;
use coldpress_report::units::seconds;
use coldpress_writer::Source;

use super::Press;
use crate::flags::place::PlaceArgs;
use crate::image_file;
use crate::start::{Start, geometry};

const TIME: &str = "predicted_s";
const READS: &str = "predicted_reads";
const READ_BYTES: &str = "predicted_read_bytes";

impl Press<'_> {
    /// Notes of each image what the start is predicted to take. Of one that cannot be read nothing
    /// is: that is told when it is mounted.
    pub(super) fn predict(
        &self,
        start: &Start,
        source: &Source,
        target: &Target,
        contestants: &mut [Contestant],
    ) {
        let step = self
            .ui
            .step("predicting", 0)
            .about("a start from each image");
        let sequence = start.sequence(start.program_s(source, target).unwrap_or(0.0));
        for contestant in contestants {
            let path = contestant.what.path();
            match self.geometry(path, &sequence) {
                Ok(geometry) => {
                    let readahead = contestant.what.readahead().unwrap_or_default();
                    let medium = target.clone().with_readahead(readahead).medium;
                    let (machine, reader) = (&target.machine, &target.kernel);
                    let prediction = predict(&geometry, &sequence, &medium, machine, reader);
                    contestant.figures.extend(figures(&prediction));
                }
                Err(error) => self.ui.warn(&format!(
                    "no start from {} is predicted: {error:#}",
                    quoted(path)
                )),
            }
        }
        step.finish("");
    }

    fn geometry(&self, path: &Path, sequence: &AccessSequence) -> anyhow::Result<Geometry> {
        let opened = image_file::open(path, &PlaceArgs::default())?;
        geometry(&opened, sequence, self.ui)
    }
}

#[expect(clippy::cast_precision_loss, reason = "three digits are shown of them")]
fn figures(prediction: &Prediction) -> Figures {
    let figures = [
        (TIME, prediction.time_s),
        (READS, prediction.reads as f64),
        (READ_BYTES, prediction.read_bytes as f64),
    ];
    let figures = figures.into_iter();
    figures
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}

/// What was predicted of an image and what was measured, as a sentence; nothing if nothing was
/// predicted.
///
/// `pressed: predicted 840 ms, 412 reads, 98.0 MiB; measured 910 ms, 420 reads, 99.0 MiB.`
pub(super) fn sentence(figures: &Figures, row: &Row) -> Option<String> {
    let predicted = |name: &str| figures.get(name).map(|value| figure(name, *value));
    let predicted = format!(
        "{}: predicted {}, {} reads, {}",
        row.name,
        predicted(TIME)?,
        predicted(READS)?,
        predicted(READ_BYTES)?
    );
    let measured = [
        row.cold_s.as_ref().map(|times| seconds(times.median)),
        row.reads
            .map(|reads| format!("{} reads", figure("reads", reads))),
        row.read_bytes.map(|bytes| figure("read_bytes", bytes)),
    ];
    let measured: Vec<String> = measured.into_iter().flatten().collect();
    Some(if measured.is_empty() {
        format!("{predicted}.")
    } else {
        format!("{predicted}; measured {}.", measured.join(", "))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row() -> Row {
        Row {
            name: "pressed".to_owned(),
            size_bytes: Some(1.0),
            counted: 1,
            excluded: 0,
            cold_s: None,
            warm_s: None,
            reads: Some(420.0),
            read_bytes: Some(99.0 * 1_048_576.0),
            page_cache_bytes: None,
            versus: None,
        }
    }

    #[test]
    fn predictions_stand_beside_what_was_measured() {
        let prediction = Prediction {
            time_s: 0.84,
            reads: 1412,
            read_bytes: 98 << 20,
            ..Prediction::default()
        };
        let told = sentence(&figures(&prediction), &row());
        let expected =
            "pressed: predicted 840 ms, 1,412 reads, 98.0 MiB; measured 420 reads, 99.0 MiB.";
        assert_eq!(told.as_deref(), Some(expected));
        assert_eq!(sentence(&Figures::new(), &row()), None);
    }
}
