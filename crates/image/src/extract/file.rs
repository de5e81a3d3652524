//! Writing the content of regular files.
//!
//! Work is ordered by position in the image, so that a disk is read once from front to back, and
//! comes in three kinds of jobs: some small files, a piece of a large one, or a fragment block with
//! all the tail ends in it, which is thus decompressed once. Workers read, decompress and write; a
//! file that several jobs write to is created when the first of them is given out and gets its
//! attributes when the last is done, both by the calling thread.

use std::fs::File;
use std::num::NonZeroUsize;
use std::ops::{ControlFlow, Range};
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;

use coldpress_codec::{Workers, ordered};
use coldpress_format::{Body, Inode, Part};

use super::jobs::{Job, Jobs, Limits, Parts, Plan};
use super::metadata::{Target, restore};
use super::tree::{FileNode, Tree};
use super::{Extracted, NotRestored};
use crate::error::Error;
use crate::file::{DataBlock, data_blocks, tail_bytes};

/// Jobs that may be given out for each thread. They are lists of positions and hold no content.
const JOBS_PER_THREAD: NonZeroUsize = NonZeroUsize::MIN.saturating_add(7);

/// Writes all files of a tree.
pub(super) fn write_files(
    tree: &Tree,
    extracted: &mut Extracted,
    progress: &mut dyn FnMut(u64) -> ControlFlow<()>,
) -> Result<(), Error> {
    let block_bytes = tree.image.superblock().block_size.bytes();
    let limits = Limits::new(tree.options.threads, tree.options.memory_bytes, block_bytes);
    let workers = Workers {
        threads: limits.threads,
        window: limits.threads.saturating_mul(JOBS_PER_THREAD),
    };
    let mut plan = Plan::new(tree)?;
    let tails = plan.tails.clone();
    let parts = Parts::default();
    let jobs = Jobs::new(tree, &mut plan, limits, &parts);
    let writer = Writer {
        tree,
        tails: &tails,
    };
    let written = ordered(
        jobs,
        &workers,
        || Ok(Buffers::default()),
        |buffers, job| writer.run(buffers, job),
        |done| {
            extracted.bytes += done.bytes;
            extracted.not_restored.extend(done.not_restored);
            for file in done.parts {
                let mut parts = parts.borrow_mut();
                let left = parts.get_mut(&file);
                if left.is_some_and(|left| {
                    *left = left.saturating_sub(1);
                    *left == 0
                }) {
                    writer.finish(file, &mut extracted.not_restored)?;
                }
            }
            match progress(extracted.bytes) {
                ControlFlow::Continue(()) => Ok(()),
                ControlFlow::Break(()) => Err(Error::Interrupted),
            }
        },
    );
    if written.is_err() {
        // All have their full length by now: nobody could tell that content is missing.
        let unfinished = parts.take().into_iter().filter(|(_, left)| *left > 0);
        unfinished.for_each(|(file, _)| writer.discard(file));
    }
    written
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
    /// Bytes of content written, holes included.
    bytes: u64,
    /// Files of which it wrote one of several parts.
    parts: Vec<usize>,
    not_restored: Vec<NotRestored>,
}

struct Writer<'a> {
    tree: &'a Tree<'a>,
    tails: &'a [usize],
}

impl Writer<'_> {
    fn run(&self, buffers: &mut Buffers, job: Job) -> Result<Done, Error> {
        let mut done = Done::default();
        match job {
            Job::Files(files) => {
                for file in files {
                    self.write_whole(buffers, file, &mut done)?;
                }
            }
            Job::Chunk(file, blocks) => {
                if let Some(node) = self.tree.files.get(file) {
                    let opened = self
                        .tree
                        .destination
                        .reopen_file(node.directory, &node.name)?;
                    self.write_blocks(buffers, node, &opened, &blocks, &mut done)?;
                    done.parts.push(file);
                }
            }
            Job::Fragment(number, range) => {
                self.write_tails(buffers, number, range, &mut done)?;
            }
        }
        Ok(done)
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
        let created = self
            .tree
            .destination
            .create_file(node.directory, &node.name)?;
        let written = self.write_content(buffers, node, &created, &inode, done);
        written.inspect_err(|_| self.discard(file))?;
        self.restore(node, &created, &inode, &mut done.not_restored)
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
        image
            .store
            .read_exact(input, first.start)
            .map_err(in_file)?;
        let len = usize::try_from(len).unwrap_or(0);
        if output.len() < len {
            output.resize(len, 0);
        }
        let write = |bytes: &[u8], offset| {
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
            let room = output.get_mut(run_len..run_len + len).unwrap_or_default();
            image
                .decode_data_block(block, bytes, room)
                .map_err(in_file)?;
            run_len += len;
        }
        write(output.get(..run_len).unwrap_or_default(), run_start)
    }

    /// Writes the tail ends that lie in a fragment block.
    fn write_tails(
        &self,
        buffers: &mut Buffers,
        number: u32,
        range: Range<usize>,
        done: &mut Done,
    ) -> Result<(), Error> {
        let image = self.tree.image;
        let block_size = image.superblock().block_size;
        let files = self.tails.get(range).unwrap_or_default();
        let nodes = files
            .iter()
            .filter_map(|file| Some((*file, self.tree.files.get(*file)?)));
        let index = usize::try_from(number).unwrap_or(usize::MAX);
        let Some(fragment) = image.fragments().get(index) else {
            return Ok(());
        };
        let Buffers { input, output } = buffers;
        image
            .read_fragment(fragment, input, output)
            .map_err(|error| {
                let path = nodes.clone().next().map(|(_, node)| self.image_path(node));
                error.in_file(&path.unwrap_or_default())
            })?;
        for (file, node) in nodes {
            let Some(tail) = node.tail else { continue };
            let len = u64::from(block_size.tail_bytes(node.size_bytes));
            let bytes = tail_bytes(
                output,
                tail,
                usize::try_from(len).unwrap_or(0),
                fragment.start,
            );
            let bytes =
                bytes.map_err(|error| Error::from(error).in_file(&self.image_path(node)))?;
            let write = |opened: &File| {
                let written = opened.write_all_at(bytes, node.size_bytes - len);
                written.map_err(|error| self.write_error("write", node, error))
            };
            done.bytes += len;
            let destination = &self.tree.destination;
            if node.block_count == 0 {
                let created = destination.create_file(node.directory, &node.name)?;
                write(&created).inspect_err(|_| self.discard(file))?;
                let inode = self.inode(node)?;
                self.restore(node, &created, &inode, &mut done.not_restored)?;
            } else {
                write(&destination.reopen_file(node.directory, &node.name)?)?;
                done.parts.push(file);
            }
        }
        Ok(())
    }

    /// Restores the attributes of a file that several jobs wrote to.
    fn finish(&self, file: usize, not_restored: &mut Vec<NotRestored>) -> Result<(), Error> {
        let Some(node) = self.tree.files.get(file) else {
            return Ok(());
        };
        let opened = self
            .tree
            .destination
            .reopen_file(node.directory, &node.name)?;
        self.restore(node, &opened, &self.inode(node)?, not_restored)
    }

    /// Removes a file that lacks content.
    fn discard(&self, file: usize) {
        if let Some(node) = self.tree.files.get(file) {
            let destination = &self.tree.destination;
            destination.discard_file(node.directory, &node.name);
        }
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
        let (image, options) = (self.tree.image, self.tree.options);
        let path = || self.tree.destination.path(node.directory, &node.name);
        restore(
            image,
            options,
            Target::Open(file.as_fd()),
            inode,
            &path,
            not_restored,
        )
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
