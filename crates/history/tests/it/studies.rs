//! Studies to be kept.

use coldpress_history::{Contestant, Figures, Kind, Origin, Run, State, Study};

/// A run whose figure is told by its turn.
pub(crate) fn run(contestant: usize, turn: u32) -> Run {
    Run {
        contestant,
        turn,
        excluded: (turn == 1).then(|| "the command failed, \"badly\"".to_owned()),
        figures: Figures::from([
            ("cold_s".to_owned(), 0.1 + f64::from(turn) / 3.0),
            ("reads".to_owned(), f64::from(turn)),
        ]),
    }
}

/// Two contestants with names that files may stumble over, and some turns of each.
pub(crate) fn study(title: &str, turns: u32) -> Study {
    let contestant = |name: &str, size_bytes| Contestant {
        name: name.to_owned(),
        facts: [("compressor".to_owned(), "zstd".to_owned())].into(),
        figures: Figures::from([("size_bytes".to_owned(), size_bytes)]),
    };
    let runs = (0..turns).flat_map(|turn| [run(0, turn), run(1, turn)]);
    Study {
        kind: Kind::Launch,
        title: title.to_owned(),
        began_unix_ms: 1_700_000_000_123,
        origin: Origin::Measured,
        state: State::Running,
        facts: [("kernel".to_owned(), "6.18".to_owned())].into(),
        contestants: vec![
            contestant("a, \"b\"\nc", 1e15 / 3.0),
            contestant("na\u{ef}ve", 5.0),
        ],
        runs: runs.collect(),
    }
}
