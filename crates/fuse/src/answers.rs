//! Answers in the policy of the protocol.

use std::time::{Duration, UNIX_EPOCH};

use coldpress_format::InodeKind;
use coldpress_mount::{Attributes, Failure, NodeId};
use fuser::{Errno, FileAttr, FileType, Generation, INodeNo};

/// How long the kernel may keep names and metadata: an image does not change.
pub(super) const FOREVER: Duration = Duration::from_hours(365 * 24);
/// Numbers are not given to other inodes while the kernel knows them.
pub(super) const GENERATION: Generation = Generation(0);

pub(super) fn errno(failure: Failure) -> Errno {
    match failure {
        Failure::NotFound => Errno::ENOENT,
        Failure::NameTooLong => Errno::ENAMETOOLONG,
        Failure::NotDirectory => Errno::ENOTDIR,
        Failure::IsDirectory => Errno::EISDIR,
        Failure::OtherType => Errno::EINVAL,
        Failure::NoAttribute => Errno::ENODATA,
        Failure::Unknown => Errno::ESTALE,
        Failure::Damaged | Failure::PutOff => Errno::EIO,
    }
}

pub(super) fn file_type(kind: InodeKind) -> FileType {
    match kind {
        InodeKind::Directory => FileType::Directory,
        InodeKind::File => FileType::RegularFile,
        InodeKind::Symlink => FileType::Symlink,
        InodeKind::BlockDevice => FileType::BlockDevice,
        InodeKind::CharDevice => FileType::CharDevice,
        InodeKind::Fifo => FileType::NamedPipe,
        InodeKind::Socket => FileType::Socket,
    }
}

/// * `read_bytes`: in how much at a time a file is best read.
pub(super) fn file_attr(attributes: &Attributes, read_bytes: u32) -> FileAttr {
    let time = UNIX_EPOCH + Duration::from_secs(attributes.mtime_s.into());
    FileAttr {
        ino: INodeNo(attributes.node.0),
        size: attributes.size_bytes,
        blocks: attributes.sectors,
        atime: time,
        mtime: time,
        ctime: time,
        crtime: time,
        kind: file_type(attributes.kind),
        perm: attributes.mode & 0o7777,
        nlink: attributes.link_count,
        uid: attributes.uid,
        gid: attributes.gid,
        rdev: attributes.device,
        blksize: read_bytes,
        flags: 0,
    }
}

/// Stands for an inode of which nothing but its type is known.
pub(super) fn blank_attr(node: NodeId, kind: InodeKind) -> FileAttr {
    let attributes = Attributes {
        node,
        kind,
        mode: 0,
        link_count: 1,
        uid: 0,
        gid: 0,
        size_bytes: 0,
        sectors: 0,
        mtime_s: 0,
        device: 0,
    };
    file_attr(&attributes, 0)
}
