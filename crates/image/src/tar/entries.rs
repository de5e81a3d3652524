//! The entries of an archive, piece by piece.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use coldpress_format::{Body, DeviceNumber, File, Inode, InodeRef};

use super::choice::{Choice, Place};
use super::header::{EntryKind, Header, Records, end, padding_bytes};
use super::sparse::DataMap;
use super::{LeftOut, TarOptions};
use crate::error::Error;
use crate::fragment_cache::FragmentCache;
use crate::image::Image;
use crate::in_order::NamedPiece;
use crate::pieces::{FilePieces, Piece};
use crate::walk::Walker;

/// The archive as an iterator.
pub(super) struct Entries<'a> {
    image: &'a Image,
    options: &'a TarOptions,
    left_out: &'a mut dyn FnMut(LeftOut),
    choice: Choice,
    walker: Walker<&'a Image>,
    fragments: FragmentCache,
    /// The names in the archive of inodes that have several.
    first_names: HashMap<InodeRef, Vec<u8>>,
    /// The path of the entry at hand.
    path: Arc<[u8]>,
    /// What comes before the content of the entry at hand.
    head: VecDeque<Piece>,
    content: Option<Content>,
    count: u64,
    has_ended: bool,
}

/// The content of a file that is being written.
struct Content {
    pieces: FilePieces,
    /// Whether holes are left out.
    is_sparse: bool,
    padding_bytes: u64,
}

impl<'a> Entries<'a> {
    pub(super) fn new(
        image: &'a Image,
        options: &'a TarOptions,
        left_out: &'a mut dyn FnMut(LeftOut),
    ) -> Result<Self, Error> {
        let choice = Choice::new(image, options)?;
        let block_bytes = image.superblock().block_size.bytes();
        Ok(Self {
            walker: Walker::below(image, choice.base(), choice.base_at)?,
            fragments: FragmentCache::new(options.limits.fragments(block_bytes)),
            first_names: HashMap::new(),
            path: Arc::default(),
            head: VecDeque::new(),
            content: None,
            count: 0,
            has_ended: false,
            image,
            options,
            left_out,
            choice,
        })
    }

    /// Entries so far.
    pub(super) fn written(&self) -> u64 {
        self.count
    }

    fn next_piece(&mut self) -> Result<Option<Piece>, Error> {
        loop {
            if let Some(piece) = self.head.pop_front() {
                return Ok(Some(piece));
            }
            if let Some(content) = &mut self.content {
                match content.pieces.next() {
                    Some(Piece::Zeros(_)) if content.is_sparse => continue,
                    Some(piece) => return Ok(Some(piece)),
                    None => {}
                }
                let padding_bytes = content.padding_bytes;
                self.content = None;
                return Ok(Some(Piece::Zeros(padding_bytes)));
            }
            if self.has_ended {
                return Ok(None);
            }
            self.begin_entry()?;
        }
    }

    /// Goes to the next path and prepares its entry, if it has one.
    fn begin_entry(&mut self) -> Result<(), Error> {
        let Some(visited) = self.walker.next_path()? else {
            self.has_ended = true;
            self.path = Arc::default();
            self.head.push_back(Piece::Bytes(end()));
            return Ok(());
        };
        if self.choice.place(visited.path) == Place::Outside {
            self.walker.skip();
            return Ok(());
        }
        let (path, at, inode) = (visited.path.into(), visited.at, visited.inode.clone());
        self.path = path;
        let path = Arc::clone(&self.path);
        self.entry(&path, at, &inode)
            .map_err(|error| error.in_file(&path))
    }

    fn entry(&mut self, path: &[u8], at: InodeRef, inode: &Inode) -> Result<(), Error> {
        let is_directory = matches!(inode.body, Body::Directory(_));
        let name = self.choice.name(path, is_directory);
        if matches!(inode.body, Body::Socket) {
            (self.left_out)(LeftOut::Socket(path));
            return Ok(());
        }
        let mut header = self.header(path, name, inode)?;
        if self.options.hard_links && !is_directory && inode.link_count != 1 {
            if let Some(first) = self.first_names.get(&at) {
                header.kind = EntryKind::HardLink;
                header.target.clone_from(first);
                header.size_bytes = 0;
                self.push(&header, None);
                return Ok(());
            }
            self.first_names.insert(at, header.name.clone());
        }
        let Some(file) = self.image.file(at)? else {
            self.push(&header, None);
            return Ok(());
        };
        self.file(header, file)
    }

    /// The header of what is not a link to something before it.
    fn header(&mut self, path: &[u8], name: Vec<u8>, inode: &Inode) -> Result<Header, Error> {
        let (uid, gid) = self.image.owner(inode)?;
        let mut device = DeviceNumber { major: 0, minor: 0 };
        let (mut size_bytes, mut target) = (0, Vec::new());
        let kind = match &inode.body {
            Body::Directory(_) => EntryKind::Directory,
            Body::File(file) => {
                size_bytes = file.size_bytes;
                EntryKind::File
            }
            Body::Symlink(path) => {
                target.clone_from(path);
                EntryKind::Symlink
            }
            Body::BlockDevice(number) => {
                device = *number;
                EntryKind::BlockDevice
            }
            Body::CharDevice(number) => {
                device = *number;
                EntryKind::CharDevice
            }
            Body::Fifo | Body::Socket => EntryKind::Fifo,
        };
        Ok(Header {
            name,
            kind,
            mode: inode.mode,
            uid,
            gid,
            size_bytes,
            mtime_s: inode.mtime_s,
            target,
            device,
            records: self.xattrs(path, inode)?,
        })
    }

    fn xattrs(&mut self, path: &[u8], inode: &Inode) -> Result<Records, Error> {
        let mut records = Records::default();
        if !self.options.xattrs {
            return Ok(records);
        }
        for (name, value) in self.image.xattrs(inode)?.iter() {
            if name.contains(&b'=') {
                (self.left_out)(LeftOut::Xattr(path, name));
                continue;
            }
            records.add(&[b"SCHILY.xattr.", name.as_slice()].concat(), value);
        }
        Ok(records)
    }

    fn file(&mut self, mut header: Header, file: File) -> Result<(), Error> {
        let map = DataMap::of(&file, self.image.superblock().block_size);
        let map = map.filter(|_| self.options.sparse);
        let is_sparse = map.is_some();
        let map = map.map(|map| map.apply(&mut header));
        self.push(&header, map);
        let whole = 0..file.size_bytes;
        self.content = Some(Content {
            pieces: FilePieces::new(self.image, file, whole, &mut self.fragments)?,
            is_sparse,
            padding_bytes: padding_bytes(header.size_bytes),
        });
        Ok(())
    }

    fn push(&mut self, header: &Header, map: Option<Vec<u8>>) {
        let mut bytes = Vec::new();
        header.write(&mut bytes);
        bytes.extend(map.unwrap_or_default());
        self.head.push_back(Piece::Bytes(bytes));
        self.count += 1;
    }
}

impl Iterator for Entries<'_> {
    type Item = Result<NamedPiece, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let piece = self.next_piece().transpose()?;
        Some(piece.map(|piece| (Arc::clone(&self.path), piece)))
    }
}
