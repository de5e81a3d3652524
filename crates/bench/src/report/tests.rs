use super::*;
use crate::example;
use crate::run::{Excluded, Exit};

const HOSTILE: &str = "<script>alert(1)</script>\"'&\u{1b}[0m ";

fn write(report: &Report) -> String {
    let mut out = Vec::new();
    report_html(report, &mut out).expect("memory takes all");
    String::from_utf8(out).expect("HTML is UTF-8")
}

fn report(names: &[&str], turns: u32) -> Report {
    let mut comparison = example::comparison(names, turns);
    let runs = comparison.runs.len();
    comparison.runs[runs - 1].excluded = Some(Excluded::Failed {
        exit: Exit::Code(3),
    });
    comparison.runs[runs - 2].excluded = Some(Excluded::StartedWarm { pages: 81 });
    Report {
        comparison,
        title: "Cold start of python3".to_owned(),
        notes: vec![
            (
                "plan".to_owned(),
                "1,204 files, 18.3 MiB of 288 MiB".to_owned(),
            ),
            (
                "build of ordered".to_owned(),
                "35.1 s, 812 MiB of memory".to_owned(),
            ),
            ("mksquashfs".to_owned(), "4.5.1".to_owned()),
        ],
    }
}

/// The tags of a page, in order; `None` if a `<` does not begin one.
fn tags(html: &str) -> Option<Vec<&str>> {
    let body = html.split_once("</style>")?.1;
    body.split('<')
        .skip(1)
        .map(|tag| tag.split_once('>').map(|(tag, _)| tag))
        .collect()
}

/// Every element is closed in the right order.
fn is_well_formed(html: &str) -> bool {
    let Some(tags) = tags(html) else { return false };
    let mut open = vec!["html", "head"];
    for tag in tags {
        let name = tag.split_whitespace().next().unwrap_or("");
        if let Some(closed) = name.strip_prefix('/') {
            if open.pop() != Some(closed) {
                return false;
            }
        } else if !tag.ends_with('/') {
            open.push(name);
        }
    }
    open.is_empty()
}

#[test]
fn the_report_is_one_well_formed_file_with_all_charts() {
    let html = write(&report(&["plain", "ordered", "xz"], 10));
    assert!(is_well_formed(&html));
    assert_eq!(html.matches("<svg ").count(), 6);
    assert!(html.len() < 5_000_000, "{} bytes", html.len());
    let outside = [
        "<script", "<link", "<img", "src=", "@import", "url(", "https://",
    ];
    for outside in outside {
        assert!(!html.contains(outside), "{outside}");
    }
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
        "Turn 10, ordered (cold ",
        ": the command failed (exit code 3).",
        ": 81 pages of the image stayed in the page cache.",
        "of 18 counted runs, 18 began without a page",
        "usb2: 25.0 MB/s, 400 reads/s",
    ];
    for told in told {
        assert!(html.contains(told), "{told}");
    }
    let without = write(&Report {
        comparison: example::comparison(&["plain", "ordered"], 10),
        ..report(&["plain", "ordered"], 10)
    });
    assert!(without.contains("None: all 20 runs count."));
}

#[test]
fn whatever_comes_from_outside_is_escaped() {
    let mut hostile = report(&[HOSTILE, "ordered"], 6);
    let clean = write(&hostile);
    hostile.title = HOSTILE.to_owned();
    hostile.notes = vec![(HOSTILE.to_owned(), HOSTILE.to_owned())];
    let comparison = &mut hostile.comparison;
    comparison.command.args = vec![HOSTILE.to_owned()];
    comparison.device.name = HOSTILE.to_owned();
    comparison.machine.cpu_model = HOSTILE.to_owned();
    comparison.machine.kernel = HOSTILE.to_owned();
    comparison.machine.squashfs_decompressor = HOSTILE.to_owned();
    let html = write(&hostile);
    for html in [clean, html] {
        assert!(is_well_formed(&html));
        assert!(!html.contains("<script"));
        assert!(!html.contains('\u{1b}'));
        assert!(html.contains("&lt;script&gt;"));
    }
}

#[test]
fn one_contestant_and_no_counted_run_still_give_a_report() {
    let mut alone = report(&["plain"], 3);
    assert!(write(&alone).contains("plain starts cold in "));
    for run in &mut alone.comparison.runs {
        run.excluded = Some(Excluded::TimedOut);
    }
    let html = write(&alone);
    assert!(is_well_formed(&html));
    assert!(html.contains("plain: no run counts."));
    assert_eq!(html.matches("no counted run").count(), 2);
}
