use super::*;
use crate::example;
use crate::rows;

fn versus(rows: &mut [Row]) -> &mut Versus {
    rows[1].versus.as_mut().expect("the second row is compared")
}

#[test]
fn the_answer_says_by_how_much_and_how_sure() {
    let mut rows = rows::rows(&example::study(&["plain", "ordered"], 10));
    let interval = Interval {
        low: 0.501,
        high: 0.602,
    };
    let cold = Ratio {
        value: 0.55,
        interval,
        verdict: Verdict::Faster,
        turns: 10,
    };
    versus(&mut rows).cold = Some(cold);
    let before = seconds(rows[0].cold_s.expect("times").median);
    let after = seconds(rows[1].cold_s.expect("times").median);
    let expected = format!(
        "ordered starts cold in {after} instead of {before}: 0.550 of the time of plain \
         (95 % interval 0.501 to 0.602), faster."
    );
    assert_eq!(answers(&rows), [expected]);
    let others = [
        (
            Verdict::Slower,
            10,
            ": 0.550 times as long as plain (95 % interval 0.501 to 0.602), slower.",
        ),
        (
            Verdict::NoDifferenceShown,
            10,
            ", ratio 0.550 (95 % interval 0.501 to 0.602).",
        ),
        (Verdict::NoDifferenceShown, 5, ", ratio 0.550."),
    ];
    for (verdict, turns, end) in others {
        versus(&mut rows).cold = Some(Ratio {
            verdict,
            turns,
            ..cold
        });
        let answer = &answers(&rows)[0];
        assert!(answer.ends_with(end), "{answer}");
        // What it is worth comes before the figures.
        let warned = "5 turns are too few for a verdict on the cold starts of ordered and plain \
                      (6 are needed): ";
        assert_eq!(answer.starts_with(warned), turns < 6, "{answer}");
    }
    versus(&mut rows).cold = None;
    assert_eq!(
        answers(&rows),
        ["ordered and plain have no counted run in the same turn."]
    );
    assert!(answers(&rows[..1])[0].starts_with("plain starts cold in "));
}

#[test]
fn losses_are_named_and_noise_is_not() {
    let mut rows = rows::rows(&example::study(&["plain", "ordered"], 10));
    let interval = Interval {
        low: 1.05,
        high: 1.2,
    };
    *versus(&mut rows) = Versus {
        cold: None,
        warm: Some(Ratio {
            value: 1.1,
            interval,
            verdict: Verdict::Slower,
            turns: 10,
        }),
        size: Some(1.031),
        reads: Some(1.019),
        read_bytes: Some(1.5),
        page_cache: Some(0.5),
    };
    let expected = [
        "takes 1.10 times as long to start warm (95 % interval 1.05 to 1.20)",
        "is 3.1 % larger",
        "reads 50.0 % more bytes",
    ];
    assert_eq!(rows[1].losses(), expected);
    assert!(rows[0].losses().is_empty());
}

#[test]
fn every_row_has_a_cell_for_each_column() {
    let rows = rows::rows(&example::study(&["plain", "ordered"], 10));
    let cells = rows[0].cells();
    assert_eq!(
        (cells[0].value.as_str(), cells[0].detail.as_str()),
        ("plain", "10 runs")
    );
    // The baseline is not compared with itself.
    assert_eq!(
        cells[7],
        Cell {
            value: "-".into(),
            ..Cell::default()
        }
    );
    let [_, size, .., cold_ratio, _] = rows[1].cells();
    assert_eq!(size.change, "+3.1 %");
    assert_eq!(cold_ratio.verdict, "faster");
}

#[test]
fn runs_that_do_not_count_are_told_by_contestant_and_reason() {
    let mut study = example::study(&["plain", "ordered"], 10);
    assert!(exclusions(&study).is_empty());
    for (run, reason) in [
        (2, "the command exceeded its time limit"),
        (4, "3 pages of the image stayed in the page cache"),
        (5, "the command exceeded its time limit"),
        (6, "the command exceeded its time limit"),
    ] {
        study.runs[run].excluded = Some(reason.to_owned());
    }
    let expected = [
        "1 run of plain does not count: 3 pages of the image stayed in the page cache.",
        "2 runs of plain do not count: the command exceeded its time limit.",
        "1 run of ordered does not count: the command exceeded its time limit.",
    ];
    assert_eq!(exclusions(&study), expected);
}

#[test]
fn what_programs_take_is_named_where_it_is_half_of_a_start() {
    let rows = rows::rows(&example::study(&["a", "b", "c", "d"], 10));
    let floors = floors(&rows);
    let names: Vec<_> = floors.iter().map(|text| &text[..2]).collect();
    assert_eq!(names, ["d:"], "{floors:?}");
    assert!(floors[0].contains(" of ") && floors[0].ends_with("no image shortens it."));
}
