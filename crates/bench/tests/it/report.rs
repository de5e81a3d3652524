//! The report in a browser: pointed at, clicked, saved, printed.

use std::fs;
use std::path::{Path, PathBuf};

use coldpress_bench::{
    Exhibit, FileSizes, HeatMap, Report, Section, TaskSpan, Timeline, TimelineSpot, Waterfall,
    report_html,
};
use coldpress_history::{Contestant, Facts, Figures, Kind, Origin, Run, State, Study};
use coldpress_report::Table;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::browser::Browser;
use crate::require;

const NAMES: [&str; 3] = ["plain", "ordered, \"quoted\"", "</script><b>bold"];

/// Three contestants, one of them hostile, in seven turns.
fn launch() -> Study {
    let run = |contestant: usize, turn: u32| {
        let start_s = [2.0, 1.25, 3.5][contestant] + f64::from(turn * 5 % 7) / 50.0;
        Run {
            contestant,
            turn,
            excluded: (contestant == 2 && turn == 3).then(|| "it failed,\nbadly".to_owned()),
            figures: Figures::from([
                ("cold_s".to_owned(), start_s),
                ("warm_s".to_owned(), start_s / 4.0),
                ("reads".to_owned(), 3330.0 - f64::from(turn)),
            ]),
        }
    };
    let contestant = |name: &str, size_bytes: f64| Contestant {
        name: name.to_owned(),
        facts: Facts::new(),
        figures: Figures::from([
            ("size_bytes".to_owned(), size_bytes),
            ("build_s".to_owned(), 1e9 / size_bytes),
        ]),
    };
    let mut sizes = FileSizes::default();
    for size_bytes in [10, 300, 4096, 70_000, 1_000_000] {
        sizes.add(size_bytes);
    }
    Study {
        kind: Kind::Launch,
        title: "Starts of a program".to_owned(),
        began_unix_ms: 1_780_000_000_000,
        origin: Origin::Measured,
        state: State::Done,
        facts: [
            ("command".to_owned(), "program --version".to_owned()),
            (FileSizes::FACT.to_owned(), sizes.to_fact()),
        ]
        .into(),
        contestants: NAMES
            .iter()
            .zip([3e8, 3.1e8, 2.8e8])
            .map(|(name, size)| contestant(name, size))
            .collect(),
        runs: (0..7)
            .flat_map(|turn| (0..3).map(move |contestant| run(contestant, turn)))
            .collect(),
    }
}

/// A section of somebody else's.
fn reads() -> Section {
    let spot = |time: u32| TimelineSpot {
        at: (f64::from(time), f64::from(time * 7 % 40)),
        kind: usize::from(time.is_multiple_of(3)),
        tip: format!("</title>{time}"),
    };
    let axes = || ["ms".to_owned(), "MiB".to_owned()];
    Section {
        title: "Reads".to_owned(),
        exhibits: vec![
            Exhibit::Timeline(Timeline {
                title: "Position of each read".to_owned(),
                axes: axes(),
                kinds: vec!["data".to_owned(), "<metadata>".to_owned()],
                spots: (1..50).map(spot).collect(),
            }),
            Exhibit::HeatMap(HeatMap {
                title: "Reads of each part".to_owned(),
                axes: axes(),
                ends: (50.0, 40.0),
                counted: "reads".to_owned(),
                rows: vec![vec![1, 0, 300], vec![0, 17, 2]],
            }),
            Exhibit::Table(Table {
                columns: vec!["file".to_owned(), "read".to_owned()],
                rows: vec![vec!["/a/very/long/path".repeat(20), "1 MiB".to_owned()]],
            }),
        ],
    }
}

fn page(directory: &TempDir) -> PathBuf {
    let span = |label: &str, depth, began_s, duration_s| TaskSpan {
        label: label.to_owned(),
        depth,
        began_s,
        duration_s,
    };
    let report = Report {
        title: "Cold starts".to_owned(),
        studies: vec![launch()],
        sections: vec![reads()],
        changes: vec![Waterfall {
            title: "build".to_owned(),
            spans: vec![
                span("gather", 0, 0.0, 0.5),
                span("compress", 0, 0.5, 2.0),
                span("hash", 1, 0.6, 0.7),
            ],
        }],
        notes: Vec::new(),
    };
    let path = directory.path().join("report.html");
    let mut html = Vec::new();
    report_html(&report, &mut html).expect("memory takes all");
    fs::write(&path, html).expect("a new file");
    path
}

/// The records of a CSV file by RFC 4180.
fn records(csv: &str) -> Vec<Vec<String>> {
    let (mut records, mut record, mut cell, mut is_quoted) =
        (Vec::new(), Vec::new(), String::new(), false);
    let mut characters = csv.chars().peekable();
    while let Some(character) = characters.next() {
        match (is_quoted, character) {
            (true, '"') if characters.peek() == Some(&'"') => {
                characters.next();
                cell.push('"');
            }
            (_, '"') => is_quoted = !is_quoted,
            (false, ',') => record.push(std::mem::take(&mut cell)),
            (false, '\r') => {}
            (false, '\n') => {
                record.push(std::mem::take(&mut cell));
                records.push(std::mem::take(&mut record));
            }
            (_, other) => cell.push(other),
        }
    }
    assert!(
        cell.is_empty() && record.is_empty() && !is_quoted,
        "the last record ends"
    );
    records
}

fn tip(browser: &mut Browser) -> Value {
    browser.value(
        "document.getElementById('tip').hidden ? null : document.getElementById('tip').textContent",
    )
}

fn media(browser: &mut Browser, scheme: &str, width_px: u32) {
    let features = json!({ "features": [{ "name": "prefers-color-scheme", "value": scheme }] });
    browser.ask("Emulation.setEmulatedMedia", &features);
    let size = json!({ "width": width_px, "height": 900, "deviceScaleFactor": 1, "mobile": false });
    browser.ask("Emulation.setDeviceMetricsOverride", &size);
}

#[test]
fn the_report_is_pointed_at_and_saved_in_a_browser() {
    if !require::browser() {
        return;
    }
    let directory = tempfile::tempdir().expect("a temporary directory");
    let path = page(&directory);
    let mut browser = Browser::start();
    browser.open(&path);
    tips(&mut browser);
    downloads(&mut browser);
    looks(&mut browser);
    // The page itself, and the picture of a chart on its way to a PNG file.
    let asked = browser.requests();
    let is_own = |url: &&str| {
        url.starts_with("file://") || url.starts_with("blob:") || url.starts_with("data:")
    };
    assert!(asked.iter().all(is_own) && !asked.is_empty(), "{asked:?}");
    assert!(
        browser.complaints().is_empty(),
        "{:?}",
        browser.complaints()
    );
}

/// By mouse and by keyboard.
fn tips(browser: &mut Browser) {
    assert_eq!(tip(browser), Value::Null);
    browser.hover("figure circle.mark");
    assert_eq!(tip(browser), "plain, turn 1: 2.00 s");
    // The browser's own tip would stand beside it.
    assert_eq!(
        browser.value("document.querySelector('.mark.on title')"),
        Value::Null
    );
    browser.hover("h1");
    assert_eq!(tip(browser), Value::Null);
    let titles =
        "[...document.querySelectorAll('.mark')].every(mark => mark.querySelector('title'))";
    assert_eq!(browser.value(titles), true);

    browser.value("document.querySelector('svg[tabindex]').focus()");
    for (key, expected) in [
        (
            "ArrowRight",
            "plain: median 2.06 s, middle half 2.03 s to 2.09 s, all 2.00 s to 2.12 s",
        ),
        ("ArrowRight", "plain, turn 1: 2.00 s"),
        ("ArrowRight", "plain, turn 2: 2.10 s"),
        ("ArrowLeft", "plain, turn 1: 2.00 s"),
        ("End", "</script><b>bold, turn 7: 3.54 s"),
        (
            "Home",
            "plain: median 2.06 s, middle half 2.03 s to 2.09 s, all 2.00 s to 2.12 s",
        ),
    ] {
        browser.press_key(key);
        assert_eq!(tip(browser), expected, "{key}");
    }
    browser.press_key("Escape");
    assert_eq!(tip(browser), Value::Null);
}

fn downloads(browser: &mut Browser) {
    let (name, csv) = browser.download("button[data-csv]");
    assert_eq!(name, "starts-of-a-program.csv");
    let records = records(&String::from_utf8(csv).expect("UTF-8"));
    let (head, rows) = records.split_first().expect("a head");
    let expected = [
        "contestant",
        "turn",
        "excluded",
        "cold_s",
        "warm_s",
        "reads",
        "build_s",
        "size_bytes",
    ];
    assert_eq!(head, &expected);
    let study = launch();
    assert_eq!(rows.len(), study.runs.len());
    for (row, run) in rows.iter().zip(&study.runs) {
        assert_eq!(row[0], NAMES[run.contestant]);
        assert_eq!(row[1], (run.turn + 1).to_string());
        assert_eq!(row[2], run.excluded.clone().unwrap_or_default());
        let own = &study.contestants[run.contestant].figures;
        for (name, cell) in head.iter().zip(row).skip(3) {
            let value = run.figures.get(name).or(own.get(name));
            assert_eq!(cell.parse().ok().as_ref(), value, "{name}");
        }
    }

    let (name, svg) = browser.download("button[data-save=svg]");
    assert_eq!(name, "cold-starts.svg");
    let svg = String::from_utf8(svg).expect("UTF-8");
    assert!(!svg.contains("var(") && svg.contains("plain"), "{svg}");
    let parsed = format!(
        "(() => {{ const parsed = new DOMParser().parseFromString({}, 'image/svg+xml'); \
         return [parsed.documentElement.tagName, parsed.querySelectorAll('circle').length, \
         parsed.querySelector('parsererror') === null]; }})()",
        json!(svg)
    );
    // One dot for each run that counts.
    assert_eq!(browser.value(&parsed), json!(["svg", 20, true]));

    let (name, png) = browser.download("button[data-save=png]");
    assert_eq!(name, "cold-starts.png");
    assert_eq!(png[..8], *b"\x89PNG\r\n\x1a\n");
    let number = |at: usize| {
        png[at..at + 4]
            .iter()
            .fold(0, |high, byte| high << 8 | u32::from(*byte))
    };
    // Twice the size of the chart: three lanes, an axis and a margin.
    assert_eq!((number(16), number(20)), (2 * 880, 2 * (3 * 76 + 12 + 46)));
    assert!(png.len() > 10_000, "{} bytes: an empty picture", png.len());
}

/// Light and dark, wide and narrow, on paper.
fn looks(browser: &mut Browser) {
    let mut papers = Vec::new();
    for scheme in ["light", "dark"] {
        for width_px in [1200, 400] {
            media(browser, scheme, width_px);
            papers.push(browser.value("getComputedStyle(document.body).backgroundColor"));
            let too_wide =
                "document.documentElement.scrollWidth > document.documentElement.clientWidth";
            assert_eq!(browser.value(too_wide), false, "{scheme} {width_px}");
            picture(browser, &format!("{scheme}-{width_px}.png"));
        }
    }
    assert_eq!(
        papers,
        [
            "rgb(255, 255, 255)",
            "rgb(255, 255, 255)",
            "rgb(21, 24, 27)",
            "rgb(21, 24, 27)"
        ]
    );
    let printed = browser.ask("Page.printToPDF", &json!({}));
    let pdf = printed["data"].as_str().expect("a file in base64");
    // `%PDF-` in base64.
    assert!(
        pdf.starts_with("JVBERi0") && pdf.len() > 20_000,
        "{} letters",
        pdf.len()
    );
}

/// Takes a picture of the whole page; kept only where a person wants to look at it.
fn picture(browser: &mut Browser, name: &str) {
    let taken = browser.ask(
        "Page.captureScreenshot",
        &json!({ "captureBeyondViewport": true }),
    );
    let data = taken["data"].as_str().expect("a file in base64");
    assert!(
        data.starts_with("iVBORw0KGgo") && data.len() > 20_000,
        "{name}"
    );
    if let Some(directory) = std::env::var_os("COLDPRESS_PICTURES") {
        let path = Path::new(&directory).join(format!("{name}.base64"));
        fs::write(path, data).expect("a new file");
    }
}
