use coldpress_history::{Contestant, Facts, Figures, Kind, Origin, Run, State, Study};
use coldpress_report::Table;

use super::*;
use crate::example;
use crate::run::{Excluded, Exit};
use crate::study::take_in;

const HOSTILE: &str = "</script><script>alert(1)</script><!--\"'&\u{1b}[0m ";

fn write(report: &Report) -> String {
    let mut out = Vec::new();
    report_html(report, &mut out).expect("memory takes all");
    String::from_utf8(out).expect("HTML is UTF-8")
}

fn report(names: &[&str], turns: u32) -> Report {
    let mut runs = example::runs(names.len(), turns);
    let last = runs.len() - 1;
    runs[last].excluded = Some(Excluded::Failed {
        exit: Exit::Code(3),
    });
    runs[last - 1].excluded = Some(Excluded::StartedWarm { pages: 81 });
    let mut study = example::study(names, turns);
    take_in(&mut study, &runs, State::Done);
    study.title = "Cold start of python3".to_owned();
    Report {
        title: study.title.clone(),
        studies: vec![study],
        notes: vec![("mksquashfs".to_owned(), "4.5.1".to_owned())],
        ..Report::default()
    }
}

fn figures(of: &[(&str, f64)]) -> Figures {
    of.iter()
        .map(|(name, value)| ((*name).to_owned(), *value))
        .collect()
}

/// A contestant, its compressor, and the figures of its run.
type OneRun<'a> = (&'a str, &'a str, &'a [(&'a str, f64)]);

/// A study of one run of each contestant.
fn single(kind: Kind, citation: Option<&str>, of: &[OneRun]) -> Study {
    Study {
        kind,
        title: "a study".to_owned(),
        began_unix_ms: 0,
        origin: citation.map_or(Origin::Measured, |citation| Origin::Published {
            citation: citation.to_owned(),
        }),
        state: State::Done,
        facts: Facts::new(),
        contestants: of
            .iter()
            .map(|(name, compressor, _)| Contestant {
                name: (*name).to_owned(),
                facts: [("compressor".to_owned(), (*compressor).to_owned())].into(),
                figures: Figures::new(),
            })
            .collect(),
        runs: of
            .iter()
            .enumerate()
            .map(|(contestant, (_, _, of))| Run {
                contestant,
                turn: 0,
                excluded: None,
                figures: figures(of),
            })
            .collect(),
    }
}

/// The page without its scripts.
fn body(html: &str) -> &str {
    html.split_once("<script").expect("there is a script").0
}

/// Every element is closed in the right order, and every `<` begins one.
fn is_well_formed(html: &str) -> bool {
    let Some((_, body)) = body(html).split_once("</style>") else {
        return false;
    };
    let mut open = vec!["html", "head"];
    for tag in body.split('<').skip(1) {
        let Some((tag, _)) = tag.split_once('>') else {
            return false;
        };
        let name = tag.split_whitespace().next().unwrap_or("");
        if let Some(closed) = name.strip_prefix('/') {
            if open.pop() != Some(closed) {
                return false;
            }
        } else if !tag.ends_with('/') {
            open.push(name);
        }
    }
    open == ["html", "body"]
}

fn headings(html: &str) -> Vec<&str> {
    let tags = ["h2>", "h3>", "figcaption>"];
    let is_heading = |part: &&str| tags.iter().any(|tag| part.starts_with(tag));
    html.split('<').filter(is_heading).collect()
}

#[test]
fn the_page_of_a_launch_study_is_one_well_formed_file() {
    let html = write(&report(&["plain", "ordered", "xz"], 10));
    assert!(is_well_formed(&html));
    assert!(html.len() < 5_000_000, "{} bytes", html.len());
    let expected = [
        "h2>Cold start of python3",
        "h3>Results",
        "h3>What got worse",
        "figcaption>Cold starts",
        "figcaption>Warm starts",
        "figcaption>Image size",
        "figcaption>Reads",
        "figcaption>Bytes read",
        "figcaption>Page cache after both starts",
        "h3>Excluded runs and outliers",
        "h3>Conditions",
        "h3>Samples",
        "h2>Facts",
        "h2>Method",
    ];
    assert_eq!(headings(body(&html)), expected);
    for outside in [
        "<link", "<img", " src=", "@import", "url(", "https://", "<base",
    ] {
        assert!(!html.contains(outside), "{outside}");
    }
    assert_eq!(html.matches("<script").count(), 2);
}

#[test]
fn the_well_formedness_check_sees_damage() {
    let html = write(&report(&["plain", "ordered"], 6));
    assert!(!is_well_formed(&html.replacen("</section>", "", 1)));
    assert!(!is_well_formed(&html.replacen("<ul>", "", 1)));
}

#[test]
fn the_answer_the_losses_and_the_excluded_runs_are_told() {
    let html = write(&report(&["plain", "ordered"], 10));
    let told = [
        "class=\"answer faster\">ordered starts cold in 1.",
        "ordered is 3.1 % larger and occupies 7.7 % more of the page cache.",
        "Turn 10, ordered (cold start ",
        ": the command failed (exit code 3).",
        ": 81 pages of the image stayed in the page cache.",
        "of 18 counted runs, 18 began without a page",
        "usb2: 25.0 MB/s, 400 reads/s",
        "<small class=\"good\">faster</small>",
    ];
    for told in told {
        assert!(html.contains(told), "{told}");
    }
    let without = write(&Report {
        studies: vec![example::study(&["plain", "ordered"], 10)],
        ..Report::default()
    });
    assert!(without.contains("No run is excluded: all 20 runs count."));
}

#[test]
fn whatever_comes_from_outside_is_escaped() {
    let mut hostile = report(&[HOSTILE, "ordered"], 6);
    let study = &mut hostile.studies[0];
    study.title = HOSTILE.to_owned();
    study.facts.insert(HOSTILE.to_owned(), HOSTILE.to_owned());
    study.facts.insert("command".to_owned(), HOSTILE.to_owned());
    study.contestants[1]
        .facts
        .insert(HOSTILE.to_owned(), HOSTILE.to_owned());
    study.runs[0].figures.insert(HOSTILE.to_owned(), 1.0);
    study.runs[1].excluded = Some(HOSTILE.to_owned());
    let published = Study {
        origin: Origin::Published {
            citation: HOSTILE.to_owned(),
        },
        ..study.clone()
    };
    hostile.studies.push(published);
    hostile.title = HOSTILE.to_owned();
    hostile.notes = vec![(HOSTILE.to_owned(), HOSTILE.to_owned())];
    hostile.changes = vec![Waterfall {
        title: HOSTILE.to_owned(),
        spans: vec![TaskSpan {
            label: HOSTILE.to_owned(),
            ..TaskSpan::default()
        }],
    }];
    let html = write(&hostile);
    assert!(is_well_formed(&html));
    assert_eq!(html.matches("<script").count(), 2);
    assert_eq!(html.matches("</script").count(), 2);
    assert!(!html.contains('\u{1b}') && !html.contains("<!--"));
    assert!(html.contains("&lt;/script&gt;"));
}

#[test]
fn one_contestant_and_no_counted_run_still_give_a_report() {
    let mut alone = report(&["plain"], 3);
    assert!(write(&alone).contains("plain starts cold in "));
    for run in &mut alone.studies[0].runs {
        run.excluded = Some("it was slow".to_owned());
    }
    let html = write(&alone);
    assert!(is_well_formed(&html));
    assert!(html.contains("plain: no run counts."));
    assert!(html.contains("not measured"));
    assert!(is_well_formed(&write(&Report::default())));
}

#[test]
fn figures_that_no_program_measures_are_drawn_somehow() {
    let values = [
        0.0,
        -1.0,
        1e300,
        -1e300,
        f64::MIN_POSITIVE,
        f64::NAN,
        f64::INFINITY,
    ];
    for kind in [Kind::Launch, Kind::Build, Kind::Boot] {
        for value in values {
            let of: &[(&str, f64)] = &[
                ("cold_s", value),
                ("build_s", value),
                ("boot_s", value),
                ("predicted_s", value),
                ("size_bytes", value),
                ("reads", value),
            ];
            let mut study = single(
                kind,
                None,
                &[("a", "xz", of), ("b", "xz", of), ("c", "xz", &[])],
            );
            study.runs.push(Run {
                contestant: 9,
                turn: u32::MAX,
                ..study.runs[0].clone()
            });
            study.runs.push(study.runs[0].clone());
            let studies = vec![study];
            assert!(is_well_formed(&write(&Report {
                studies,
                ..Report::default()
            })));
        }
    }
}

#[test]
fn published_studies_stand_beside_ours_and_have_no_verdict() {
    let ours = single(
        Kind::Launch,
        None,
        &[
            ("none-128K", "none", &[("cold_s", 1.0)]),
            ("xz-128K", "xz", &[("cold_s", 4.0)]),
        ],
    );
    let theirs = single(
        Kind::Launch,
        Some("I. Johnson, a blog"),
        &[
            ("chromium, none", "none", &[("cold_s", 2.138)]),
            ("chromium, xz", "xz", &[("cold_s", 5.659)]),
        ],
    );
    let html = write(&Report {
        studies: vec![ours, theirs],
        ..Report::default()
    });
    assert!(html.contains("as they were published: I. Johnson, a blog."));
    assert!(html.contains("<td>5.66 s, ratio 2.65</td><td>xz-128K: 4.00 s, ratio 4.00</td>"));
    let published = html
        .split_once("id=\"study-1\"")
        .expect("the second study")
        .1;
    let published = published.split_once("</section>").expect("its end").0;
    assert!(!published.contains("class=\"answer"), "{published}");
}

#[test]
fn sections_of_others_are_shown_and_escaped() {
    let table = Table {
        columns: vec![HOSTILE.to_owned()],
        rows: vec![vec![HOSTILE.to_owned()]],
    };
    let chart = Timeline {
        title: HOSTILE.to_owned(),
        axes: [HOSTILE.to_owned(), HOSTILE.to_owned()],
        kinds: vec![HOSTILE.to_owned()],
        spots: vec![TimelineSpot {
            at: (1.0, 2.0),
            kind: 0,
            tip: HOSTILE.to_owned(),
        }],
    };
    let heat_map = HeatMap {
        title: HOSTILE.to_owned(),
        axes: chart.axes.clone(),
        ends: (1.0, 1.0),
        counted: HOSTILE.to_owned(),
        rows: vec![vec![1]],
    };
    let html = write(&Report {
        title: HOSTILE.to_owned(),
        sections: vec![Section {
            title: HOSTILE.to_owned(),
            exhibits: vec![
                Exhibit::Heading(HOSTILE.to_owned()),
                Exhibit::Text(HOSTILE.to_owned()),
                Exhibit::Hint(HOSTILE.to_owned()),
                Exhibit::Facts(vec![(HOSTILE.to_owned(), HOSTILE.to_owned())]),
                Exhibit::Table(table),
                Exhibit::Timeline(chart),
                Exhibit::HeatMap(heat_map),
            ],
        }],
        ..Report::default()
    });
    assert!(is_well_formed(&html));
    assert!(!body(&html).contains("<script>alert"));
    assert!(html.contains("id=\"section-0\""));
    assert_eq!(body(&html).matches("<figure>").count(), 2);
    // Intervals belong to studies.
    assert!(!html.contains("id=\"method\""));
}

#[test]
fn boots_are_told_as_seconds_and_percent_saved() {
    let study = single(
        Kind::Boot,
        Some("Tails"),
        &[
            ("X201, xz", "xz", &[("boot_s", 102.0)]),
            ("X201, zstd 22", "zstd", &[("boot_s", 75.0)]),
        ],
    );
    let html = write(&Report {
        studies: vec![study],
        ..Report::default()
    });
    let row = "<td>X201, xz</td><td>X201, zstd 22</td><td>102 s</td><td>75.0 s</td><td>27.0 s</td><td>26 %</td>";
    assert!(html.contains(row));
}

#[test]
fn builds_show_their_front_and_predictions_what_came_of_them() {
    let mut study = single(
        Kind::Build,
        None,
        &[
            (
                "fast",
                "zstd",
                &[("build_s", 18.4), ("size_percent", 54.0), ("unpack_s", 2.0)],
            ),
            (
                "small",
                "zstd",
                &[
                    ("build_s", 274.9),
                    ("size_percent", 49.4),
                    ("cold_s", 2.0),
                    ("predicted_s", 1.9),
                ],
            ),
            (
                "worse",
                "lz4",
                &[
                    ("build_s", 280.0),
                    ("size_percent", 60.0),
                    ("unpack_s", 1.0),
                ],
            ),
        ],
    );
    let mut sizes = FileSizes::default();
    sizes.add(4096);
    study
        .facts
        .insert(FileSizes::FACT.to_owned(), sizes.to_fact());
    let html = write(&Report {
        studies: vec![study],
        ..Report::default()
    });
    let told = [
        "in both: fast (18.4 s, 54.0 %); small (275 s, 49.4 %).",
        "in both: worse (1.00 s, 60.0 %); fast (2.00 s, 54.0 %).",
        "<figcaption>Predicted and measured",
        "up to 4 KiB: 100.0 % of the files, 100.0 % of the bytes",
    ];
    for told in told {
        assert!(html.contains(told), "{told}");
    }
}

#[test]
fn a_page_of_a_hundred_contestants_with_a_hundred_runs_has_less_than_5_mb() {
    let names: Vec<String> = (0..100)
        .map(|index| format!("zstd-{index}-of-a-name-of-some-length"))
        .collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut many = example::study(&names, 100);
    for (run, index) in many.runs.iter_mut().zip(0_u32..) {
        // As many digits as a clock has.
        for (figure, least_s, prime) in [("cold_s", 1.0, 977), ("warm_s", 0.5, 971)] {
            let took_s = least_s + f64::from(index % prime) / f64::from(prime);
            run.figures.insert(figure.to_owned(), took_s);
        }
    }
    // Published, since intervals are not what is tested.
    let study = Study {
        origin: Origin::Published {
            citation: "nobody".to_owned(),
        },
        ..many
    };
    let html = write(&Report {
        studies: vec![study],
        ..Report::default()
    });
    assert!(html.len() < 5_000_000, "{} bytes", html.len());
    let rows = html.matches("<tr><th>").count();
    assert!(rows >= 10_000, "{rows} rows");
}
