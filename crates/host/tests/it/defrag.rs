//! Files rewritten on a disk of the test's own, and those that are not.

use std::fs::{self, File};
use std::ops::ControlFlow;
use std::os::unix::fs::{FileExt, MetadataExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;

use coldpress_host::{
    Defragmented, Error, Janitor, NamedFile, Refusal, defragment, named_files, relink,
};
use rustix::fs::{
    FallocateFlags, Gid, IFlags, Mode, Timespec, Timestamps, Uid, XattrFlags, fallocate, futimens,
    ioctl_getflags, ioctl_setflags,
};

use crate::disk::{Disk, PIECE_BYTES, extents, run};

fn file(names: &[&Path]) -> NamedFile {
    let names: Vec<PathBuf> = names.iter().map(|name| name.to_path_buf()).collect();
    let (mut files, errors) = named_files(&names);
    assert!(errors.is_empty(), "{errors:?}");
    assert_eq!(files.len(), 1);
    files.remove(0)
}

fn defrag(names: &[&Path]) -> Result<Defragmented, Error> {
    let janitor = Janitor::start().unwrap();
    defragment(&file(names), false, &janitor, &mut |_| {
        ControlFlow::Continue(())
    })
}

fn refusal(names: &[&Path]) -> Refusal {
    match defrag(names) {
        Err(Error::Refused { why, .. }) => why,
        other => panic!("{other:?}"),
    }
}

/// Those that [`give_all`] gives, as they are.
fn xattrs(path: &Path) -> Vec<Vec<u8>> {
    let value = |name: &str| {
        let mut value = vec![0; 256];
        let len = rustix::fs::getxattr(path, name, &mut value[..]).unwrap();
        value[..len].to_vec()
    };
    ["user.note", "trusted.mark", "system.posix_acl_access"]
        .map(value)
        .to_vec()
}

/// Gives a file everything that a file can have.
fn give_all(file: &File) {
    rustix::fs::fchown(file, Some(Uid::from_raw(1234)), Some(Gid::from_raw(4321))).unwrap();
    rustix::fs::fchmod(file, Mode::from_raw_mode(0o4751)).unwrap();
    // rwx for the owner, rw- for user 7, r-x for the group and as the mask, --x for others.
    let acl =
        b"\x02\0\0\0\x01\0\x07\0\xff\xff\xff\xff\x02\0\x06\0\x07\0\0\0\x04\0\x05\0\xff\xff\xff\xff\
        \x10\0\x05\0\xff\xff\xff\xff\x20\0\x01\0\xff\xff\xff\xff";
    for (name, value) in [
        ("user.note", &b"a\0b"[..]),
        ("trusted.mark", b""),
        ("system.posix_acl_access", acl),
    ] {
        rustix::fs::fsetxattr(file, name, value, XattrFlags::empty()).unwrap();
    }
    ioctl_setflags(file, ioctl_getflags(file).unwrap() | IFlags::NODUMP).unwrap();
    let time = |tv_sec| Timespec {
        tv_sec,
        tv_nsec: 123_456_789,
    };
    let times = Timestamps {
        last_access: time(1_000),
        last_modification: time(2_000),
    };
    futimens(file, &times).unwrap();
}

/// Names in the directory of a file, the hidden ones too.
fn names_beside(path: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(path.parent().unwrap()).unwrap();
    let mut names: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    names.retain(|name| !name.ends_with("lost+found"));
    names.sort();
    names
}

#[test]
fn a_file_comes_into_one_extent_with_all_that_it_had() {
    let Some(disk) = Disk::new() else {
        return;
    };
    let (path, content) = disk.in_pieces("file", 64);
    let (link, size_bytes) = (disk.at("a link\n"), content.len() as u64);
    fs::hard_link(&path, &link).unwrap();
    let open = File::options().write(true).open(&path).unwrap();
    // A hole in the middle, and space for more behind the end.
    let hole = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
    fallocate(&open, hole, 5 * 4096, 3 * 4096).unwrap();
    fallocate(&open, FallocateFlags::KEEP_SIZE, size_bytes, 1 << 20).unwrap();
    let content = fs::read(&path).unwrap();
    give_all(&open);
    drop(open);
    let before = path.metadata().unwrap();
    let known = xattrs(&path);

    let done = defrag(&[&path, &link]).unwrap();
    let Defragmented::Rewritten {
        before: pieces,
        after,
    } = done
    else {
        panic!("{done:?}");
    };
    assert!(pieces.count > 30 && after.count == 1, "{done:?}");
    assert_eq!(extents(&path), after);
    assert_eq!(
        (after.hole_bytes, after.unwritten_bytes),
        (3 * 4096, 1 << 20)
    );
    assert_eq!(fs::read(&path).unwrap(), content);
    let after = path.metadata().unwrap();
    let facts = |it: &fs::Metadata| {
        (
            it.mode(),
            it.uid(),
            it.gid(),
            it.nlink(),
            it.mtime(),
            it.mtime_nsec(),
        )
    };
    assert_eq!(facts(&after), facts(&before));
    assert_ne!(after.ino(), before.ino());
    assert_eq!(link.metadata().unwrap().ino(), after.ino());
    assert_eq!(xattrs(&path), known);
    let flags = ioctl_getflags(File::open(&path).unwrap()).unwrap();
    assert!(flags.contains(IFlags::NODUMP), "{flags:?}");
    assert_eq!(names_beside(&path), [link, path.clone()]);
    // A second time there is nothing to do.
    assert!(matches!(
        defrag(&[&path, &names_beside(&path)[0]]),
        Ok(Defragmented::Whole(_))
    ));
}

#[test]
fn access_times_are_kept_although_the_file_is_read() {
    let Some(disk) = Disk::new() else {
        return;
    };
    let (path, _) = disk.in_pieces("file", 20);
    let time = Timespec {
        tv_sec: 77,
        tv_nsec: 5,
    };
    let times = Timestamps {
        last_access: time,
        last_modification: time,
    };
    futimens(File::open(&path).unwrap(), &times).unwrap();
    defrag(&[&path]).unwrap();
    let found = path.metadata().unwrap();
    assert_eq!((found.atime(), found.atime_nsec()), (77, 5));
}

#[test]
fn what_is_not_rewritten_is_named_with_the_reason() {
    let Some(disk) = Disk::new() else {
        return;
    };
    let (path, content) = disk.in_pieces("file", 20);
    symlink(&path, disk.at("symlink")).unwrap();
    run(Command::new("mkfifo").arg(disk.at("pipe")));
    fs::create_dir(disk.at("directory")).unwrap();
    for (name, kind) in [
        ("symlink", "symbolic link"),
        ("pipe", "pipe"),
        ("directory", "directory"),
    ] {
        assert_eq!(refusal(&[&disk.at(name)]), Refusal::NotAFile(kind));
    }
    assert_eq!(
        refusal(&[Path::new("/dev/null")]),
        Refusal::NotAFile("device")
    );
    fs::hard_link(&path, disk.at("link")).unwrap();
    assert_eq!(refusal(&[&path]), Refusal::OtherNames { given: 1, all: 2 });
    fs::remove_file(disk.at("link")).unwrap();
    let open = File::open(&path).unwrap();
    for flag in [IFlags::IMMUTABLE, IFlags::APPEND] {
        let flags = ioctl_getflags(&open).unwrap();
        ioctl_setflags(&open, flags | flag).unwrap();
        assert_eq!(refusal(&[&path]), Refusal::Immutable);
        ioctl_setflags(&open, flags).unwrap();
    }
    // This process itself.
    assert!(matches!(refusal(&[&path]), Refusal::InUse(_)));
    drop(open);
    assert_eq!(fs::read(&path).unwrap(), content);
    assert!(extents(&path).count > 10);
}

#[test]
fn a_file_that_another_process_has_open_is_refused_with_its_name() {
    let Some(disk) = Disk::new() else {
        return;
    };
    let (path, _) = disk.in_pieces("file", 20);
    let stdin = File::open(&path).unwrap();
    let mut child = Command::new("sleep")
        .arg("60")
        .stdin(stdin)
        .spawn()
        .unwrap();
    let Refusal::InUse(holders) = refusal(&[&path]) else {
        panic!("{:?}", refusal(&[&path]));
    };
    child.kill().unwrap();
    child.wait().unwrap();
    let found: Vec<_> = holders
        .iter()
        .map(|it| (it.pid, it.name.as_str()))
        .collect();
    assert_eq!(found, [(child.id(), "sleep")]);
    // A program that runs has no descriptor, only mappings.
    let program = disk.at("program");
    fs::copy("/bin/sleep", &program).unwrap();
    let mut child = Command::new(&program)
        .arg("60")
        .stdin(Stdio::null())
        .spawn()
        .unwrap();
    let why = refusal(&[&program]);
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(
        matches!(&why, Refusal::InUse(holders) if holders[0].name == "program"),
        "{why:?}"
    );
}

#[test]
fn who_opens_the_file_meanwhile_gets_the_old_one_and_loses_nothing() {
    let Some(disk) = Disk::new() else {
        return;
    };
    let (path, mut content) = disk.in_pieces("file", 200);
    let inode = path.metadata().unwrap().ino();
    let janitor = Janitor::start().unwrap();
    let mut writer = None;
    let done = defragment(&file(&[&path]), false, &janitor, &mut |_| {
        let path = path.clone();
        // It waits in the kernel until the file is given up. Whether it waits already does not
        // matter.
        writer.get_or_insert_with(|| {
            thread::spawn(move || {
                let file = File::options().write(true).open(path).unwrap();
                file.write_all_at(b"new", 0).unwrap();
            })
        });
        thread::sleep(std::time::Duration::from_millis(20));
        ControlFlow::Continue(())
    });
    writer.unwrap().join().unwrap();
    assert!(
        matches!(
            &done,
            Err(Error::Refused {
                why: Refusal::Opened,
                ..
            })
        ),
        "{done:?}"
    );
    content[..3].copy_from_slice(b"new");
    assert_eq!(fs::read(&path).unwrap(), content);
    assert_eq!(path.metadata().unwrap().ino(), inode);
    assert_eq!(names_beside(&path), [path]);
}

#[test]
fn whoever_stops_it_finds_everything_as_it_was() {
    let Some(disk) = Disk::new() else {
        return;
    };
    let (path, content) = disk.in_pieces("file", 200);
    let janitor = Janitor::start().unwrap();
    for after in 0..8 {
        let mut calls = 0;
        let done = defragment(&file(&[&path]), false, &janitor, &mut |_| {
            calls += 1;
            if calls > after {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        });
        assert!(matches!(done, Err(Error::Stopped)), "{after}: {done:?}");
        assert_eq!(fs::read(&path).unwrap(), content);
        assert_eq!(names_beside(&path), std::slice::from_ref(&path));
    }
}

#[test]
fn without_space_or_a_better_place_the_file_stays() {
    let Some(disk) = Disk::new() else {
        return;
    };
    let (path, content) = disk.in_pieces("file", 20);
    let filler = disk.fill();
    let error = defrag(&[&path]).unwrap_err();
    let Error::Io { source, .. } = &error else {
        panic!("{error}");
    };
    assert_eq!(source.kind(), std::io::ErrorKind::StorageFull, "{error}");
    // What was reserved for the copy is free with the next commit.
    rustix::fs::syncfs(&filler).unwrap();
    // Every second block, so that a copy lies worse.
    let punch = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
    for index in 0..1000 {
        fallocate(&filler, punch, index * 2 * 4096, 4096).unwrap();
    }
    filler.sync_all().unwrap();
    let inode = path.metadata().unwrap().ino();
    let done = defrag(&[&path]).unwrap();
    let Defragmented::NoBetter { before, copy } = done else {
        panic!("{done:?}");
    };
    assert!(copy.count >= before.count, "{done:?}");
    assert_eq!(fs::read(&path).unwrap(), content);
    assert_eq!(path.metadata().unwrap().ino(), inode);
    assert!(content.len() > PIECE_BYTES);
}

#[test]
fn a_journal_that_somebody_made_up_moves_nothing() {
    let Some(disk) = Disk::new() else {
        return;
    };
    let [one, other] = ["one", "other"].map(|name| disk.at(name));
    fs::write(&one, "secret").unwrap();
    fs::write(&other, "planted").unwrap();
    let inode = |path: &Path| path.metadata().unwrap().ino();
    let (device, old, new) = (one.metadata().unwrap().dev(), inode(&one), inode(&other));
    let names = [&other, &one]
        .map(|name| format!("{}\0", name.display()))
        .concat();
    let journal = disk.at(".other.coldpress-links");
    fs::write(
        &journal,
        format!("coldpress-links 1\0{device}\0{old}\0{new}\0{names}"),
    )
    .unwrap();
    let janitor = Janitor::start().unwrap();
    // Others could have written it.
    assert_eq!(relink(&other, &janitor).unwrap(), 0);
    fs::set_permissions(
        &journal,
        std::os::unix::fs::PermissionsExt::from_mode(0o600),
    )
    .unwrap();
    let error = relink(&other, &janitor).unwrap_err();
    assert!(
        matches!(
            error,
            Error::Refused {
                why: Refusal::Diverged,
                ..
            }
        ),
        "{error}"
    );
    assert_eq!(inode(&one), old);
    // Of the same content, it is believed.
    fs::write(&other, "secret").unwrap();
    assert_eq!(relink(&other, &janitor).unwrap(), 1);
    assert_eq!(inode(&one), new);
    assert!(!journal.exists());
    assert_eq!(relink(&other, &janitor).unwrap(), 0);
}
