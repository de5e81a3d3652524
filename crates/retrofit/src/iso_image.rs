//! A live ISO of which one image is replaced.
//!
//! | part | when the image is replaced |
//! |---|---|
//! | its extent | holds the new image, then zeros; or a new file system is made around it |
//! | its directory records in all trees | state the new size |
//! | checksum files that name it, or name such a file | have new digests, of the same length |
//! | digests of isomd5sum | are computed again |
//! | signatures of the image or of such a checksum file | become zeros |

mod apple;
mod boot_entry;
mod checksums;
mod complete;
mod implanted;
mod layers;
mod rewrite;
mod rewritten;

use std::collections::BTreeSet;
use std::ops::Range;

use coldpress_format::{MAGIC, SUPERBLOCK_SIZE};
use coldpress_image::{Image, ReadAt};
use coldpress_iso::{File, Iso};

use crate::error::{Error, Rule};
use crate::field::{read, read_up_to};
use crate::image::image;
use crate::program::Place;
use checksums::{affected, lists};

pub use boot_entry::{BootEntry, bytes_of};
pub(crate) use complete::complete;
pub use layers::{images, is_above};

/// Where sectors from 16 on say that there is a UDF file system too, and how many are looked at.
const UDF_MARKS: [&[u8]; 2] = [b"NSR02", b"NSR03"];
const UDF_SECTORS: u64 = 32;
/// What follows the name of a file that a signature or a hash tree is of.
const SIGNATURES: [&str; 5] = [".sig", ".gpg", ".asc", ".sign", ".p7s"];
const HASH_TREES: [&str; 4] = [".verity", ".roothash", ".fec", ".fec.roots"];
/// Systems inside of the image, which it holds in one piece.
const NESTED: [&[u8]; 2] = [b"/LiveOS/rootfs.img", b"/LiveOS/ext3fs.img"];
/// Names of images in a message.
const NAMED_MAX: usize = 8;

/// A live ISO, and the image in it that is to be replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IsoImage {
    iso: Iso,
    /// In the tree that Linux shows.
    path: Vec<u8>,
    /// What its records say: with padding.
    place: Place,
    /// Without padding.
    image: Place,
    signatures: Vec<File>,
    file_bytes: u64,
}

impl IsoImage {
    /// Reads the file system of a live medium; `None` if there is none.
    ///
    /// * `wanted`: the path of the image to replace. It need not be given if there is only one.
    ///
    /// # Errors
    ///
    /// If the file system says what cannot be true, it has no or several images, or the image is
    /// not one that can be replaced.
    ///
    /// # Cost
    ///
    /// Reads the directories, the first bytes of each file, and the checksum files.
    pub fn open(source: &dyn ReadAt, wanted: Option<&[u8]>) -> Result<Option<Self>, Error> {
        let size_bytes = source.size_bytes();
        let file_bytes = size_bytes.map_err(|source| Error::Read { start: 0, source })?;
        let Some(iso) = read_iso(source, file_bytes)? else {
            return Ok(None);
        };
        check_udf(source)?;
        let file = choose(&iso, source, wanted)?;
        let refused = |start, rule| Error::refused(name(file), start, rule);
        let [section] = file.sections.as_slice() else {
            let start = file.sections.first().map_or(0, |it| it.record);
            return Err(refused(start, Rule::Pieces));
        };
        let place = section.data.clone();
        check_alone(&iso, file)?;
        let image = image(source, &place)?;
        if let Some(tree) = beside(&iso, &file.path, &HASH_TREES).next() {
            let path = name(tree);
            return Err(refused(place.start, Rule::HashTree { path }));
        }
        let changed = BTreeSet::from([place.start]);
        let mut signed = vec![file.path.as_slice()];
        let lists = lists(&iso, source)?;
        let affected = affected(&lists, &changed)?;
        signed.extend(affected.iter().map(|list| list.file.path.as_slice()));
        let signatures = signed.iter();
        let signatures = signatures.flat_map(|path| beside(&iso, path, &SIGNATURES));
        let signatures: Vec<File> = signatures.cloned().collect();
        for written in affected.iter().map(|list| &list.file).chain(&signatures) {
            check_alone(&iso, written)?;
        }
        Ok(Some(Self {
            path: file.path.clone(),
            signatures,
            place,
            image,
            file_bytes,
            iso,
        }))
    }

    /// Where its image is, without padding.
    pub fn image(&self) -> Place {
        self.image.clone()
    }

    /// The path of its image.
    pub fn path(&self) -> &[u8] {
        &self.path
    }

    /// Whether the image is padded to a multiple of 4096 bytes.
    pub fn is_padded(&self) -> bool {
        (self.place.end - self.place.start).is_multiple_of(4096)
    }

    /// Signatures that another image makes invalid: of it, or of a file with its checksum.
    pub fn signatures(&self) -> &[File] {
        &self.signatures
    }

    /// Demands that the image has the files of a system, and not another image of one.
    ///
    /// # Errors
    ///
    /// [`Rule::Nested`], or if the image is damaged.
    pub(crate) fn check_nested(&self, image: &Image) -> Result<(), Error> {
        for inner in NESTED {
            if image.find(inner)?.is_some() {
                let path = String::from_utf8_lossy(inner).into_owned();
                let part = String::from_utf8_lossy(&self.path).into_owned();
                return Err(Error::refused(
                    part,
                    self.place.start,
                    Rule::Nested { path },
                ));
            }
        }
        Ok(())
    }
}

/// Reads the trees of a file.
pub(crate) fn read_iso(source: &dyn ReadAt, file_bytes: u64) -> Result<Option<Iso>, Error> {
    let mut fetch = |start, bytes: &mut [u8]| read(source, bytes, start);
    Iso::read(&mut fetch, file_bytes)
}

/// A path, for messages.
fn name(file: &File) -> String {
    String::from_utf8_lossy(&file.path).into_owned()
}

/// Refuses a second file system, which states places and sizes of the same files.
fn check_udf(source: &dyn ReadAt) -> Result<(), Error> {
    let mut mark = [0; 5];
    for sector in 16..16 + UDF_SECTORS {
        let start = sector * coldpress_iso::SECTOR_BYTES;
        read_up_to(source, &mut mark, start + 1)?;
        if UDF_MARKS.contains(&mark.as_slice()) {
            return Err(Error::refused("volume", start, Rule::Udf));
        }
    }
    Ok(())
}

/// Demands that nothing else lies where a file does that is to be changed.
fn check_alone(iso: &Iso, file: &File) -> Result<(), Error> {
    for section in &file.sections {
        if let Some(Range { start, end }) = iso.other_at(&section.data) {
            let rule = Rule::Shared { start, end };
            return Err(Error::refused(name(file), section.data.start, rule));
        }
    }
    Ok(())
}

/// The file that is to be replaced.
fn choose<'a>(iso: &'a Iso, source: &dyn ReadAt, wanted: Option<&[u8]>) -> Result<&'a File, Error> {
    let refused = |rule| Error::refused("ISO 9660 file system", 0, rule);
    if let Some(path) = wanted {
        let path = path.strip_prefix(b"/").unwrap_or(path);
        return iso.find(path).ok_or_else(|| {
            let path = String::from_utf8_lossy(path).into_owned();
            refused(Rule::NotThere { path })
        });
    }
    let images = squashfs_files(iso, source)?;
    match images.as_slice() {
        [] => Err(refused(Rule::NoImages)),
        [file] => Ok(file),
        several => {
            let named = several.iter().take(NAMED_MAX).map(|file| name(file));
            Err(refused(Rule::Several {
                count: several.len(),
                paths: named.collect::<Vec<_>>().join(", "),
            }))
        }
    }
}

/// The files that begin as an image does, in the order of the directories.
fn squashfs_files<'a>(iso: &'a Iso, source: &dyn ReadAt) -> Result<Vec<&'a File>, Error> {
    let mut images = Vec::new();
    for file in iso.shown().iter().flat_map(|tree| &tree.files) {
        let mut magic = [0; 4];
        let is_long = file.size_bytes() >= SUPERBLOCK_SIZE as u64;
        if let Some(section) = file.sections.first().filter(|_| is_long) {
            read_up_to(source, &mut magic, section.data.start)?;
        }
        if magic == MAGIC.to_le_bytes() {
            images.push(file);
        }
    }
    Ok(images)
}

/// Files that are named as another, with something after it that ends so.
fn beside<'a>(
    iso: &'a Iso,
    path: &'a [u8],
    suffixes: &'a [&str],
) -> impl Iterator<Item = &'a File> {
    let files = iso.shown().into_iter().flat_map(|tree| &tree.files);
    files.filter(move |file| {
        let rest = file.path.strip_prefix(path);
        let rest = rest.filter(|rest| rest.starts_with(b".") && !rest.contains(&b'/'));
        let mut suffixes = suffixes.iter();
        rest.is_some_and(|rest| suffixes.any(|suffix| rest.ends_with(suffix.as_bytes())))
    })
}
