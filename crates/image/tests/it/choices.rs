//! What is extracted of an image, with what changes, and in spite of what damage.

mod any;

use std::cell::RefCell;
use std::fs;
use std::ops::ControlFlow;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::Path;

use coldpress_format::{BlockWord, Body};
use coldpress_image::{Choice, Error, ExtractOptions, Extracted, Image, extract};

use crate::compare::paths;
use crate::handmade::{self, Node, node};

fn run(nodes: &[Node], to: &Path, options: &ExtractOptions) -> Result<Extracted, Error> {
    let image = Image::new(Box::new(handmade::write(nodes, false).bytes)).unwrap();
    extract(&image, to, options, &mut |_| ControlFlow::Continue(()))
}

/// The paths below a directory, with spaces between.
fn names(root: &Path) -> String {
    let mut names = Vec::new();
    for path in paths(root) {
        let path = path.strip_prefix(root).unwrap().to_str().unwrap();
        names.push(path.to_owned());
    }
    names.join(" ").trim_start().to_owned()
}

/// Answers by path, all others get the last; paths of the options; what is extracted; and what was
/// asked for.
type Case = (
    &'static [(&'static str, Choice)],
    Choice,
    &'static [&'static str],
    &'static str,
    &'static str,
);

#[test]
fn what_is_chosen_is_extracted_with_the_directories_on_the_way() {
    use Choice::{Leave, Pass, Take, TakeAll};
    let cases: &[Case] = &[
        (
            &[],
            Take,
            &[],
            "dir dir/file dir/sub fifo link sparse tail",
            "/dir /dir/file /dir/sub /fifo /link /sparse /tail",
        ),
        (
            &[("/dir", TakeAll)],
            Leave,
            &[],
            "dir dir/file dir/sub",
            "/dir /fifo /link /sparse /tail",
        ),
        (
            &[("/dir", Pass), ("/dir/file", Take)],
            Leave,
            &[],
            "dir dir/file",
            "/dir /dir/file /dir/sub /fifo /link /sparse /tail",
        ),
        (
            &[("/dir", Pass)],
            Leave,
            &[],
            "",
            "/dir /dir/file /dir/sub /fifo /link /sparse /tail",
        ),
        (
            &[("/tail", Pass)],
            Leave,
            &[],
            "",
            "/dir /fifo /link /sparse /tail",
        ),
        (
            &[("/dir", Leave)],
            Take,
            &[],
            "fifo link sparse tail",
            "/dir /fifo /link /sparse /tail",
        ),
        (
            &[("/dir/sub", Leave)],
            Take,
            &["/dir"],
            "dir dir/file",
            "/dir /dir/file /dir/sub",
        ),
        (&[], Pass, &["/dir/sub"], "", "/dir /dir/sub"),
        (
            &[("/dir", TakeAll)],
            Leave,
            &["/dir/sub"],
            "dir dir/sub",
            "/dir",
        ),
    ];
    cases.iter().for_each(check_choices);
}

fn check_choices((answers, other, paths, extracted, asked): &Case) {
    let scratch = tempfile::tempdir().unwrap();
    let seen = RefCell::new(Vec::new());
    let choose = |visited: &coldpress_image::Visited| {
        let path = String::from_utf8(visited.path.to_vec()).unwrap();
        let answer = answers.iter().find(|(known, _)| *known == path);
        seen.borrow_mut().push(path);
        answer.map_or(*other, |(_, answer)| *answer)
    };
    let options = ExtractOptions {
        choose: Some(&choose),
        paths: paths.iter().map(|path| path.as_bytes().to_vec()).collect(),
        ..ExtractOptions::default()
    };
    run(&handmade::nodes(), scratch.path(), &options).unwrap();
    assert_eq!(names(scratch.path()), *extracted, "{answers:?} {other:?}");
    assert_eq!(seen.borrow().join(" "), *asked, "{answers:?} {other:?}");
    let dir = scratch.path().join("dir");
    if dir.exists() {
        assert_eq!(dir.metadata().unwrap().mtime(), 1_000_000_000);
    }
}

#[test]
fn directories_at_the_greatest_depth_stay_empty() {
    for (max_depth, expected) in [
        (0, ""),
        (1, "dir fifo link sparse tail"),
        (2, "dir dir/file dir/sub fifo link sparse tail"),
    ] {
        let scratch = tempfile::tempdir().unwrap();
        let options = ExtractOptions {
            max_depth: Some(max_depth),
            ..ExtractOptions::default()
        };
        run(&handmade::nodes(), scratch.path(), &options).unwrap();
        assert_eq!(names(scratch.path()), expected, "{max_depth}");
    }
}

#[test]
fn metadata_is_changed_before_it_is_restored() {
    let scratch = tempfile::tempdir().unwrap();
    let me = scratch.path().metadata().unwrap();
    let mut nodes = handmade::nodes();
    nodes[7].inode.mode = 0o6755;
    let options = ExtractOptions {
        owners: false,
        change: Some(&|inode, metadata| {
            metadata.mtime_s = 7;
            metadata.uid = Some(me.uid());
            match inode.body {
                Body::Directory(_) => metadata.mode = 0o750,
                _ => metadata.mode &= 0o6711,
            }
        }),
        keep_xattr: Some(&|name| name != b"user.name"),
        ..ExtractOptions::default()
    };
    let extracted = run(&nodes, scratch.path(), &options).unwrap();
    for (path, mode) in [
        ("", 0o750),
        ("dir", 0o750),
        ("dir/file", 0o711),
        ("tail", 0o4711),
    ] {
        let metadata = scratch.path().join(path).metadata().unwrap();
        assert_eq!(
            (metadata.mode() & 0o7777, metadata.mtime()),
            (mode, 7),
            "{path}"
        );
    }
    // The owner was restored, the group not: one of the bits is lacking.
    let lacking: Vec<_> = extracted
        .not_restored
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(lacking.len(), 1, "{lacking:?}");
    assert!(lacking[0].contains("/tail`: set-id bits"), "{lacking:?}");
}

/// Two files that are damaged in their data and in their fragment index, an inode that cannot be
/// read, and a sound rest.
fn damaged() -> Vec<Node> {
    let mut nodes = handmade::nodes();
    if let Body::File(file) = &mut nodes[2].inode.body {
        file.start = 95;
    }
    if let Body::File(file) = &mut nodes[7].inode.body {
        file.tail.as_mut().unwrap().fragment = 9;
    }
    nodes[2].inode.link_count = 2;
    nodes[0].entries.push((b"z-link".to_vec(), 2));
    nodes
}

#[test]
fn what_is_damaged_is_left_out_and_the_rest_extracted() {
    let scratch = tempfile::tempdir().unwrap();
    let stopped = run(
        &damaged(),
        &scratch.path().join("stops"),
        &ExtractOptions::default(),
    );
    assert!(matches!(stopped, Err(Error::InFile { .. })), "{stopped:?}");
    for threads in [1, 3] {
        let to = scratch.path().join(format!("goes-on-{threads}"));
        let options = ExtractOptions {
            keep_going: true,
            threads: threads.try_into().unwrap(),
            ..ExtractOptions::default()
        };
        let extracted = run(&damaged(), &to, &options).unwrap();
        assert_eq!(names(&to), "dir dir/sub fifo link sparse");
        let left_out: Vec<_> = extracted.left_out.iter().map(ToString::to_string).collect();
        let expected = [
            "cannot read `/tail` from the image".to_owned(),
            "cannot read `/dir/file` from the image".to_owned(),
            format!("cannot link `{}/z-link`", to.display()),
        ];
        assert_eq!(left_out, expected);
        assert_eq!(extracted.left_out_count, 3);
        assert_eq!((extracted.files, extracted.hard_links), (1, 0));
    }
}

#[test]
fn a_damaged_directory_stays_empty() {
    let scratch = tempfile::tempdir().unwrap();
    let mut image = handmade::image(false);
    // The name of an entry of the root directory becomes `..`, of which nobody may know.
    let at = image.listing_at;
    let listing = &mut image.bytes[at..];
    let name = listing
        .windows(4)
        .position(|bytes| bytes == b"file")
        .unwrap();
    listing[name..name + 4].copy_from_slice(b"../x");
    let image = Image::new(Box::new(image.bytes)).unwrap();
    let options = ExtractOptions {
        keep_going: true,
        ..ExtractOptions::default()
    };
    let progress = &mut |_| ControlFlow::Continue(());
    let extracted = extract(&image, scratch.path(), &options, progress).unwrap();
    assert_eq!(names(scratch.path()), "dir fifo link sparse tail");
    let [Error::InFile { path, .. }] = extracted.left_out.as_slice() else {
        panic!("{:?}", extracted.left_out);
    };
    assert_eq!(path, b"/dir");
}

#[test]
fn links_that_lead_outside_are_left_out() {
    let mut nodes = handmade::nodes();
    for (index, (name, target)) in [
        (&b"x-absolute"[..], &b"/etc/passwd"[..]),
        (b"x-back", b"dir/../tail"),
        (b"x-climbing", b"../sibling"),
        (b"x-inside", b"dir/sub"),
    ]
    .into_iter()
    .enumerate()
    {
        let number = 9 + u32::try_from(index).unwrap();
        nodes.push(node(number, Body::Symlink(target.to_vec())));
        let last = nodes.len() - 1;
        nodes[0].entries.push((name.to_vec(), last));
    }
    let scratch = tempfile::tempdir().unwrap();
    let options = ExtractOptions {
        confine_symlinks: true,
        ..ExtractOptions::default()
    };
    let extracted = run(&nodes, scratch.path(), &options).unwrap();
    let expected = "dir dir/file dir/sub fifo link sparse tail x-inside";
    assert_eq!(names(scratch.path()), expected);
    let left_out: Vec<_> = extracted.left_out.iter().map(ToString::to_string).collect();
    assert_eq!(
        left_out,
        [
            "`/x-absolute` was left out: it leads out of the directory, to `/etc/passwd`",
            "`/x-back` was left out: it leads out of the directory, to `dir/../tail`",
            "`/x-climbing` was left out: it leads out of the directory, to `../sibling`",
        ]
    );
    assert_eq!((extracted.left_out_count, extracted.symlinks), (3, 2));
}

#[test]
fn directories_that_were_there_keep_their_metadata() {
    let scratch = tempfile::tempdir().unwrap();
    let dir = scratch.path().join("dir");
    fs::create_dir(&dir).unwrap();
    fs::set_permissions(&dir, std::os::unix::fs::PermissionsExt::from_mode(0o711)).unwrap();
    let options = ExtractOptions {
        overwrite: true,
        ..ExtractOptions::default()
    };
    run(&handmade::nodes(), scratch.path(), &options).unwrap();
    assert_eq!(dir.metadata().unwrap().mode() & 0o7777, 0o711);
    let sub = dir.join("sub").metadata().unwrap();
    assert_eq!((sub.mode() & 0o7777, sub.mtime()), (0o755, 1_000_000_000));
}

#[test]
fn a_directory_in_the_way_of_a_file_stays() {
    let scratch = tempfile::tempdir().unwrap();
    fs::create_dir_all(scratch.path().join("sparse/mine")).unwrap();
    fs::create_dir_all(scratch.path().join("link")).unwrap();
    symlink("nowhere", scratch.path().join("dir")).unwrap();
    let options = ExtractOptions {
        overwrite: true,
        keep_going: true,
        ..ExtractOptions::default()
    };
    let mut nodes = handmade::nodes();
    if let Body::File(file) = &mut nodes[6].inode.body {
        file.blocks = vec![BlockWord::SPARSE; 1000];
        file.size_bytes = 1000 * 4096;
    }
    let extracted = run(&nodes, scratch.path(), &options).unwrap();
    assert_eq!(extracted.left_out_count, 2, "{:?}", extracted.left_out);
    let expected = "dir dir/file dir/sub fifo link sparse sparse/mine tail";
    assert_eq!(names(scratch.path()), expected);
}
