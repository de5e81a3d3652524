//! A press as programs read it.

use coldpress_bench::{Standing, standings};
use coldpress_history::{Measured, Study};
use coldpress_pack::PackSummary;
use coldpress_report::text::escaped_path;
use serde::Serialize;

use super::image::Image;
use super::prove::Proof;
use super::request::Request;

/// What became of a press.
#[derive(Debug, Serialize)]
pub(super) struct Pressed {
    image: String,
    image_bytes: u64,
    content_bytes: u64,
    /// Whether a start was recorded; else a plan or a profile was given.
    recorded: bool,
    /// Names, metadata and content are those of the source: there is no image otherwise.
    verified: bool,
    /// The pages of the start after the image, if asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    start_pack: Option<PackSummary>,
    /// Whether its starts were measured.
    proven: bool,
    standings: Vec<Standing>,
    /// The same on the other devices, if there are several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    more_studies: Vec<Study>,
    /// Facts beside the measurement, as (name, value): plan, build times, tool versions.
    notes: Vec<(String, String)>,
}

impl Pressed {
    pub(super) fn new(request: &Request, image: &Image) -> Self {
        Self {
            image: escaped_path(&request.args.output),
            image_bytes: image.built.image_bytes,
            content_bytes: image.built.data_bytes,
            recorded: request.records(),
            verified: true,
            start_pack: image.pack,
            proven: false,
            standings: Vec::new(),
            more_studies: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// With what its starts have shown.
    pub(super) fn proven(self, proof: Proof) -> Measured<Option<Study>, Self> {
        let mut studies = proof.studies.into_iter();
        let study = studies.next();
        let summary = Self {
            proven: study.is_some(),
            standings: study.as_ref().map(standings).unwrap_or_default(),
            more_studies: studies.collect(),
            notes: proof.notes,
            ..self
        };
        Measured { study, summary }
    }

    /// Without any start measured.
    pub(super) fn unproven(self) -> Measured<Option<Study>, Self> {
        Measured {
            study: None,
            summary: self,
        }
    }
}
