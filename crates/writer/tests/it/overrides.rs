//! Metadata that replaces that of a tree on disk.

use std::fs::{self, File, Permissions};
use std::ops::ControlFlow;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::time::{Duration, UNIX_EPOCH};

use coldpress_layout::Node;
use coldpress_writer::{
    Error, FileContexts, Input, Mode, Overrides, Owners, Source, SourceOptions, Time, Times,
    Xattrs, gather,
};

/// A directory `d` (mode 2755, time 300), a file `d/f` (640, 200), a link `l`; the root has 700 and
/// 100.
fn tree() -> tempfile::TempDir {
    let tree = tempfile::tempdir().unwrap();
    let at = |path: &str| tree.path().join(path);
    fs::create_dir(at("d")).unwrap();
    fs::write(at("d/f"), "content").unwrap();
    symlink("d", at("l")).unwrap();
    for (path, mode, time_s) in [("d/f", 0o640, 200), ("d", 0o2755, 300), ("", 0o700, 100)] {
        fs::set_permissions(at(path), Permissions::from_mode(mode)).unwrap();
        let time = UNIX_EPOCH + Duration::from_secs(time_s);
        File::open(at(path)).unwrap().set_modified(time).unwrap();
    }
    tree
}

fn override_with(overrides: Overrides, latest_time_s: Option<u32>) -> Result<Source, Error> {
    let tree = tree();
    let options = SourceOptions {
        overrides,
        latest_time_s,
        ..SourceOptions::default()
    };
    let inputs = [Input::Directory(tree.path().to_path_buf())];
    gather(&inputs, &options, &mut |_| ControlFlow::Continue(()))
}

fn node<'a>(source: &'a Source, path: &str) -> &'a Node {
    &source.tree[source.tree.find(path.as_bytes()).unwrap()]
}

fn modes(overrides: Overrides) -> [u16; 4] {
    let source = override_with(overrides, None).unwrap();
    ["/", "/d", "/d/f", "/l"].map(|path| node(&source, path).mode)
}

#[test]
fn modes_change_by_kind_and_the_root_has_its_own() {
    let mode = |text: &str| Some(Mode::parse(text).unwrap());
    let own = [0o700, 0o2755, 0o640, 0o777];
    assert_eq!(modes(Overrides::default()), own);
    let overrides = Overrides {
        file_mode: mode("o=g,a-w"),
        root_mode: mode("755"),
        ..Overrides::default()
    };
    assert_eq!(modes(overrides), [0o755, 0o2755, 0o444, 0o555]);
    let overrides = Overrides {
        directory_mode: mode("g=u,g-s"),
        root_mode: mode("0"),
        ..Overrides::default()
    };
    assert_eq!(modes(overrides), [0o770, 0o775, 0o640, 0o777]);
}

#[test]
fn owners_are_forced_after_the_roots_own_and_then_moved() {
    let owners = Owners {
        uid: None,
        gid: Some(5),
        root_uid: Some(7),
        root_gid: Some(9),
        offset: 1000,
    };
    let found = |owners| {
        let overrides = Overrides {
            owners,
            ..Overrides::default()
        };
        let source = override_with(overrides, None)?;
        let root = node(&source, "/");
        Ok::<_, Error>(((root.uid, root.gid), node(&source, "/d/f").gid))
    };
    assert_eq!(found(owners.clone()).unwrap(), ((1007, 1005), 1005));
    let all_root = Owners {
        root_uid: Some(7),
        ..Owners::all_root()
    };
    assert_eq!(found(all_root).unwrap(), ((0, 0), 0));
    let too_far = Owners {
        offset: u32::MAX - 4,
        ..owners
    };
    assert!(matches!(found(too_far), Err(Error::Value { .. })));
}

#[test]
fn times_follow_the_precedence_of_mksquashfs() {
    let at = |time_s| Some(Time::At(time_s));
    let newest = Some(Time::Newest);
    // The link was made just now.
    let own = |times: Times, latest_s| {
        let overrides = Overrides {
            times: times.clone(),
            ..Overrides::default()
        };
        let source = override_with(overrides, latest_s).unwrap();
        let [root, directory] = ["/", "/d"].map(|path| node(&source, path).mtime_s);
        (root, directory, times.image_s(&source.tree, latest_s))
    };
    let times = |image, inodes, root| Times {
        image,
        inodes,
        root,
    };
    assert_eq!(own(times(None, at(50), at(60)), None), (50, 50, 50));
    assert_eq!(own(times(at(7), at(50), None), None), (50, 50, 7));
    assert_eq!(own(times(None, None, at(60)), Some(250)), (60, 250, 250));
    assert_eq!(own(times(None, None, at(600)), Some(250)), (250, 250, 250));
    assert_eq!(own(times(newest, newest, None), Some(250)), (250, 250, 250));
    assert_eq!(own(times(at(7), None, newest), Some(250)), (250, 250, 7));
    let (root, directory, image) = own(times(None, newest, None), None);
    assert!(root > 300 && root == directory && root == image);
    let (root, directory, image) = own(times(newest, None, newest), None);
    assert!(root > 300 && directory == 300 && root == image);

    assert!(times(at(1), None, None).check(Some(1)).is_err());
    assert!(times(None, at(1), None).check(Some(1)).is_err());
    assert!(times(newest, newest, at(1)).check(Some(1)).is_ok());
    assert!(times(at(1), at(1), None).check(None).is_ok());
}

#[test]
fn xattrs_are_added_where_they_may_be_and_labels_come_last() {
    let mut xattrs = Xattrs::default();
    xattrs.exclude("^security\\.selinux$").unwrap();
    xattrs.add(b"user.note=0thi\\000").unwrap();
    xattrs.add(b"security.selinux=everywhere").unwrap();
    let contexts = FileContexts::parse(b"/d(/.*)? -- file_t\n/d -d dir_t\n").unwrap();
    let overrides = Overrides {
        xattrs,
        contexts: Some(contexts),
        ..Overrides::default()
    };
    let source = override_with(overrides, None).unwrap();
    let found = |path| {
        let xattrs = node(&source, path).xattrs.iter();
        let xattrs = xattrs.map(|(name, value)| (name.as_slice(), value.as_slice()));
        xattrs.collect::<Vec<_>>()
    };
    let label = &b"security.selinux"[..];
    let note = (&b"user.note"[..], &b"hi\0"[..]);
    assert_eq!(found("/"), [(label, &b"everywhere"[..]), note]);
    assert_eq!(found("/d"), [(label, &b"dir_t\0"[..]), note]);
    assert_eq!(found("/d/f"), [(label, &b"file_t\0"[..]), note]);
    assert_eq!(found("/l"), [(label, &b"everywhere"[..])]);
}
