//! What there is to choose from, by start and size.

use coldpress_bench::{Scatter, ScatterLine, ScatterSpot, pareto_front};
use coldpress_report::units::as_f64;
use coldpress_tune::{OrderBy, Row};

use super::Advice;

/// Below the chart.
pub(super) const HINT: &str = "What stands left is faster, what stands below is smaller. The line \
goes through the images that no other beats in both; these and the \
recommended one, with a star, have their names. Other figures are \
left out here, so more images are in the table.";

/// Where an image's order comes from; and what tools make.
const KINDS: [&str; 3] = ["made today by tools", "by the tree", "by the plan"];

/// A spot for each image.
pub(super) fn chart(advice: &Advice) -> Scatter {
    let tuned = advice.tuned;
    let mut spots: Vec<ScatterSpot> = tuned.rows.iter().map(spot).collect();
    // What tools make is beside it.
    let points: Vec<[f64; 2]> = tuned
        .rows
        .iter()
        .zip(&spots)
        .map(|(row, spot)| match row.tool {
            None => [spot.at.0, spot.at.1],
            Some(_) => [f64::NAN; 2],
        })
        .collect();
    for (spot, is_front) in spots.iter_mut().zip(pareto_front(&points)) {
        spot.is_marked = is_front;
    }
    if let Some(chosen) = spots.get_mut(tuned.chosen) {
        chosen.is_marked = true;
        chosen.name = format!("* {}", chosen.name);
    }
    let (time, title) = if advice.args.has_start() {
        ("predicted_s", "Predicted start and size")
    } else {
        ("walk_s", "Predicted reading and size")
    };
    Scatter {
        title: title.to_owned(),
        figures: [time, "size_bytes"].map(str::to_owned),
        kinds: KINDS.map(str::to_owned).to_vec(),
        spots,
        line: ScatterLine::Front,
    }
}

fn spot(row: &Row) -> ScatterSpot {
    let outcome = &row.outcome;
    let kind = match (row.tool, row.candidate.order) {
        (Some(_), _) => 0,
        (None, OrderBy::Tree) => 1,
        (None, _) => 2,
    };
    ScatterSpot {
        name: match row.tool {
            Some(tool) => format!("{tool}: {}", row.candidate),
            None => row.candidate.to_string(),
        },
        at: (outcome.start_s, as_f64(outcome.size_bytes)),
        kind,
        is_marked: false,
    }
}
