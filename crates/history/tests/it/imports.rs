//! Studies that come from elsewhere.

use coldpress_history::{History, Imported, Origin, State, Study, read_studies, write_json};

use crate::studies::study;

fn exported(studies: &[&Study]) -> Vec<u8> {
    let mut bytes = Vec::new();
    write_json(studies, &mut bytes).unwrap();
    bytes
}

#[test]
fn an_export_gives_the_same_studies_back() {
    let mut published = study("another", 0);
    published.origin = Origin::Published {
        citation: "somebody".to_owned(),
    };
    let studies = [study("one", 3), published];
    let bytes = exported(&[&studies[0], &studies[1]]);
    assert_eq!(read_studies(&bytes).unwrap(), studies);
    assert_eq!(read_studies(&exported(&[])).unwrap(), []);
}

#[test]
fn a_study_is_taken_in_once_and_completed() {
    let directory = tempfile::tempdir().unwrap();
    let mut history = History::open(&directory.path().join("history.sqlite")).unwrap();
    let half = study("a start", 2);
    let whole = Study {
        state: State::Done,
        ..study("a start", 4)
    };
    let mut other = whole.clone();
    other.contestants[0].name = "other".to_owned();
    let mut longer = whole.clone();
    longer.runs[5].turn = 99;
    for (study, expected) in [
        (&half, Imported::New(1)),
        (&half, Imported::Known(1)),
        (&whole, Imported::Completed(1)),
        (&whole, Imported::Known(1)),
        // Exported before it was complete, and read again later.
        (&half, Imported::Known(1)),
        (&other, Imported::New(2)),
        (&longer, Imported::New(3)),
        (&longer, Imported::Known(3)),
    ] {
        assert_eq!(history.import(study).unwrap(), expected);
    }
    for (id, study) in [(1, whole), (2, other), (3, longer)] {
        assert_eq!(history.study(id).unwrap(), Some(study));
    }
}

#[test]
fn a_study_of_this_history_is_known_to_it() {
    let directory = tempfile::tempdir().unwrap();
    let mut history = History::open(&directory.path().join("history.sqlite")).unwrap();
    let id = history.begin(&study("ours", 3)).unwrap();
    history.finish(id, State::Done).unwrap();
    let ours = history.study(id).unwrap().unwrap();
    let read = read_studies(&exported(&[&ours])).unwrap();
    assert_eq!(history.import(&read[0]).unwrap(), Imported::Known(id));
}

#[test]
fn what_is_no_export_is_refused() {
    let whole = String::from_utf8(exported(&[&study("a", 2)])).unwrap();
    let deep = format!(
        "{{\"coldpress_history\": 1, \"studies\": {}",
        "[".repeat(100_000)
    );
    for (text, expected) in [
        ("{}", "it is not an export of a history"),
        (
            &whole[..whole.len() / 2],
            "it is not an export of a history",
        ),
        (&deep, "it is not an export of a history"),
        (
            &whole.replace("\"coldpress_history\": 1", "\"coldpress_history\": 2"),
            "it is an export of version 2, and this release knows 1",
        ),
        (
            &whole.replace("\"contestant\": 1", "\"contestant\": 2"),
            "a run of the study `a` names contestant 2, must be below 2",
        ),
        (
            &whole.replace("\"launch\"", "\"lunch\""),
            "it is not an export of a history",
        ),
        (
            &whole.replace("5.0", "1e999"),
            "it is not an export of a history",
        ),
        (
            "[]",
            "it is neither an export of a history as JSON, nor a published table with a first line that is known",
        ),
    ] {
        let error = read_studies(text.as_bytes()).unwrap_err();
        assert_eq!(error.to_string(), expected, "{text:.60}");
    }
}
