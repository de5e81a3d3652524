use std::fs::{self, File, OpenOptions};
use std::ops::ControlFlow;
use std::os::unix::fs::symlink;

use coldpress_format::Compressor;
use coldpress_layout::{Plan, Tails, order};
use coldpress_writer::{Error, Input, Output, SourceOptions, gather, write};

use crate::trees::{Entry, built, differences, make, options, scanned};

#[test]
fn a_source_that_is_missing_or_of_an_equal_name_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let [a, b] = ["a", "b"].map(|name| directory.path().join(name).join("same"));
    for path in [&a, &b] {
        fs::create_dir_all(path).unwrap();
    }
    let error = Input::from_paths(&[a.clone(), b]).unwrap_err();
    assert!(matches!(error, Error::SameName { .. }), "{error}");
    let inputs = Input::from_paths(&[a.join("none")]).unwrap();
    let error = gather(&inputs, &SourceOptions::default(), &mut |_| {
        ControlFlow::Continue(())
    })
    .unwrap_err()
    .to_string();
    assert!(error.starts_with("cannot read `"), "{error}");
}

#[test]
fn several_sources_stand_in_the_root_by_their_names() {
    let directory = tempfile::tempdir().unwrap();
    let file = Entry::File { seed: 2, len: 5 };
    make(
        directory.path(),
        &[
            ("f".to_owned(), file),
            ("d".to_owned(), Entry::Directory(vec![])),
        ],
    );
    let sources = ["f", "d"].map(|name| directory.path().join(name));
    let source = gather(
        &Input::from_paths(&sources).unwrap(),
        &SourceOptions::default(),
        &mut |_| ControlFlow::Continue(()),
    )
    .unwrap();
    assert_eq!(
        source.tree.paths(),
        [b"/".to_vec(), b"/f".to_vec(), b"/d".to_vec()]
    );
    let image = built(&source, &Plan::default(), &options(None, 4096));
    assert_eq!(differences(&image, &source), Vec::<String>::new());
}

#[test]
fn newer_times_are_lowered_to_the_latest() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("old"), "").unwrap();
    let old = std::time::UNIX_EPOCH + std::time::Duration::from_secs(5);
    File::open(directory.path().join("old"))
        .unwrap()
        .set_modified(old)
        .unwrap();
    fs::write(directory.path().join("new"), "").unwrap();
    let options = SourceOptions {
        latest_time_s: Some(1000),
        ..SourceOptions::default()
    };
    let inputs = [Input::Directory(directory.path().to_path_buf())];
    let source = gather(&inputs, &options, &mut |_| ControlFlow::Continue(())).unwrap();
    let time = |path: &[u8]| source.tree.nodes[source.tree.find(path).unwrap().index()].mtime_s;
    assert_eq!([time(b"/"), time(b"/new"), time(b"/old")], [1000, 1000, 5]);
}

#[test]
fn a_build_that_is_stopped_leaves_the_old_image_and_nothing_else() {
    let directory = tempfile::tempdir().unwrap();
    let tree = directory.path().join("tree");
    fs::create_dir(&tree).unwrap();
    make(
        &tree,
        &[(
            "it".to_owned(),
            Entry::File {
                seed: 1,
                len: 90_000,
            },
        )],
    );
    let path = directory.path().join("image");
    fs::write(&path, "the old one").unwrap();
    let source = scanned(&tree);
    let options = options(Some(Compressor::Zstd), 4096);
    let (order, _) = order(
        &source.tree,
        &Plan::default(),
        options.block_size,
        Tails::Small,
    );
    let output = Output::create(&path).unwrap();
    let error = write(&source, &order, output.file(), &options, &mut |_| {
        ControlFlow::Break(())
    })
    .unwrap_err();
    assert!(matches!(error, Error::Interrupted));
    drop(output);
    assert_eq!(fs::read(&path).unwrap(), b"the old one");
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 2);
}

#[test]
fn an_output_replaces_a_file_also_through_a_link_and_nothing_else() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name);
    fs::write(at("file"), "old").unwrap();
    symlink("file", at("link")).unwrap();
    let output = Output::create(&at("link")).unwrap();
    output.file().set_len(5).unwrap();
    output.commit().unwrap();
    assert_eq!(fs::read(at("file")).unwrap(), [0; 5]);
    assert!(at("link").symlink_metadata().unwrap().is_symlink());
    let error = Output::create(directory.path()).unwrap_err();
    assert!(matches!(error, Error::NotAFile { .. }), "{error}");
    let error = Output::create(&at("none/image")).unwrap_err().to_string();
    assert!(error.starts_with("cannot create `"), "{error}");
}

#[test]
fn an_output_takes_its_place_whatever_stands_beside_it_and_however_long_its_name_is() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name);
    // A name that another user could foresee.
    let squatted = format!(".image.coldpress-{}", std::process::id());
    fs::write(at(&squatted), "squatted").unwrap();
    for name in ["image", &"n".repeat(255)] {
        let output = Output::create(&at(name)).unwrap();
        output.file().set_len(5).unwrap();
        output.commit().unwrap();
        assert_eq!(fs::read(at(name)).unwrap(), [0; 5]);
    }
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 3);
}

#[test]
fn a_full_disk_is_told_as_such() {
    let directory = tempfile::tempdir().unwrap();
    make(
        directory.path(),
        &[("it".to_owned(), Entry::File { seed: 1, len: 9000 })],
    );
    let source = scanned(directory.path());
    let options = options(None, 4096);
    let (order, _) = order(
        &source.tree,
        &Plan::default(),
        options.block_size,
        Tails::Small,
    );
    let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
    let error = write(&source, &order, &full, &options, &mut |_| {
        ControlFlow::Continue(())
    })
    .unwrap_err()
    .to_string();
    assert!(error.contains("No space left on device"), "{error}");
}
