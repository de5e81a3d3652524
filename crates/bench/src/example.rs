//! Made-up comparisons for tests.

use coldpress_history::{Contestant, Facts, Figures, Kind, Origin, State, Study};

use crate::run::{Coldness, Run};
use crate::study::take_in;

/// A comparison in which each contestant starts cold in 0.6 of the time of the one before it, and
/// each image is 10 MB larger than the one before it.
pub(crate) fn study(names: &[&str], turns: u32) -> Study {
    let contestants = (0_u32..).zip(names).map(|(index, name)| Contestant {
        name: (*name).to_owned(),
        facts: Facts::new(),
        figures: Figures::from([("size_bytes".to_owned(), 326e6 + f64::from(index) * 10e6)]),
    });
    let facts = [
        ("command", "{root}/usr/bin/python3 -c 'import json'"),
        (
            "device",
            "usb2: 25.0 MB/s, 400 reads/s; the image as a partition",
        ),
        ("kernel", "6.18.0"),
    ];
    let facts = facts.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let mut study = Study {
        kind: Kind::Press,
        title: String::new(),
        began_unix_ms: 1_780_000_000_000,
        origin: Origin::Measured,
        state: State::Running,
        facts: facts.into(),
        contestants: contestants.collect(),
        runs: Vec::new(),
    };
    take_in(&mut study, &runs(names.len(), turns), State::Done);
    study
}

/// The runs of such a comparison.
pub(crate) fn runs(contestants: usize, turns: u32) -> Vec<Run> {
    let run = |contestant: usize, turn: u32| {
        let place = u32::try_from(contestant).expect("few contestants");
        let factor = 0.6_f64.powi(i32::try_from(contestant).expect("few contestants"));
        // Not random, but scattered: two contestants never have the same disturbance.
        let disturbance = f64::from((turn * 37 + place * 11) % 23) / 100.0;
        let start_s = 2.4 * factor * (1.0 + disturbance);
        Run {
            contestant,
            turn,
            cold_s: Some(start_s),
            warm_s: Some(0.45 * (1.0 + disturbance / 2.0)),
            cpu_s: Some(start_s * 0.3),
            reads: Some(u64::from(3330 / (place + 1) + turn)),
            read_bytes: Some(144_000_000_u64.saturating_sub(u64::from(place) * 20_000_000)),
            walk_s: None,
            walk_digest: None,
            mount_reads: Some(12),
            mount_read_bytes: Some(98_304),
            page_cache_bytes: (turn == 0).then_some(390_000_000 + u64::from(place) * 30_000_000),
            readahead_bytes: Some(512 << 10),
            coldness: Coldness {
                image_resident_pages: 0,
                attempts: 1,
                fresh_superblock: Some(true),
            },
            excluded: None,
        }
    };
    (0..turns)
        .flat_map(|turn| (0..contestants).map(move |contestant| (contestant, turn)))
        .map(|(contestant, turn)| run(contestant, turn))
        .collect()
}
