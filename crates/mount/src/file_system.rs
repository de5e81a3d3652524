//! The file system: what the kernel asks, and the answers.

use std::fmt;
use std::sync::Arc;

use coldpress_format::{Body, Inode, InodeRef, NAME_MAX_BYTES};
use coldpress_image::{Error, Image, ReadAdvice, StartPack, StoredBlock};

use crate::attributes::{Attributes, Volume};
use crate::blocks::Blocks;
use crate::cache::{Cache, CacheCounts};
use crate::damage::{ReportedDamage, Tell};
use crate::failure::{Failure, Fault};
use crate::file_map::FileMap;
use crate::helpers::Offers;
use crate::listing::{Directory, Listing};
use crate::node::{NodeId, Nodes, Place};
use crate::page_cache_push::PushQueue;
use crate::prefetch_control::{Over, PrefetchControl};
use crate::start_pack::PackReader;
use crate::stats::{Reads, Stats};

/// Memory for listings of directories: some 100,000 names.
const LISTINGS_BYTES: u64 = 8 << 20;
/// Memory for block lists: files of 128 GiB in all, with blocks of 128 KiB.
const MAPS_BYTES: u64 = 4 << 20;
/// A usual listing, and a usual block list.
const USUAL_BYTES: u64 = 16 << 10;

/// How an image is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Memory for decompressed blocks of files; at least one is kept.
    pub cache_bytes: u64,
    /// The directory that becomes the root, if not that of the image.
    pub root: Option<InodeRef>,
    /// The owner of everything, instead of those of the image.
    pub uid: Option<u32>,
    /// The group of everything, instead of those of the image.
    pub gid: Option<u32>,
}

/// An image as a file system, whoever asks it.
///
/// Requests name inodes as [`NodeId`]s. All may come from several threads at once; none waits for
/// another but for a block that the other is decompressing.
pub struct FileSystem {
    pub(crate) image: Image,
    options: Options,
    pub(crate) nodes: Nodes,
    listings: Cache<InodeRef, Listing>,
    maps: Cache<InodeRef, FileMap>,
    pub(crate) blocks: Blocks,
    pub(crate) start_pack: Option<PackReader>,
    pub(crate) reads: Reads,
    reported_damage: ReportedDamage,
}

impl FileSystem {
    /// The file system of an image.
    ///
    /// * `tell`: is told of damage that is met, once for each inode.
    ///
    /// # Errors
    ///
    /// [`Error`] if the inode of the root cannot be read.
    pub fn new(image: Image, options: Options, tell: Tell) -> Result<Self, Error> {
        let (at, inode) = match options.root {
            Some(at) => (at, image.inode_head(at)?),
            None => (image.superblock().root_inode, image.root()?),
        };
        image.advise(ReadAdvice::Blocks);
        Ok(Self {
            nodes: Nodes::new(at, inode.number),
            listings: Cache::new(LISTINGS_BYTES, USUAL_BYTES),
            maps: Cache::new(MAPS_BYTES, USUAL_BYTES),
            blocks: Blocks::new(&image, options.cache_bytes),
            start_pack: None,
            reads: Reads::default(),
            reported_damage: ReportedDamage::new(tell),
            image,
            options,
        })
    }

    /// Takes pages from a start pack of the image where it has them.
    #[must_use]
    pub fn with_start_pack(self, pack: StartPack) -> Self {
        let start_pack = Some(PackReader::new(pack));
        Self { start_pack, ..self }
    }

    /// Looks a name up; the kernel then knows the inode until it [forgets](Self::forget) it.
    ///
    /// # Errors
    ///
    /// [`Failure::NotFound`] and [`Failure::NameTooLong`]; [`Failure::NotDirectory`].
    pub fn lookup(&self, directory: NodeId, name: &[u8]) -> Result<Attributes, Failure> {
        if name.len() > NAME_MAX_BYTES {
            return Err(Failure::NameTooLong);
        }
        let directory = self.directory(directory)?;
        let index = directory.find(name).ok_or(Failure::NotFound)?;
        self.learn(&directory, index)
    }

    /// The metadata of a stored name; the kernel then knows the inode.
    ///
    /// # Errors
    ///
    /// [`Failure::NotFound`] if the directory has fewer names.
    pub fn learn(&self, directory: &Directory, index: usize) -> Result<Attributes, Failure> {
        let entry = directory.listing.entries.get(index);
        let entry = entry.ok_or(Failure::NotFound)?;
        let found_in = Place {
            directory: directory.node,
            entry: u32::try_from(index).unwrap_or(u32::MAX),
        };
        let read = self.image.inode_head(entry.inode);
        let read = read.and_then(|inode| Ok((self.owner(&inode)?, inode)));
        match read {
            Ok((owner, inode)) => {
                let node = self.nodes.learn(entry.inode, inode.number, found_in);
                Ok(Attributes::new(node, &inode, owner))
            }
            Err(error) => {
                let node = self.nodes.shown(entry.inode, entry.number);
                self.reported_damage
                    .add(node, error, || self.path_of(found_in));
                Err(Failure::Damaged)
            }
        }
    }

    /// What a program is shown as the inode of a stored name without being told of it.
    ///
    /// # Errors
    ///
    /// [`Failure::NotFound`] if the directory has fewer names.
    pub fn shown(&self, directory: &Directory, index: usize) -> Result<NodeId, Failure> {
        let entry = directory.listing.entries.get(index);
        let entry = entry.ok_or(Failure::NotFound)?;
        Ok(self.nodes.shown(entry.inode, entry.number))
    }

    /// The kernel has forgotten so many of the times that it was told of an inode.
    pub fn forget(&self, node: NodeId, lookups: u64) {
        self.nodes.forget(node, lookups);
    }

    /// The metadata of an inode.
    ///
    /// # Errors
    ///
    /// [`Failure::Unknown`].
    pub fn attributes(&self, node: NodeId) -> Result<Attributes, Failure> {
        self.answer(node, |inode| {
            Ok(Attributes::new(node, inode, self.owner(inode)?))
        })
    }

    /// The target of a symbolic link.
    ///
    /// # Errors
    ///
    /// [`Failure::OtherType`] of anything else.
    pub fn target(&self, node: NodeId) -> Result<Vec<u8>, Failure> {
        self.answer(node, |inode| match &inode.body {
            Body::Symlink(target) => Ok(target.clone()),
            _ => Err(Failure::OtherType.into()),
        })
    }

    /// The names of a directory.
    ///
    /// # Errors
    ///
    /// [`Failure::NotDirectory`] of anything else.
    pub fn directory(&self, node: NodeId) -> Result<Directory, Failure> {
        let at = self.nodes.at(node).ok_or(Failure::Unknown)?;
        let listing = self.listing(at).map_err(|fault| self.tell(node, fault))?;
        let parent = match node {
            NodeId::ROOT => node,
            _ => self.nodes.shown_parent(listing.parent),
        };
        Ok(Directory {
            node,
            parent,
            listing,
        })
    }

    /// What the image takes.
    pub fn volume(&self) -> Volume {
        let superblock = self.image.superblock();
        let block_bytes = superblock.block_size.bytes();
        Volume {
            block_bytes,
            blocks: superblock.bytes_used.div_ceil(block_bytes.into()),
            inodes: superblock.inode_count.into(),
        }
    }

    /// How often blocks of files were found decompressed, and how often they were decompressed.
    pub fn block_counts(&self) -> CacheCounts {
        self.blocks.counts()
    }

    /// How it was used so far.
    pub fn stats(&self) -> Stats {
        Stats {
            reads: self.reads.count(),
            read_bytes: self.reads.bytes(),
            blocks: self.blocks.counts(),
            kept_bytes: self.blocks.kept_bytes(),
            handed_over: self.blocks.offers.taken(),
            pushed_bytes: self.blocks.push_queue.pushed_bytes(),
            listings: self.listings.counts(),
            block_lists: self.maps.counts(),
            prefetch: self.blocks.prefetch_control.counts(),
            start_pack: self.start_pack.as_ref().map(PackReader::counts),
        }
    }

    /// Decompresses what is handed over to a helper, until it is over.
    pub(crate) fn help(&self) {
        while let Some(block) = self.offers().take() {
            // Damage is told when a request meets it.
            let _ = self.blocks.block(&self.image, &block);
        }
    }

    /// Decompresses a block of a profile when it is time to, unless it was asked for before.
    ///
    /// # Errors
    ///
    /// If nothing is prefetched any more.
    pub(crate) fn prefetch(&self, block: &StoredBlock) -> Result<(), Over> {
        self.blocks.prefetch(&self.image, block)
    }

    pub(crate) fn push_queue(&self) -> &PushQueue {
        &self.blocks.push_queue
    }

    pub(crate) fn start_pack(&self) -> Option<&PackReader> {
        self.start_pack.as_ref()
    }

    pub(crate) fn image(&self) -> &Image {
        &self.image
    }

    pub(crate) fn offers(&self) -> &Offers {
        &self.blocks.offers
    }

    pub(crate) fn prefetch_control(&self) -> &PrefetchControl {
        &self.blocks.prefetch_control
    }

    pub(crate) fn cache_bytes(&self) -> u64 {
        self.options.cache_bytes
    }

    /// Where the blocks of a file lie; `None` if the image has no such file, or it is damaged.
    ///
    /// * `path`: from the root of the image; no link is followed.
    pub(crate) fn file_at(&self, path: &[u8]) -> Option<Arc<FileMap>> {
        let mut at = self.image.superblock().root_inode;
        for name in path.split(|&byte| byte == b'/') {
            if !name.is_empty() {
                let listing = self.listing(at).ok()?;
                at = listing.entries.get(listing.find(name)?)?.inode;
            }
        }
        self.map(at).ok()
    }

    /// Where the blocks of the file lie whose inode lies there.
    pub(crate) fn map(&self, at: InodeRef) -> Result<Arc<FileMap>, Fault> {
        self.maps.get(at, || match self.image.inode(at)?.body {
            Body::File(file) => Ok(FileMap::new(&self.image, file).map_err(Error::from)?),
            Body::Directory(_) => Err(Failure::IsDirectory.into()),
            _ => Err(Failure::OtherType.into()),
        })
    }

    /// The number that the image gives an inode; `None` if it has no proper one.
    pub fn number(&self, node: NodeId) -> Option<u32> {
        self.nodes.number(node)
    }

    /// The names of the directory whose inode lies there.
    pub(crate) fn listing(&self, at: InodeRef) -> Result<Arc<Listing>, Fault> {
        self.listings.get(at, || {
            let inode = self.image.inode_head(at)?;
            let Body::Directory(directory) = &inode.body else {
                return Err(Failure::NotDirectory.into());
            };
            Ok(Listing {
                entries: self.image.entries(directory)?,
                parent: directory.parent,
            })
        })
    }

    /// Answers from an inode.
    pub(crate) fn answer<T>(
        &self,
        node: NodeId,
        read: impl FnOnce(&Inode) -> Result<T, Fault>,
    ) -> Result<T, Failure> {
        let at = self.nodes.at(node).ok_or(Failure::Unknown)?;
        let inode = self.image.inode_head(at).map_err(Fault::from);
        let answer = inode.and_then(|inode| read(&inode));
        answer.map_err(|fault| self.tell(node, fault))
    }

    fn owner(&self, inode: &Inode) -> Result<(u32, u32), Error> {
        if let (Some(uid), Some(gid)) = (self.options.uid, self.options.gid) {
            return Ok((uid, gid));
        }
        let (uid, gid) = self.image.owner(inode)?;
        Ok((
            self.options.uid.unwrap_or(uid),
            self.options.gid.unwrap_or(gid),
        ))
    }

    pub(crate) fn tell(&self, node: NodeId, fault: Fault) -> Failure {
        match fault {
            Fault::Refused(failure) => failure,
            Fault::Damaged(error) => {
                self.reported_damage.add(node, error, || self.path(node));
                Failure::Damaged
            }
        }
    }
}

impl fmt::Debug for FileSystem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("FileSystem")
            .field("image", &self.image)
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}
