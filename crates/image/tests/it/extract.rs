//! Extraction: what it writes, and where it does not.

use std::fs::{self, Permissions};
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::os::unix::fs::{MetadataExt, PermissionsExt as _, symlink};
use std::path::Path;

use coldpress_format::{BlockWord, Body, Corrupt, Part};
use coldpress_image::{Error, ExtractOptions, Extracted, Image, extract};

use crate::compare::paths;
use crate::handmade::{self, Node, directory, node};

fn run(nodes: &[Node], to: &Path, options: &ExtractOptions) -> Result<Extracted, Error> {
    let image = Image::new(Box::new(handmade::write(nodes, false).bytes)).unwrap();
    extract(&image, to, options, &mut |_| ControlFlow::Continue(()))
}

fn overwrite() -> ExtractOptions<'static> {
    ExtractOptions {
        overwrite: true,
        ..ExtractOptions::default()
    }
}

fn names(root: &Path) -> Vec<String> {
    let strip = |path: std::path::PathBuf| {
        let path = path.strip_prefix(root).unwrap();
        path.to_str().unwrap().to_owned()
    };
    paths(root).into_iter().map(strip).collect()
}

#[test]
fn everything_is_extracted_with_any_memory_and_threads() {
    let scratch = tempfile::tempdir().unwrap();
    for (threads, memory_bytes) in [(1, 0), (2, 1 << 14), (4, 1 << 28)] {
        let to = scratch.path().join(format!("{threads}"));
        let options = ExtractOptions {
            threads: NonZeroUsize::new(threads).unwrap(),
            memory_bytes,
            ..ExtractOptions::default()
        };
        let extracted = run(&handmade::nodes(), &to, &options).unwrap();
        let counts = (
            extracted.files,
            extracted.directories,
            extracted.symlinks,
            extracted.fifos,
        );
        assert_eq!(counts, (3, 3, 1, 1));
        assert_eq!(extracted.bytes, 2 * 4096 + 50 + 50 + 20 * 4096);
        assert_eq!(
            fs::read(to.join("dir/file")).unwrap(),
            handmade::file_content()
        );
        assert_eq!(fs::read(to.join("sparse")).unwrap(), vec![0; 20 * 4096]);
        assert_eq!(fs::read(to.join("link")).unwrap(), handmade::file_content());
        assert_eq!(
            to.join("dir").symlink_metadata().unwrap().mtime(),
            1_000_000_000
        );
    }
}

#[test]
fn a_large_hole_takes_no_space() {
    let scratch = tempfile::tempdir().unwrap();
    let mut nodes = handmade::nodes();
    if let Body::File(file) = &mut nodes[6].inode.body {
        file.blocks = vec![BlockWord::SPARSE; 200_000];
        file.size_bytes = 200_000 * 4096;
    }
    run(&nodes, scratch.path(), &ExtractOptions::default()).unwrap();
    let metadata = scratch.path().join("sparse").metadata().unwrap();
    assert_eq!(metadata.len(), 200_000 * 4096);
    assert!(metadata.blocks() < 100, "{}", metadata.blocks());
}

#[test]
fn a_file_behind_a_link_of_the_same_name_stays_inside() {
    let scratch = tempfile::tempdir().unwrap();
    let outside = scratch.path().join("outside");
    fs::create_dir(&outside).unwrap();
    let target = outside.to_str().unwrap().as_bytes().to_vec();
    // `a` is a link to the outside and a directory that holds `file`, in either order.
    for link_first in [true, false] {
        let (link, real) = if link_first { (1, 2) } else { (2, 1) };
        let mut nodes = handmade::nodes();
        nodes.truncate(3);
        nodes[0] = directory(1, 4, &[(b"a", link), (b"a", real)]);
        nodes[real] = directory(2, 1, &[]);
        nodes[link] = node(3, Body::Symlink(target.clone()));
        let mut file = handmade::nodes().remove(2);
        file.inode.number = 4;
        nodes.push(file);
        nodes[real].entries = vec![(b"file".to_vec(), 3)];
        let to = scratch.path().join(format!("to-{link_first}"));
        let error = run(&nodes, &to, &overwrite()).unwrap_err();
        let Error::InFile { source, .. } = error else {
            panic!("{error}");
        };
        let part = Part::DirectoryEntry;
        assert!(matches!(*source, Error::Corrupt(Corrupt { part: found, .. }) if found == part));
        assert_eq!(names(&outside), [""]);
    }
}

#[test]
fn directories_that_are_there_keep_their_metadata_unless_they_shall_not() {
    let nodes = handmade::nodes();
    for restore_existing in [false, true] {
        let scratch = tempfile::tempdir().unwrap();
        let to = scratch.path().join("to");
        run(&nodes, &to, &ExtractOptions::default()).unwrap();
        let mode = |mode| fs::set_permissions(&to, Permissions::from_mode(mode)).unwrap();
        let found = || fs::metadata(&to).unwrap().mode() & 0o7777;
        let restored = found();
        mode(0o700);
        let options = ExtractOptions {
            restore_existing,
            ..overwrite()
        };
        run(&nodes, &to, &options).unwrap();
        assert_ne!(restored, 0o700);
        assert_eq!(found(), if restore_existing { restored } else { 0o700 });
    }
}

#[test]
fn names_that_lead_outside_are_refused() {
    let scratch = tempfile::tempdir().unwrap();
    for (number, name) in [&b".."[..], b"../x", b"/x"].into_iter().enumerate() {
        let mut nodes = handmade::nodes();
        nodes[0].entries = vec![(name.to_vec(), 4)];
        let to = scratch.path().join(format!("{number}"));
        assert!(run(&nodes, &to, &overwrite()).is_err());
        assert_eq!(names(&to), [""]);
    }
    assert_eq!(fs::read_dir(scratch.path()).unwrap().count(), 3);
}

#[test]
fn links_that_were_in_the_way_are_replaced_and_not_followed() {
    let scratch = tempfile::tempdir().unwrap();
    let (to, outside) = (scratch.path().join("to"), scratch.path().join("outside"));
    fs::create_dir(&to).unwrap();
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("precious"), "precious").unwrap();
    symlink(&outside, to.join("dir")).unwrap();
    symlink(outside.join("precious"), to.join("tail")).unwrap();
    fs::hard_link(outside.join("precious"), to.join("sparse")).unwrap();
    fs::write(to.join("mine"), "stays").unwrap();
    run(&handmade::nodes(), &to, &overwrite()).unwrap();
    assert_eq!(names(&outside), ["", "precious"]);
    assert_eq!(fs::read(outside.join("precious")).unwrap(), b"precious");
    assert!(to.join("dir").symlink_metadata().unwrap().is_dir());
    assert_eq!(
        fs::read(to.join("dir/file")).unwrap(),
        handmade::file_content()
    );
    assert_eq!(fs::read(to.join("mine")).unwrap(), b"stays");
    // Once more over what is there now.
    run(&handmade::nodes(), &to, &overwrite()).unwrap();
}

#[test]
fn a_destination_that_holds_something_or_is_a_link_is_refused() {
    let scratch = tempfile::tempdir().unwrap();
    let to = scratch.path().join("to");
    fs::create_dir(&to).unwrap();
    symlink(&to, scratch.path().join("link")).unwrap();
    let error = run(
        &handmade::nodes(),
        &scratch.path().join("link"),
        &overwrite(),
    )
    .unwrap_err();
    assert!(matches!(error, Error::Write { .. }), "{error}");
    fs::write(to.join("mine"), "stays").unwrap();
    let error = run(&handmade::nodes(), &to, &ExtractOptions::default()).unwrap_err();
    assert!(matches!(error, Error::NotEmpty { .. }), "{error}");
    assert_eq!(names(&to), ["", "mine"]);
}

#[test]
fn chosen_paths_are_extracted_with_the_directories_above() {
    let scratch = tempfile::tempdir().unwrap();
    for (number, (paths, expected)) in [
        (vec!["/dir/sub"], vec!["", "dir", "dir/sub"]),
        (
            vec!["/dir", "/fifo"],
            vec!["", "dir", "dir/file", "dir/sub", "fifo"],
        ),
        (vec!["/tail/"], vec!["", "tail"]),
    ]
    .into_iter()
    .enumerate()
    {
        let options = ExtractOptions {
            paths: paths.iter().map(|path| path.as_bytes().to_vec()).collect(),
            ..ExtractOptions::default()
        };
        let to = scratch.path().join(format!("{number}"));
        run(&handmade::nodes(), &to, &options).unwrap();
        assert_eq!(names(&to), expected);
    }
    let options = ExtractOptions {
        paths: vec![b"/dir/nothing".to_vec()],
        ..ExtractOptions::default()
    };
    let to = scratch.path().join("none");
    let error = run(&handmade::nodes(), &to, &options).unwrap_err();
    assert!(matches!(error, Error::NotFound { .. }), "{error}");
    assert!(!to.exists());
}

#[test]
fn an_extraction_can_be_interrupted() {
    let scratch = tempfile::tempdir().unwrap();
    let image = Image::new(Box::new(handmade::image(false).bytes)).unwrap();
    let options = ExtractOptions::default();
    let error = extract(&image, scratch.path(), &options, &mut |_| {
        ControlFlow::Break(())
    });
    assert!(matches!(error, Err(Error::Interrupted)));
    let checked = coldpress_image::check(&image, &mut |_| ControlFlow::Break(()));
    assert!(matches!(checked, Err(Error::Interrupted)));
}

#[test]
fn paths_longer_than_a_system_call_takes_are_extracted() {
    let scratch = tempfile::tempdir().unwrap();
    let depth = 500;
    let name = b"a-directory-name";
    let mut nodes: Vec<_> = (0..depth)
        .map(|index| {
            let number = u32::try_from(index).unwrap() + 1;
            let mut made = directory(number, number - 1, &[]);
            made.entries = vec![(name.to_vec(), index + 1)];
            made
        })
        .collect();
    let mut file = handmade::nodes().remove(2);
    file.inode.number = u32::try_from(depth).unwrap() + 1;
    nodes.push(file);
    let extracted = run(&nodes, scratch.path(), &ExtractOptions::default()).unwrap();
    assert_eq!((extracted.directories, extracted.files), (depth as u64, 1));
    assert!(extracted.not_restored.is_empty());
}

#[test]
fn set_id_bits_are_left_out_with_the_owner() {
    let scratch = tempfile::tempdir().unwrap();
    let mut nodes = handmade::nodes();
    nodes[7].inode.mode = 0o6755;
    let options = ExtractOptions {
        owners: false,
        xattrs: false,
        ..ExtractOptions::default()
    };
    let extracted = run(&nodes, scratch.path(), &options).unwrap();
    let mode = scratch.path().join("tail").metadata().unwrap().mode() & 0o7777;
    assert_eq!(mode, 0o755);
    let texts: Vec<_> = extracted
        .not_restored
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(texts.len(), 1, "{texts:?}");
    assert!(
        texts[0].contains("/tail`: set-id bits not restored"),
        "{texts:?}"
    );
}

#[test]
fn further_names_become_hard_links() {
    let scratch = tempfile::tempdir().unwrap();
    let mut nodes = handmade::nodes();
    for (index, name) in [(2, &b"zfile"[..]), (5, b"zlink")] {
        nodes[index].inode.link_count = 2;
        nodes[0].entries.push((name.to_vec(), index));
    }
    let extracted = run(&nodes, scratch.path(), &ExtractOptions::default()).unwrap();
    assert_eq!(
        (extracted.files, extracted.symlinks, extracted.hard_links),
        (3, 1, 2)
    );
    for (first, second) in [("dir/file", "zfile"), ("link", "zlink")] {
        let inode = |path: &str| scratch.path().join(path).symlink_metadata().unwrap().ino();
        assert_eq!(inode(first), inode(second));
    }
}

#[test]
fn damaged_content_is_reported_with_its_path() {
    let scratch = tempfile::tempdir().unwrap();
    let mut nodes = handmade::nodes();
    if let Body::File(file) = &mut nodes[2].inode.body {
        file.start = 95;
    }
    let error = run(&nodes, scratch.path(), &ExtractOptions::default()).unwrap_err();
    let Error::InFile { path, source } = error else {
        panic!("{error}");
    };
    assert_eq!(path, b"/dir/file");
    assert!(
        source.to_string().starts_with("data block at byte 95: "),
        "{source}"
    );
    // What is there of it must not be taken for the file.
    assert!(!scratch.path().join("dir/file").exists());
}
