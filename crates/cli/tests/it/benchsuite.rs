//! The recorded runs of the benchmark suite: what proves a figure, and nothing that can be made
//! again.

use std::fs;
use std::path::{Path, PathBuf};

use crate::run::repository;

/// Bytes of all runs together. A run of a study takes 20 to 700 KB.
const RUNS_BYTES_MAX: u64 = 5 << 20;
/// Bytes of the largest file: the samples of 96 builds, ten tools and five runs each.
const FILE_BYTES_MAX: u64 = 500_000;

fn files(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    paths
        .flat_map(|path| {
            if path.is_dir() {
                files(&path)
            } else {
                vec![path]
            }
        })
        .collect()
}

#[test]
fn recorded_runs_stay_small() {
    let is_kept = |path: &PathBuf| {
        let can_be_made_again = path
            .extension()
            .is_some_and(|extension| extension == "html")
            || path.file_name().is_some_and(|name| name == "trace");
        !can_be_made_again
    };
    let runs = files(&repository().join("benchsuite/runs"));
    let mut runs_bytes = 0;
    for path in runs.into_iter().filter(is_kept) {
        let file_bytes = fs::metadata(&path).unwrap().len();
        assert!(
            file_bytes <= FILE_BYTES_MAX,
            "{} has {file_bytes} bytes",
            path.display()
        );
        runs_bytes += file_bytes;
    }
    assert!(
        runs_bytes <= RUNS_BYTES_MAX,
        "all runs have {runs_bytes} bytes"
    );
}
