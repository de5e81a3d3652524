//! Samples of others: studies, and the page that is made of them.

use coldpress_bench::{Report, differences, report_html, standings};
use coldpress_history::{read_studies, write_json};

/// Studies that are read are written, read again, judged, and become a page.
pub(crate) fn studies(data: &[u8]) {
    let Ok(studies) = read_studies(data) else {
        return;
    };
    let mut text = Vec::new();
    let all: Vec<_> = studies.iter().collect();
    write_json(&all, &mut text).expect("memory can be written");
    let again = read_studies(&text).expect("what was written can be read");
    assert_eq!(again, studies);
    for study in &studies {
        standings(study);
        differences(study, study);
    }
    let report = Report {
        studies,
        ..Report::default()
    };
    report_html(&report, &mut Vec::new()).expect("memory can be written");
}
