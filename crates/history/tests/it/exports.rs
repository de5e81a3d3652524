//! Figures as others read them.

use std::fs;
use std::process::Command;

use bytes::Bytes;
use coldpress_history::{Study, StudyId, Unit, write_csv, write_parquet};
use parquet::file::reader::{FileReader as _, SerializedFileReader};
use parquet::record::Field;

use crate::studies::study;

const COLUMNS: [&str; 10] = [
    "study",
    "kind",
    "title",
    "began",
    "contestant",
    "turn",
    "excluded",
    "figure",
    "unit",
    "value",
];

fn studies() -> Vec<(StudyId, Study)> {
    let mut undated = study("without a date", 1);
    undated.began_unix_ms = 0;
    vec![(7, study("a \"start\", cold\n", 3)), (9, undated)]
}

/// What a row must say, as texts; empty for what is not there.
fn expected() -> Vec<[String; COLUMNS.len()]> {
    let mut rows = Vec::new();
    for (id, study) in studies() {
        let own = study
            .contestants
            .iter()
            .map(|it| (it.name.clone(), None, None, &it.figures));
        let runs = study.runs.iter().map(|run| {
            let name = study.contestants[run.contestant].name.clone();
            (name, Some(run.turn), run.excluded.clone(), &run.figures)
        });
        for (name, turn, excluded, figures) in own.chain(runs) {
            rows.extend(figures.iter().map(|(figure, value)| {
                let began = ["", "2023-11-14T22:13:20.123Z"][usize::from(study.began_unix_ms > 0)];
                [
                    id.to_string(),
                    "launch".to_owned(),
                    study.title.clone(),
                    began.to_owned(),
                    name.clone(),
                    turn.map(|turn: u32| turn.to_string()).unwrap_or_default(),
                    excluded.clone().unwrap_or_default(),
                    figure.clone(),
                    Unit::of(figure).name().to_owned(),
                    value.to_string(),
                ]
            }));
        }
    }
    rows
}

#[test]
fn csv_has_a_row_for_each_figure() {
    let mut bytes = Vec::new();
    write_csv(&studies(), &mut bytes).unwrap();
    let mut reader = csv::Reader::from_reader(bytes.as_slice());
    assert_eq!(reader.headers().unwrap(), COLUMNS.as_slice());
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    assert_eq!(rows.len(), expected().len());
    for (row, expected) in rows.iter().zip(&expected()) {
        assert!(row.iter().eq(expected), "{row:?} {expected:?}");
        let value: f64 = row[9].parse().unwrap();
        assert!(value.to_string() == row[9], "{row:?}");
    }
}

fn parquet(studies: &[(StudyId, Study)]) -> Vec<u8> {
    let mut bytes = Vec::new();
    write_parquet(studies, &mut bytes).unwrap();
    bytes
}

#[test]
fn parquet_has_the_same_rows() {
    let reader = SerializedFileReader::new(Bytes::from(parquet(&studies()))).unwrap();
    let rows: Vec<_> = reader
        .get_row_iter(None)
        .unwrap()
        .map(Result::unwrap)
        .collect();
    assert_eq!(rows.len(), expected().len());
    for (row, expected) in rows.iter().zip(&expected()) {
        let found = row.get_column_iter().map(|(_, field)| match field {
            Field::Null => String::new(),
            Field::Str(text) => text.clone(),
            Field::Long(number) => number.to_string(),
            Field::UInt(number) => number.to_string(),
            Field::Double(number) => number.to_string(),
            Field::TimestampMillis(1_700_000_000_123) => "2023-11-14T22:13:20.123Z".to_owned(),
            other => panic!("{other:?}"),
        });
        assert!(found.eq(expected.iter().cloned()), "{row:?} {expected:?}");
    }
}

#[test]
fn parquet_of_nothing_and_of_many_rows_is_read() {
    let count = |studies: &[(StudyId, Study)]| {
        let reader = SerializedFileReader::new(Bytes::from(parquet(studies))).unwrap();
        let groups = reader.metadata().num_row_groups();
        (reader.get_row_iter(None).unwrap().count(), groups)
    };
    assert_eq!(count(&[]), (0, 0));
    // Two figures of two contestants in each turn, and their sizes.
    assert_eq!(count(&[(1, study("long", 20_000))]), (80_002, 2));
}

#[test]
#[expect(clippy::print_stdout, reason = "a test says why it did nothing")]
fn parquet_is_read_by_another_reader() {
    let script = "\
import sys
try:
    import pyarrow.parquet as pq
except ImportError:
    sys.exit(77)
table = pq.read_table(sys.argv[1]).to_pylist()
assert len(table) == int(sys.argv[2]), len(table)
first, last = table[0], table[-1]
assert first['title'] == 'a \"start\", cold\\n' and first['turn'] is None, first
assert first['began'].isoformat() == '2023-11-14T22:13:20.123000+00:00', first
assert last['began'] is None and last['turn'] == 0 and last['figure'] == 'reads', last
assert {row['excluded'] for row in table} == {None, 'the command failed, \"badly\"'}
";
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("figures.parquet");
    fs::write(&path, parquet(&studies())).unwrap();
    let mut python = Command::new("python3");
    python
        .args(["-c", script])
        .arg(&path)
        .arg(expected().len().to_string());
    match python
        .output()
        .map(|output| (output.status.code(), output.stderr))
    {
        Ok((Some(0), _)) => {}
        Ok((Some(77), _)) | Err(_) => println!("skipped: python3 with pyarrow not found"),
        Ok((code, stderr)) => panic!("{code:?}: {}", String::from_utf8_lossy(&stderr)),
    }
}
