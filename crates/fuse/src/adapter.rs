//! The requests of the kernel, one by one.

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::sync::Arc;
use std::time::Duration;

use coldpress_format::{InodeKind, NAME_MAX_BYTES};
use coldpress_mount::{Directory, Failure, FileSystem, Name, NodeId, ReadReason, Recorder};
use fuser::{
    Errno, FileHandle, Filesystem, FopenFlags, INodeNo, KernelConfig, LockOwner, OpenFlags,
    ReplyAttr, ReplyData, ReplyDirectory, ReplyDirectoryPlus, ReplyEntry, ReplyOpen, ReplyStatfs,
    ReplyXattr, Request,
};

use rustix::fs::OFlags;

use crate::activity::Activity;
use crate::answers::{FOREVER, GENERATION, blank_attr, errno, file_attr, file_type};
use crate::connection::{Agreed, agree};

/// What the kernel asks for if a program needs it and it was not read ahead.
const PAGE_BYTES: u32 = 4096;

/// What the kernel's `SquashFS` says is the best length of a read. Programs take it for the length
/// of their buffers (Python does), so with more than that, a recording sees pages that a start from
/// the kernel's mount does not ask for.
const KERNEL_READ_BYTES: u32 = 1024;

/// Puts the file system behind the protocol.
#[derive(Debug)]
pub(super) struct Adapter {
    file_system: Arc<FileSystem>,
    activity: Arc<Activity>,
    recorder: Option<Arc<Recorder>>,
    agreed: Agreed,
    /// What is said of a file to be the best length of a read.
    read_bytes: u32,
}

impl Adapter {
    pub(super) fn new(
        file_system: Arc<FileSystem>,
        activity: Arc<Activity>,
        recorder: Option<Arc<Recorder>>,
    ) -> Self {
        let read_bytes = match recorder {
            Some(_) => KERNEL_READ_BYTES,
            None => file_system.volume().block_bytes,
        };
        Self {
            read_bytes,
            file_system,
            activity,
            recorder,
            agreed: Agreed::default(),
        }
    }

    /// Lets a recording see an access to an inode.
    fn record(&self, node: INodeNo, see: impl FnOnce(&Recorder, u32)) {
        if let Some(recorder) = &self.recorder
            && let Some(number) = self.file_system.number(NodeId(node.0))
        {
            see(recorder, number);
        }
    }

    /// A name with metadata, by which the kernel then knows the inode; `true` if there is no room.
    fn add_known(
        &self,
        reply: &mut ReplyDirectoryPlus,
        directory: &Directory,
        (name, index, kind): (&[u8], usize, InodeKind),
        next: u64,
    ) -> bool {
        let name = OsStr::from_bytes(name);
        match self.file_system.learn(directory, index) {
            Ok(attributes) => {
                let attr = file_attr(&attributes, self.read_bytes);
                let is_full = reply.add(attr.ino, next, name, &FOREVER, &attr, GENERATION);
                if is_full {
                    self.file_system.forget(attributes.node, 1);
                }
                is_full
            }
            // The name is there. Who asks for more is to ask again, and learns why it cannot be
            // had.
            Err(_) => match self.file_system.shown(directory, index) {
                Ok(node) => {
                    let attr = blank_attr(node, kind);
                    reply.add(attr.ino, next, name, &Duration::ZERO, &attr, GENERATION)
                }
                Err(_) => false,
            },
        }
    }
}

impl Filesystem for Adapter {
    fn init(&mut self, _: &Request, kernel: &mut KernelConfig) -> io::Result<()> {
        self.agreed = agree(kernel, self.recorder.is_some());
        Ok(())
    }

    fn lookup(&self, request: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        self.activity.note();
        self.record(parent, |recorder, number| {
            recorder.listed(request.pid(), number);
        });
        let found = self.file_system.lookup(NodeId(parent.0), name.as_bytes());
        match found {
            Ok(attributes) => {
                let attr = file_attr(&attributes, self.read_bytes);
                self.record(attr.ino, |recorder, number| {
                    recorder.looked_up(request.pid(), number);
                });
                reply.entry(&FOREVER, &attr, GENERATION);
            }
            // An inode 0 says that there is none, for as long as names are kept.
            Err(Failure::NotFound) => {
                self.record(parent, |recorder, number| {
                    recorder.searched_in_vain(request.pid(), number);
                });
                let none = blank_attr(NodeId(0), InodeKind::File);
                reply.entry(&FOREVER, &none, GENERATION);
            }
            Err(failure) => reply.error(errno(failure)),
        }
    }

    fn forget(&self, _: &Request, node: INodeNo, lookups: u64) {
        self.file_system.forget(NodeId(node.0), lookups);
    }

    fn getattr(&self, _: &Request, node: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        self.activity.note();
        match self.file_system.attributes(NodeId(node.0)) {
            Ok(attributes) => reply.attr(&FOREVER, &file_attr(&attributes, self.read_bytes)),
            Err(failure) => reply.error(errno(failure)),
        }
    }

    fn readlink(&self, _: &Request, node: INodeNo, reply: ReplyData) {
        self.activity.note();
        match self.file_system.target(NodeId(node.0)) {
            Ok(target) => reply.data(&target),
            Err(failure) => reply.error(errno(failure)),
        }
    }

    fn open(&self, _: &Request, _: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        self.activity.note();
        if self.agreed.opens_files {
            reply.error(Errno::ENOSYS);
        } else {
            reply.opened(FileHandle(0), FopenFlags::FOPEN_KEEP_CACHE);
        }
    }

    fn read(
        &self,
        request: &Request,
        node: INodeNo,
        _: FileHandle,
        offset: u64,
        size: u32,
        flags: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        self.activity.note();
        // More than a page is asked for ahead of a program, or by one that goes past the page
        // cache.
        let is_direct = flags.0.cast_unsigned() & OFlags::DIRECT.bits() != 0;
        let is_around = size > PAGE_BYTES && !is_direct;
        let reason = if is_around && self.recorder.is_none() {
            ReadReason::Around
        } else {
            ReadReason::Needed
        };
        let read = self
            .file_system
            .read_for(NodeId(node.0), offset, size, reason);
        match read {
            Ok(content) => {
                let bytes = content.bytes();
                self.record(node, |recorder, number| {
                    recorder.read(request.pid(), number, offset, bytes.len() as u64);
                });
                reply.data(bytes);
            }
            Err(failure) => reply.error(errno(failure)),
        }
    }

    fn opendir(&self, _: &Request, _: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        self.activity.note();
        if self.agreed.opens_directories {
            reply.error(Errno::ENOSYS);
        } else {
            let kept = FopenFlags::FOPEN_KEEP_CACHE | FopenFlags::FOPEN_CACHE_DIR;
            reply.opened(FileHandle(0), kept);
        }
    }

    fn readdir(
        &self,
        request: &Request,
        node: INodeNo,
        _: FileHandle,
        place: u64,
        mut reply: ReplyDirectory,
    ) {
        self.activity.note();
        self.record(node, |recorder, number| {
            recorder.listed(request.pid(), number);
        });
        let directory = match self.file_system.directory(NodeId(node.0)) {
            Ok(directory) => directory,
            Err(failure) => return reply.error(errno(failure)),
        };
        for (name, next) in directory.names_from(place) {
            let (name, node, kind) = match name {
                Name::Itself(node) => (&b"."[..], node, InodeKind::Directory),
                Name::Parent(node) => (&b".."[..], node, InodeKind::Directory),
                Name::Stored { name, index, kind } => {
                    let shown = self.file_system.shown(&directory, index);
                    (name, shown.unwrap_or(NodeId::ROOT), kind)
                }
            };
            let name = OsStr::from_bytes(name);
            if reply.add(INodeNo(node.0), next, file_type(kind), name) {
                break;
            }
        }
        reply.ok();
    }

    fn readdirplus(
        &self,
        _: &Request,
        node: INodeNo,
        _: FileHandle,
        place: u64,
        mut reply: ReplyDirectoryPlus,
    ) {
        self.activity.note();
        let directory = match self.file_system.directory(NodeId(node.0)) {
            Ok(directory) => directory,
            Err(failure) => return reply.error(errno(failure)),
        };
        for (name, next) in directory.names_from(place) {
            // The kernel takes these two as names only.
            let mut add_dots = |name, node| {
                let attr = blank_attr(node, InodeKind::Directory);
                reply.add(attr.ino, next, name, &Duration::ZERO, &attr, GENERATION)
            };
            let is_full = match name {
                Name::Itself(node) => add_dots(".", node),
                Name::Parent(node) => add_dots("..", node),
                Name::Stored { name, index, kind } => {
                    self.add_known(&mut reply, &directory, (name, index, kind), next)
                }
            };
            if is_full {
                break;
            }
        }
        reply.ok();
    }

    fn statfs(&self, _: &Request, _: INodeNo, reply: ReplyStatfs) {
        let volume = self.file_system.volume();
        let name_bytes = u32::try_from(NAME_MAX_BYTES).unwrap_or(u32::MAX);
        let block_bytes = volume.block_bytes;
        reply.statfs(
            volume.blocks,
            0,
            0,
            volume.inodes,
            0,
            block_bytes,
            name_bytes,
            block_bytes,
        );
    }

    fn getxattr(&self, _: &Request, node: INodeNo, name: &OsStr, size: u32, reply: ReplyXattr) {
        self.activity.note();
        let value = self.file_system.xattr(NodeId(node.0), name.as_bytes());
        answer_xattr(value, size, reply);
    }

    fn listxattr(&self, request: &Request, node: INodeNo, size: u32, reply: ReplyXattr) {
        self.activity.note();
        let is_root = request.uid() == 0;
        let names = self.file_system.xattr_names(NodeId(node.0), is_root);
        answer_xattr(names, size, reply);
    }
}

/// A value, its length if no room is offered, or that the room is too small.
fn answer_xattr(value: Result<Vec<u8>, Failure>, room_bytes: u32, reply: ReplyXattr) {
    let value = match value {
        Ok(value) => value,
        Err(failure) => return reply.error(errno(failure)),
    };
    match u32::try_from(value.len()) {
        Ok(len) if room_bytes == 0 => reply.size(len),
        Ok(len) if len <= room_bytes => reply.data(&value),
        _ => reply.error(Errno::ERANGE),
    }
}
