//! Writing the content of regular files.
//!
//! Work is ordered by position in the image, so that a disk is read once from front to back, and
//! comes in three kinds of jobs: some small files, a piece of a large one, or a fragment block with
//! all the tail ends in it, which is thus decompressed once. Workers read, decompress and write; a
//! file that several jobs write to is created when the first of them is given out and gets its
//! attributes when the last is done, both by the calling thread.

mod tails;

use std::collections::HashSet;
use std::fs::File;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;

use coldpress_codec::{Work, Workers, ordered};
use coldpress_format::{Body, Inode, Part};

use super::jobs::{Job, Jobs, Limits, Plan};
use super::metadata::{Target, first_mode};
use super::parts::Parts;
use super::tree::{FileNode, Tree};
use super::{ExtractOptions, Extracted, NotRestored};
use crate::error::Error;
use crate::file::{DataBlock, data_blocks};

/// Jobs that may be given out for each thread. They are lists of positions and hold no content.
const JOBS_PER_THREAD: NonZeroUsize = NonZeroUsize::MIN.saturating_add(7);

/// Writes all files of a tree; returns those that were left out.
pub(super) fn write_files(
    tree: &Tree,
    options: &ExtractOptions,
    extracted: &mut Extracted,
    progress: &mut dyn FnMut(u64) -> ControlFlow<()>,
) -> Result<HashSet<usize>, Error> {
    let block_bytes = tree.image.superblock().block_size.bytes();
    let limits = Limits::new(options.threads, options.memory_bytes, block_bytes);
    let workers = Workers {
        threads: limits.threads,
        window: limits.threads.saturating_mul(JOBS_PER_THREAD),
    };
    let parts = Parts::default();
    let mut plan = Plan::new(tree, &mut |file, error| parts.leave_out(tree, file, error))?;
    let jobs = Jobs::new(tree, &mut plan, limits, &parts);
    let writer = Writer { tree };
    let written = ordered(
        jobs,
        &workers,
        || Ok(Buffers::default()),
        |buffers, job| writer.run(buffers, job),
        |done| {
            writer.take(done, &parts, extracted)?;
            match progress(extracted.bytes) {
                ControlFlow::Continue(()) => Ok(()),
                ControlFlow::Break(()) => Err(Error::Interrupted),
            }
        },
    );
    for error in parts.take_errors() {
        extracted.note_left_out(error);
    }
    let (unfinished, left_out) = parts.into_ends();
    // All have their full length by now: nobody could tell that content is missing.
    for file in unfinished {
        writer.discard(file);
    }
    written.map(|()| left_out)
}

/// Compressed and decompressed bytes of a worker.
#[derive(Default)]
struct Buffers {
    input: Vec<u8>,
    output: Vec<u8>,
}

/// What a job did.
#[derive(Default)]
struct Done {
    /// Files written whole.
    files: u64,
    /// Bytes of content written, holes included.
    bytes: u64,
    /// Files of which it wrote one of several parts.
    parts: Vec<usize>,
    /// Files that could not be written.
    failed: Vec<(usize, Error)>,
    not_restored: Vec<NotRestored>,
}

struct Writer<'a> {
    tree: &'a Tree<'a>,
}

impl Writer<'_> {
    fn run(&self, buffers: &mut Buffers, job: Job) -> Result<Done, Error> {
        let mut done = Done::default();
        match job {
            Job::Files(files) => {
                for file in files {
                    let written = self.write_whole(buffers, file, &mut done);
                    self.settle(file, written, &mut done)?;
                }
            }
            Job::Chunk(file, blocks) => {
                let written = self.write_chunk(buffers, file, &blocks, &mut done);
                self.settle(file, written, &mut done)?;
                done.parts.push(file);
            }
            Job::Fragment(number, files) => {
                self.write_tails(buffers, number, &files, &mut done)?;
            }
        }
        Ok(done)
    }

    /// Keeps the error of a file for later if the extraction goes on in spite of it.
    fn settle(
        &self,
        file: usize,
        written: Result<(), Error>,
        done: &mut Done,
    ) -> Result<(), Error> {
        match written {
            Err(error) if self.tree.keep_going => done.failed.push((file, error)),
            written => return written,
        }
        Ok(())
    }

    /// Takes over what a job did, and completes the files whose last part it wrote.
    fn take(&self, done: Done, parts: &Parts, extracted: &mut Extracted) -> Result<(), Error> {
        extracted.files += done.files;
        extracted.bytes += done.bytes;
        extracted.note_not_restored(done.not_restored);
        for (file, error) in done.failed {
            parts.leave_out(self.tree, file, error)?;
        }
        for file in done.parts.into_iter().filter(|file| parts.end_one(*file)) {
            if parts.is_left_out(file) {
                self.discard(file);
                continue;
            }
            match self.finish(file, extracted) {
                Ok(()) => extracted.files += 1,
                Err(error) => {
                    self.discard(file);
                    parts.leave_out(self.tree, file, error)?;
                }
            }
        }
        for error in parts.take_errors() {
            extracted.note_left_out(error);
        }
        Ok(())
    }

    fn write_chunk(
        &self,
        buffers: &mut Buffers,
        file: usize,
        blocks: &[DataBlock],
        done: &mut Done,
    ) -> Result<(), Error> {
        let Some(node) = self.tree.files.get(file) else {
            return Ok(());
        };
        let destination = &self.tree.destination;
        let opened = destination.reopen_file(node.directory, &node.name)?;
        self.write_blocks(buffers, node, &opened, blocks, done)
    }

    /// Writes a file that no other job writes to.
    fn write_whole(
        &self,
        buffers: &mut Buffers,
        file: usize,
        done: &mut Done,
    ) -> Result<(), Error> {
        let Some(node) = self.tree.files.get(file) else {
            return Ok(());
        };
        let inode = self.inode(node)?;
        let created = self.create(node, &inode)?;
        let written = self.write_content(buffers, node, &created, &inode, done);
        written
            .and_then(|()| self.restore(node, &created, &inode, &mut done.not_restored))
            .inspect_err(|_| self.discard(file))?;
        done.files += 1;
        Ok(())
    }

    /// Creates a file that one job writes whole.
    fn create(&self, node: &FileNode, inode: &Inode) -> Result<File, Error> {
        let _busy = self.tree.busy(Work::Open);
        let mode = first_mode(inode);
        let destination = &self.tree.destination;
        destination.create_file(node.directory, &node.name, mode)
    }

    /// Writes all data blocks of a file that was just created.
    fn write_content(
        &self,
        buffers: &mut Buffers,
        node: &FileNode,
        created: &File,
        inode: &Inode,
        done: &mut Done,
    ) -> Result<(), Error> {
        let Body::File(file) = &inode.body else {
            return Ok(());
        };
        let block_size = self.tree.image.superblock().block_size;
        let blocks: Vec<_> = data_blocks(file, block_size).collect();
        if blocks.last().is_some_and(|block| block.word.is_sparse()) {
            let set = created.set_len(file.size_bytes);
            set.map_err(|error| self.write_error("set the length of", node, error))?;
        }
        self.write_blocks(buffers, node, created, &blocks, done)
    }

    /// Writes neighboring data blocks, passing over holes.
    fn write_blocks(
        &self,
        buffers: &mut Buffers,
        node: &FileNode,
        file: &File,
        blocks: &[DataBlock],
        done: &mut Done,
    ) -> Result<(), Error> {
        let Buffers { input, output } = buffers;
        let size: u64 = blocks
            .iter()
            .map(|block| u64::from(block.word.size_bytes()))
            .sum();
        let len: u64 = blocks.iter().map(|block| u64::from(block.len)).sum();
        done.bytes += len;
        let Some(first) = blocks.first().filter(|_| size > 0) else {
            return Ok(());
        };
        let in_file = |error: Error| error.in_file(&self.image_path(node));
        let image = self.tree.image;
        let checked = image.data_area().check(Part::DataBlock, first.start, size);
        checked.map_err(|corrupt| in_file(corrupt.into()))?;
        input.resize(usize::try_from(size).unwrap_or(0), 0);
        let busy = self.tree.busy(Work::Read);
        let read = image.store.read_exact(input, first.start);
        read.map_err(in_file)?;
        drop(busy);
        let len = usize::try_from(len).unwrap_or(0);
        if output.len() < len {
            output.resize(len, 0);
        }
        let write = |bytes: &[u8], offset| {
            let _busy = self.tree.busy(Work::Write);
            let written = file.write_all_at(bytes, offset);
            written.map_err(|error| self.write_error("write", node, error))
        };
        let mut rest = input.as_slice();
        let (mut run_start, mut run_len) = (first.offset, 0);
        for block in blocks {
            let size = usize::try_from(block.word.size_bytes()).unwrap_or(0);
            let len = usize::try_from(block.len).unwrap_or(0);
            let (bytes, after) = rest.split_at_checked(size).unwrap_or_default();
            rest = after;
            if block.word.is_sparse() {
                write(output.get(..run_len).unwrap_or_default(), run_start)?;
                run_start = block.offset.saturating_add(block.len.into());
                run_len = 0;
                continue;
            }
            let _busy = self.tree.busy(Work::Decompress);
            let room = output.get_mut(run_len..run_len + len).unwrap_or_default();
            image
                .decode_data_block(block, bytes, room)
                .map_err(in_file)?;
            run_len += len;
        }
        write(output.get(..run_len).unwrap_or_default(), run_start)
    }

    /// Restores the attributes of a file that several jobs wrote to.
    fn finish(&self, file: usize, extracted: &mut Extracted) -> Result<(), Error> {
        let Some(node) = self.tree.files.get(file) else {
            return Ok(());
        };
        let opened = self
            .tree
            .destination
            .reopen_file(node.directory, &node.name)?;
        let mut lacks = Vec::new();
        self.restore(node, &opened, &self.inode_head(node)?, &mut lacks)?;
        extracted.note_not_restored(lacks);
        Ok(())
    }

    /// Removes a file that lacks content.
    fn discard(&self, file: usize) {
        if let Some(node) = self.tree.files.get(file) {
            let destination = &self.tree.destination;
            destination.discard_file(node.directory, &node.name);
        }
    }

    fn inode_head(&self, node: &FileNode) -> Result<Inode, Error> {
        let inode = self.tree.image.inode_head(node.at);
        inode.map_err(|error| error.in_file(&self.image_path(node)))
    }

    fn inode(&self, node: &FileNode) -> Result<Inode, Error> {
        let inode = self.tree.image.inode(node.at);
        inode.map_err(|error| error.in_file(&self.image_path(node)))
    }

    fn restore(
        &self,
        node: &FileNode,
        file: &File,
        inode: &Inode,
        not_restored: &mut Vec<NotRestored>,
    ) -> Result<(), Error> {
        let path = || self.tree.destination.path(node.directory, &node.name);
        let _busy = self.tree.busy(Work::Metadata);
        self.tree
            .restoring
            .restore(Target::Open(file.as_fd()), inode, &path, not_restored)
            .map_err(|error| error.in_file(&self.image_path(node)))
    }

    fn image_path(&self, node: &FileNode) -> Vec<u8> {
        self.tree.destination.image_path(node.directory, &node.name)
    }

    fn write_error(&self, action: &'static str, node: &FileNode, error: std::io::Error) -> Error {
        self.tree
            .destination
            .error(action, node.directory, &node.name, error)
    }
}
