//! Writing tail ends, all those of a fragment block at once.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use coldpress_codec::Work;

use super::{Buffers, Done, Writer};
use crate::error::Error;
use crate::extract::tree::FileNode;
use crate::file::tail_bytes;

impl Writer<'_> {
    /// Writes the tail ends that lie in a fragment block.
    pub(super) fn write_tails(
        &self,
        buffers: &mut Buffers,
        number: u32,
        files: &[usize],
        done: &mut Done,
    ) -> Result<(), Error> {
        let image = self.tree.image;
        let nodes = files
            .iter()
            .filter_map(|file| Some((*file, self.tree.files.get(*file)?)));
        let index = usize::try_from(number).unwrap_or(usize::MAX);
        let Some(fragment) = image.fragments().get(index) else {
            return Ok(());
        };
        let Buffers { input, output } = buffers;
        let busy = self.tree.busy(Work::Decompress);
        let read = image.read_fragment(fragment, input, output);
        drop(busy);
        for (file, node) in nodes {
            let written = match &read {
                Ok(()) => self.write_tail(file, node, (fragment.start, output), done),
                Err(error) => Err(once_more(error).in_file(&self.image_path(node))),
            };
            self.settle(file, written, done)?;
            if node.block_count > 0 {
                done.parts.push(file);
            }
        }
        Ok(())
    }

    /// Writes the tail end of a file, which is the whole file if that has no data blocks.
    ///
    /// * `start`, `block`: image byte and content of the fragment block.
    fn write_tail(
        &self,
        file: usize,
        node: &FileNode,
        (start, block): (u64, &[u8]),
        done: &mut Done,
    ) -> Result<(), Error> {
        let Some(tail) = node.tail else {
            return Ok(());
        };
        let block_size = self.tree.image.superblock().block_size;
        let len = u64::from(block_size.tail_bytes(node.size_bytes));
        let bytes = tail_bytes(block, tail, usize::try_from(len).unwrap_or(0), start);
        let bytes = bytes.map_err(|error| Error::from(error).in_file(&self.image_path(node)))?;
        let write = |opened: &File| {
            let _busy = self.tree.busy(Work::Write);
            let written = opened.write_all_at(bytes, node.size_bytes - len);
            written.map_err(|error| self.write_error("write", node, error))
        };
        done.bytes += len;
        let destination = &self.tree.destination;
        if node.block_count > 0 {
            return write(&destination.reopen_file(node.directory, &node.name)?);
        }
        let inode = self.inode_head(node)?;
        let created = self.create(node, &inode)?;
        write(&created)
            .and_then(|()| self.restore(node, &created, &inode, &mut done.not_restored))
            .inspect_err(|_| self.discard(file))?;
        done.files += 1;
        Ok(())
    }
}

/// An error that was told of one file, for another.
fn once_more(error: &Error) -> Error {
    match error {
        Error::Corrupt(corrupt) => Error::Corrupt(*corrupt),
        Error::Read { start, source } => Error::Read {
            start: *start,
            source: source.kind().into(),
        },
        other => Error::Read {
            start: 0,
            source: io::Error::other(other.to_string()),
        },
    }
}
