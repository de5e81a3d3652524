//! Every file of `fuzz/corpus/` through the target that it is for.

use std::fs;
use std::path::{Path, PathBuf};

use coldpress_targets::TARGETS;

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus")
}

fn files(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).unwrap();
    let mut files: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

#[test]
fn everything_that_was_found_is_borne() {
    for (name, target) in TARGETS {
        let files = files(&corpus().join(name));
        assert!(!files.is_empty(), "{name} has no corpus");
        for file in files {
            target(&fs::read(file).unwrap());
        }
    }
}

#[test]
fn every_corpus_has_a_target_and_every_target_a_program() {
    for directory in files(&corpus()) {
        let name = directory.file_name().unwrap().to_str().unwrap();
        assert!(TARGETS.iter().any(|(known, _)| *known == name), "{name}");
    }
    for (name, _) in TARGETS {
        let program = corpus().join(format!("../fuzz_targets/{name}.rs"));
        assert!(program.is_file(), "{name}");
    }
}
