use coldpress_format::Compressor::{Gzip, Lz4, Xz, Zstd};

use super::*;
use crate::candidate::tests::candidate;
use crate::outcome::tests::outcome;

fn row(candidate: Candidate, outcome: Outcome) -> Row {
    Row {
        tool: None,
        candidate,
        outcome,
    }
}

/// A default of today and five compromises, of which the third is the fastest.
fn rows() -> Vec<Row> {
    vec![
        Row {
            tool: Some("mksquashfs"),
            ..row(candidate(Gzip, 9, 128 << 10), outcome(0.1, 1, 0.1, 1, 1))
        },
        row(candidate(Xz, 6, 1 << 20), outcome(4.0, 700, 60.0, 300, 800)),
        row(
            candidate(Zstd, 22, 1 << 20),
            outcome(1.2, 800, 90.0, 300, 800),
        ),
        row(
            candidate(Lz4, 12, 128 << 10),
            outcome(0.9, 1300, 10.0, 100, 200),
        ),
        row(
            candidate(Zstd, 3, 128 << 10),
            outcome(0.91, 904, 5.0, 100, 200),
        ),
        row(
            candidate(Zstd, 15, 128 << 10),
            outcome(0.92, 900, 30.0, 100, 200),
        ),
    ]
}

#[test]
fn the_soonest_wins_and_of_equals_the_smallest_and_then_the_first() {
    let no_limits = Limits::default();
    let cases = [
        ("no limit", no_limits, 4),
        (
            "just as small",
            Limits {
                size_bytes: Some(902),
                ..no_limits
            },
            5,
        ),
        (
            "smaller",
            Limits {
                size_bytes: Some(850),
                ..no_limits
            },
            2,
        ),
        (
            "smallest",
            Limits {
                size_bytes: Some(700),
                ..no_limits
            },
            1,
        ),
        (
            "soon",
            Limits {
                build_s: Some(5.0),
                ..no_limits
            },
            4,
        ),
        (
            "soon and small",
            Limits {
                build_s: Some(60.0),
                size_bytes: Some(899),
                ..no_limits
            },
            1,
        ),
    ];
    for (what, limits, expected) in cases {
        assert_eq!(
            recommend(&rows(), &limits, Goal::ExpectedStart),
            Ok(expected),
            "{what}"
        );
    }
}

#[test]
fn the_limit_that_none_keeps_is_told() {
    let no_limits = Limits::default();
    let cases = [
        (
            Limits {
                size_bytes: Some(699),
                ..no_limits
            },
            Unmet::Size(700),
        ),
        (
            Limits {
                build_s: Some(1.0),
                ..no_limits
            },
            Unmet::Build(5.0),
        ),
        (
            Limits {
                memory_bytes: Some(9),
                ..no_limits
            },
            Unmet::Memory(100),
        ),
        (
            Limits {
                page_cache_bytes: Some(9),
                ..no_limits
            },
            Unmet::PageCache(200),
        ),
        (
            Limits {
                size_bytes: Some(700),
                build_s: Some(5.0),
                ..no_limits
            },
            Unmet::Together,
        ),
    ];
    for (limits, expected) in cases {
        assert_eq!(
            recommend(&rows(), &limits, Goal::ExpectedStart),
            Err(expected),
            "{limits:?}"
        );
    }
    let of_tools = &rows()[..1];
    assert_eq!(
        recommend(of_tools, &no_limits, Goal::ExpectedStart),
        Err(Unmet::Nothing)
    );
    assert_eq!(
        recommend(&[], &no_limits, Goal::ExpectedStart),
        Err(Unmet::Nothing)
    );
}

#[test]
fn a_choice_stands_beside_the_next_best() {
    let rivals = Rivals::of(4, &rows(), &Limits::default(), Goal::ExpectedStart);
    let expected = Rivals {
        other_compressor: Some(3),
        other_block_size: Some(2),
        today: Some(0),
    };
    assert_eq!(rivals, expected);
    let none = Rivals {
        other_compressor: None,
        other_block_size: None,
        today: None,
    };
    assert_eq!(
        Rivals::of(0, &rows()[3..4], &Limits::default(), Goal::ExpectedStart),
        none
    );
    assert_eq!(
        Rivals::of(9, &rows(), &Limits::default(), Goal::ExpectedStart),
        none
    );
}

#[test]
fn the_largest_loss_is_made_small_where_that_is_the_goal() {
    // On a slow device and a fast one: the first is best on the slow one, the second on the fast
    // one, the third loses a tenth on each. Starts on the slow device are half of all.
    let starts = [(2.0, 1.0), (5.0, 0.2), (2.2, 0.22)];
    let rows: Vec<Row> = starts
        .into_iter()
        .zip([16 << 10, 128 << 10, 1 << 20])
        .map(|((slow_s, fast_s), block_bytes)| {
            let mean_s = f64::midpoint(slow_s, fast_s);
            let outcome = Outcome {
                device_starts_s: vec![slow_s, fast_s],
                ..outcome(mean_s, 900, 30.0, 100, 200)
            };
            row(candidate(Zstd, 15, block_bytes), outcome)
        })
        .collect();
    let no_limits = Limits::default();
    let soonest_s = soonest_starts_s(&rows, &no_limits);
    assert_eq!(soonest_s, vec![2.0, 0.2]);
    let losses: Vec<String> = rows
        .iter()
        .map(|row| format!("{:.2}", row.outcome.largest_loss(&soonest_s)))
        .collect();
    assert_eq!(losses, ["5.00", "2.50", "1.10"]);
    assert_eq!(recommend(&rows, &no_limits, Goal::LargestLoss), Ok(2));
    assert_eq!(recommend(&rows, &no_limits, Goal::ExpectedStart), Ok(2));
    // Without the compromise, the mean prefers the slow device and the loss the fast one.
    let rows = &rows[..2];
    assert_eq!(recommend(rows, &no_limits, Goal::ExpectedStart), Ok(0));
    assert_eq!(recommend(rows, &no_limits, Goal::LargestLoss), Ok(1));
}
