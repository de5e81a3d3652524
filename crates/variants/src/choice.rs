//! The image that a client takes.

use coldpress_cost::{AccessSequence, Causes};
use coldpress_doctor::rules::{Verdict, verdict};
use coldpress_report::units::bytes;
use serde::Serialize;

use crate::client::Client;
use crate::error::Error;
use crate::index::Index;

/// What a client chooses from, and what it takes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Choice {
    /// The place of the image in the index; `None` if the client is not known to read any.
    pub taken: Option<usize>,
    /// Every image of the index, in its order.
    pub options: Vec<Weighed>,
}

/// An image as a client weighs it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Weighed {
    /// The name of its file.
    pub file: String,
    /// How it is built.
    pub description: String,
    /// Bytes of the file.
    pub size_bytes: u64,
    /// Whether the client reads it.
    pub verdict: Verdict,
    /// What stands against it; with some of it, the image is taken nevertheless.
    pub why: Vec<String>,
    /// Whether it is out of question.
    pub is_refused: bool,
    /// What it would give, if it is not out of question.
    #[serde(flatten)]
    pub outcome: Option<Gain>,
}

/// What an image would give.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Gain {
    /// A cold start, in s.
    pub start_s: f64,
    /// What a start bears of the download, in s.
    pub download_s: f64,
    /// Reads of the device.
    pub reads: u64,
    /// Bytes that they read.
    pub read_bytes: u64,
    /// What the start leaves in the page cache, in bytes.
    pub page_cache_bytes: u64,
    /// Where the time goes.
    pub by_cause: Causes,
}

impl Gain {
    /// What is to be small, in s.
    pub fn total_s(&self) -> f64 {
        self.start_s + self.download_s
    }
}

/// Chooses the image of an index with the least sum of start and download, of those that the client
/// is known to read; of equal ones the smallest.
///
/// # Errors
///
/// [`Error`] if the index lies about an image.
///
/// # Cost
///
/// A prediction for each image: milliseconds.
pub fn choose(index: &Index, sequence: &AccessSequence, client: &Client) -> Result<Choice, Error> {
    let numbers = 0..index.images.len();
    let options = numbers.map(|number| weigh(index, number, sequence, client));
    let options: Vec<Weighed> = options.collect::<Result<_, _>>()?;
    let known = options.iter().enumerate();
    let known = known.filter_map(|(number, option)| {
        let gain = option.outcome.as_ref()?;
        Some((number, gain.total_s(), option.size_bytes))
    });
    let taken = known.min_by(|one, other| one.1.total_cmp(&other.1).then(one.2.cmp(&other.2)));
    Ok(Choice {
        taken: taken.map(|(number, ..)| number),
        options,
    })
}

fn weigh(
    index: &Index,
    number: usize,
    sequence: &AccessSequence,
    client: &Client,
) -> Result<Weighed, Error> {
    let image = &index.images[number];
    let place = format!("images[{number}].demands");
    let findings = client.findings(&image.demands.requirements(&place)?, image.size_bytes);
    let geometry = index.geometry(number, sequence)?;
    let verdict = verdict(&findings);
    let mut why: Vec<String> = findings.into_iter().map(|finding| finding.why).collect();
    let mut is_refused = verdict >= Verdict::Unknown;
    let mut outcome = None;
    if !is_refused {
        let prediction = client.predict(&geometry, sequence);
        let leaves = prediction.page_cache_bytes;
        if let Some(limit) = client.memory_bytes.filter(|limit| leaves > *limit) {
            is_refused = true;
            why.push(format!(
                "a start leaves {} in memory, and {} is the limit",
                bytes(leaves),
                bytes(limit)
            ));
        } else {
            outcome = Some(Gain {
                start_s: prediction.time_s,
                download_s: client.download.share_s(image.size_bytes),
                reads: prediction.reads,
                read_bytes: prediction.read_bytes,
                page_cache_bytes: leaves,
                by_cause: prediction.by_cause,
            });
        }
    }
    Ok(Weighed {
        file: image.file.clone(),
        description: image.description.clone(),
        size_bytes: image.size_bytes,
        verdict,
        why,
        is_refused,
        outcome,
    })
}
