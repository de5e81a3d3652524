//! Trade-offs: two figures against each other, and the contestants that nobody beats in both.

use std::io;

use super::charts::scatter;
use super::page::Page;
use super::sections::{Scatter, ScatterLine, ScatterSpot};
use super::view::View;
use crate::figure;
use crate::pareto::pareto_front;

/// Times that are traded for size, the heading, and how many contestants make a trade.
const TRADES: [(&str, &str, usize); 3] = [
    ("build_s", "Build time and size", 2),
    ("unpack_s", "Unpack time and size", 2),
    ("cold_s", "Cold start and size", 4),
];

/// Writes a chart for each trade that the study has, and predictions beside what was measured.
pub(super) fn write(page: &mut Page, view: &View) -> io::Result<()> {
    let sizes = ["size_bytes", "size_percent"];
    let size = sizes.into_iter().find(|name| view.has(name));
    for (time, title, count_min) in TRADES {
        let Some(size) = size else { break };
        let spots = spots(view, [time, size]);
        // Programs are not traded for each other.
        let is_trade = time != "cold_s" || !view.has_several_baselines();
        if is_trade && spots.len() >= count_min {
            trade(page, title, [time, size], spots)?;
        }
    }
    predictions(page, view)
}

fn trade(
    page: &mut Page,
    title: &str,
    figures: [&str; 2],
    mut spots: Vec<ScatterSpot>,
) -> io::Result<()> {
    let points: Vec<[f64; 2]> = spots.iter().map(|spot| [spot.at.0, spot.at.1]).collect();
    for (spot, is_front) in spots.iter_mut().zip(pareto_front(&points)) {
        spot.is_marked = is_front;
    }
    let chart = Scatter {
        title: title.to_owned(),
        figures: figures.map(str::to_owned),
        kinds: Vec::new(),
        spots,
        line: ScatterLine::Front,
    };
    page.chart(title, &scatter(&chart)?);
    let mut front: Vec<&ScatterSpot> = chart.spots.iter().filter(|spot| spot.is_marked).collect();
    front.sort_by(|a, b| a.at.0.total_cmp(&b.at.0));
    let [x, y] = figures;
    let named: Vec<String> = front
        .iter()
        .map(|spot| {
            let (time, size) = (
                figure::formatted(x, spot.at.0),
                figure::formatted(y, spot.at.1),
            );
            format!("{} ({time}, {size})", spot.name)
        })
        .collect();
    let text = format!(
        "On the front, which no other contestant beats in both: {}.",
        named.join("; ")
    );
    page.element("p", "hint", &text);
    Ok(())
}

fn predictions(page: &mut Page, view: &View) -> io::Result<()> {
    let figures = ["cold_s", "predicted_s"];
    let mut spots = spots(view, figures);
    if spots.is_empty() {
        return Ok(());
    }
    for spot in &mut spots {
        spot.is_marked = true;
    }
    let title = "Predicted and measured";
    let chart = Scatter {
        title: title.to_owned(),
        figures: figures.map(str::to_owned),
        kinds: Vec::new(),
        spots,
        line: ScatterLine::Equal,
    };
    page.chart(title, &scatter(&chart)?);
    let hint = "On the line the prediction is right; above it starts were faster than predicted.";
    page.element("p", "hint", hint);
    Ok(())
}

/// The contestants that have both figures. Those of one compressor have one color, where that is
/// known.
fn spots(view: &View, figures: [&str; 2]) -> Vec<ScatterSpot> {
    let mut groups: Vec<&str> = Vec::new();
    let [x, y] = figures.map(|name| view.figure(name));
    let contestants = view.study.contestants.iter().zip(x.iter().zip(y));
    let mut spots = Vec::new();
    for (contestant, (x, y)) in contestants {
        let group = contestant
            .facts
            .get("compressor")
            .unwrap_or(&contestant.name);
        let known = groups.iter().position(|known| known == group);
        let kind = known.unwrap_or_else(|| {
            groups.push(group);
            groups.len() - 1
        });
        if let (Some(x), Some(y)) = (x.median, y.median) {
            spots.push(ScatterSpot {
                name: contestant.name.clone(),
                at: (x, y),
                kind,
                is_marked: false,
            });
        }
    }
    spots
}
