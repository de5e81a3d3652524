//! What a choice was made for.

use coldpress_report::text::escaped_path;
use coldpress_report::units::{bytes, seconds};
use coldpress_tune::Goal;

use super::Advice;

/// Names and values.
pub(super) fn facts(advice: &Advice) -> Vec<(&'static str, String)> {
    let conditions = advice.conditions;
    let limits = &conditions.limits;
    let mut facts = vec![
        ("source", escaped_path(&advice.args.source)),
        ("for", advice.start_text()),
        ("device", conditions.population.name.clone()),
        ("speeds", speeds(advice)),
    ];
    if advice.args.goal.goal() == Goal::LargestLoss {
        facts.push(("goal", "the least of the largest losses".to_owned()));
    }
    if let [_, _, ..] = advice.readaheads {
        let readaheads = advice.readaheads.iter();
        let readaheads: Vec<String> = readaheads.map(ToString::to_string).collect();
        facts.push((
            "readahead",
            format!("the best of {}", readaheads.join(", ")),
        ));
    }
    let limits = [
        limits
            .size_bytes
            .map(|size| format!("{} in size", bytes(size))),
        limits
            .build_s
            .map(|time_s| format!("{} to build", seconds(time_s))),
        limits
            .memory_bytes
            .map(|size| format!("{} to build with", bytes(size))),
        limits
            .page_cache_bytes
            .map(|size| format!("{} of page cache", bytes(size))),
    ];
    let limits: Vec<String> = limits.into_iter().flatten().collect();
    if !limits.is_empty() {
        facts.push(("at most", limits.join(", ")));
    }
    let unread = &conditions.unread;
    if !unread.is_empty() {
        let unread: Vec<String> = unread
            .iter()
            .map(|(compressor, reader)| format!("{compressor} ({reader})"))
            .collect();
        facts.push(("not read", unread.join(", ")));
    }
    facts
}

fn speeds(advice: &Advice) -> String {
    let text = if advice.conditions.population.main().is_calibrated {
        "measured on this machine"
    } else {
        "defaults; `coldpress calibrate` measures this machine's"
    };
    text.to_owned()
}
