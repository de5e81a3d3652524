//! What each device of several loses with an image that is to serve all.

use coldpress_calibration::Population;
use coldpress_report::Table;
use coldpress_report::units::{change, seconds};
use coldpress_tune::{Limits, Row, soonest_starts_s};
use serde::Serialize;

/// A device, and what is predicted there.
#[derive(Debug, Serialize)]
pub(crate) struct Loss {
    device: String,
    /// Its part of the starts.
    share: f64,
    /// A start from the image that was chosen, in s.
    predicted_s: f64,
    /// A start from the image that starts soonest there, in s.
    soonest_s: f64,
    /// That image.
    soonest: String,
}

/// The devices, in the order in which they were named.
///
/// * `chosen`: the place of the image that is to serve all.
pub(crate) fn losses(
    rows: &[Row],
    chosen: usize,
    population: &Population,
    limits: &Limits,
) -> Vec<Loss> {
    let soonest_s = soonest_starts_s(rows, limits);
    let members = population.members.iter().enumerate();
    let members = members.filter_map(|(place, (target, share))| {
        let start_s = |row: &Row| row.outcome.device_starts_s.get(place).copied();
        let soonest_s = *soonest_s.get(place)?;
        let is_soonest = |row: &&Row| row.tool.is_none() && start_s(row) == Some(soonest_s);
        Some(Loss {
            device: target.name.clone(),
            share: *share,
            predicted_s: start_s(rows.get(chosen)?)?,
            soonest_s,
            soonest: rows.iter().find(is_soonest)?.candidate.to_string(),
        })
    });
    members.collect()
}

/// A line for each device; `None` if there is only one.
pub(crate) fn table(losses: &[Loss]) -> Option<Table> {
    let cells = |loss: &Loss| {
        vec![
            format!("  {}", loss.device),
            format!("{:.0} %", loss.share * 100.0),
            seconds(loss.predicted_s),
            change(loss.predicted_s / loss.soonest_s),
            seconds(loss.soonest_s),
            loss.soonest.clone(),
        ]
    };
    let columns = ["device", "share", "start", "loss", "best start", "from"];
    (losses.len() > 1).then(|| Table {
        columns: columns.map(str::to_owned).to_vec(),
        rows: losses.iter().map(cells).collect(),
    })
}

/// The same as facts of a report, as (name, value).
pub(crate) fn notes(losses: &[Loss]) -> Vec<(String, String)> {
    let note = |loss: &Loss| {
        let text = format!(
            "predicted {}, {} against its own best image, {}",
            seconds(loss.predicted_s),
            change(loss.predicted_s / loss.soonest_s),
            loss.soonest,
        );
        (format!("loss on {}", loss.device), text)
    };
    let losses = losses.iter().filter(|_| losses.len() > 1);
    losses.map(note).collect()
}
