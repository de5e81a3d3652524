use coldpress_history::{Facts, Figures, Kind, Origin, Run, State};

use super::*;

fn contestant(name: &str, tool: &str, unpacker: Option<&str>) -> Contestant {
    let mut facts = Facts::from([("tool".to_owned(), tool.to_owned())]);
    facts.extend(unpacker.map(|name| ("unpacker".to_owned(), name.to_owned())));
    Contestant {
        name: name.to_owned(),
        facts,
        figures: Figures::new(),
    }
}

fn run(contestant: usize, figures: &[(&str, f64)]) -> Run {
    Run {
        contestant,
        turn: 0,
        excluded: figures.is_empty().then(|| "it failed".to_owned()),
        figures: figures
            .iter()
            .map(|(name, value)| ((*name).to_owned(), *value))
            .collect(),
    }
}

fn study(contestants: Vec<Contestant>, runs: Vec<Run>) -> Study {
    Study {
        kind: Kind::Build,
        title: String::new(),
        began_unix_ms: 0,
        origin: Origin::Measured,
        state: State::Done,
        facts: Facts::new(),
        contestants,
        runs,
    }
}

#[test]
fn a_row_has_medians_and_the_fastest_way_to_unpack_its_image() {
    let contestants = vec![
        contestant("a", "a", None),
        contestant("b", "b", None),
        contestant("c", "c", None),
        contestant("u of a", "a", Some("u")),
        contestant("v of a", "a", Some("v")),
        contestant("u of b", "b", Some("u")),
    ];
    let runs = vec![
        run(0, &[("build_s", 1.0), ("size_bytes", 10.0)]),
        run(0, &[("build_s", 3.0), ("size_bytes", 10.0)]),
        run(1, &[("build_s", 3.0), ("size_bytes", 10.0)]),
        run(2, &[]),
        run(3, &[("unpack_s", 5.0)]),
        run(4, &[("unpack_s", 4.0)]),
        run(5, &[("unpack_s", 4.5)]),
    ];
    let study = study(contestants, runs);
    let rows = build_rows(&study);
    let summary: Vec<_> = rows
        .iter()
        .map(|row| {
            let build_s = row.build_s.map(|summary| summary.median);
            (
                build_s,
                row.unpack_s,
                row.counted,
                row.excluded,
                row.is_on_front,
            )
        })
        .collect();
    assert_eq!(
        summary,
        [
            (Some(2.0), Some(4.0), 2, 0, true),
            (Some(3.0), Some(4.5), 1, 0, false),
            (None, None, 0, 1, false),
        ]
    );
    let unpacks: Vec<_> = unpack_rows(&study)
        .into_iter()
        .map(|row| row.name)
        .collect();
    assert_eq!(unpacks, ["u of a", "v of a", "u of b"]);
}

#[test]
fn without_unpacking_time_and_size_make_the_front() {
    let contestants = ["fast", "small", "neither"].map(|name| contestant(name, name, None));
    let runs = [(1.0, 9.0), (9.0, 1.0), (9.0, 9.0)];
    let runs = runs
        .iter()
        .enumerate()
        .map(|(index, (build_s, size_bytes))| {
            run(index, &[("build_s", *build_s), ("size_bytes", *size_bytes)])
        });
    let rows = build_rows(&study(contestants.to_vec(), runs.collect()));
    let front: Vec<_> = rows.iter().map(|row| row.is_on_front).collect();
    assert_eq!(front, [true, true, false]);
}
