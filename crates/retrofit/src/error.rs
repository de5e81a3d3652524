//! Why the image of a file cannot be replaced.

use std::io;

/// An error of this crate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Bytes of the file cannot be read.
    #[error("cannot read byte {start}")]
    Read {
        /// The first byte wanted.
        start: u64,
        /// Why.
        source: io::Error,
    },
    /// An AppImage cannot be signed.
    #[error("the AppImage cannot be signed: {0}")]
    Signature(String),
    /// A zsync file cannot hold a text.
    #[error("a zsync file holds no line break, and the {what} has one; choose another")]
    LineBreak {
        /// `name of the new file` or `URL`.
        what: &'static str,
    },
    /// A SIF container says what cannot be true.
    #[error(transparent)]
    Sif(#[from] coldpress_sif::Error),
    /// The file system of a live medium says what cannot be true.
    #[error(transparent)]
    Iso(#[from] coldpress_iso::Error),
    /// A snap says of itself what cannot be true.
    #[error(transparent)]
    Snap(#[from] coldpress_snap::Error),
    /// The image is damaged.
    #[error(transparent)]
    Image(#[from] coldpress_image::Error),
    /// A small image cannot be built.
    #[error(transparent)]
    Build(#[from] coldpress_writer::Error),
    /// A small AppImage cannot be started.
    #[error(transparent)]
    Start(#[from] coldpress_host::Error),
    /// What makes live media is not there.
    #[error(
        "the new image is longer than its place, and xorriso, which makes a new file system, is \
        not \
         installed: install the package xorriso"
    )]
    NoXorriso,
    /// What makes live media did not.
    #[error("xorriso failed: {said}")]
    Xorriso {
        /// The end of what it said.
        said: String,
    },
    /// The new file cannot be written.
    #[error("cannot write byte {start}")]
    Write {
        /// The first byte.
        start: u64,
        /// Why.
        source: io::Error,
    },
    /// The new file is not what was written.
    #[error("the {part} of the new file is not that of the old one")]
    Differs {
        /// What is another.
        part: &'static str,
    },
    /// The file is not what it should be.
    #[error("the {part} at byte {start} {rule}")]
    Refused {
        /// Which part: the ELF header, a section, the image, what comes after it.
        part: String,
        /// Byte of the file at which it is or says so.
        start: u64,
        /// What is wrong with it.
        rule: Rule,
    },
}

/// What a part of an AppImage must not be or say.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Rule {
    /// The file is an ISO file that starts itself.
    #[error("is that of an AppImage of type 1, an ISO file; only type 2 is rebuilt")]
    Type1,
    /// The program is not for a machine that AppImages are for.
    #[error("states class {class} and byte order {order}; AppImages are of class 1 or 2, order 1")]
    Class {
        /// 1 for 32 bits, 2 for 64.
        class: u8,
        /// 1 for little-endian.
        order: u8,
    },
    /// There are no section headers, or too short ones.
    #[error("states {count} section headers of {header_bytes} bytes, must be some of {expected}")]
    Headers {
        /// How many.
        count: u64,
        /// Bytes of each.
        header_bytes: u64,
        /// What they take in this class.
        expected: u64,
    },
    /// A part is not in the file.
    #[error("states {size_bytes} bytes at byte {place}, but the file has {file_bytes}")]
    Outside {
        /// Where the part should be.
        place: u64,
        /// What it should take.
        size_bytes: u64,
        /// What there is.
        file_bytes: u64,
    },
    /// The program is longer than any.
    #[error("lets the program end at byte {end}; programs of more than {limit} bytes are not read")]
    Long {
        /// Where it should end.
        end: u64,
        /// How long one may be.
        limit: u64,
    },
    /// No section header has the names.
    #[error("states that names are in section {index}, but there are {count}")]
    Names {
        /// Which it says.
        index: u64,
        /// How many sections there are.
        count: u64,
    },
    /// Two sections have one name.
    #[error("is the second of its name")]
    Second,
    /// A section of an AppImage lies on something else.
    #[error("takes {size_bytes} bytes, where {other} is too")]
    Overlap {
        /// What it takes.
        size_bytes: u64,
        /// What is there.
        other: &'static str,
    },
    /// There is no room for the digest.
    #[error("has {found} bytes, but a digest has {expected}")]
    Short {
        /// Bytes of the section.
        found: u64,
        /// Bytes of a digest.
        expected: u64,
    },
    /// A container starts no system that can be replaced.
    #[error("names no system of SquashFS that is started; one of ext3 or an encrypted one stays")]
    NoSystem,
    /// Another image, or none.
    #[error("is no image of SquashFS 4.0: it begins with `{found}`")]
    NoImage {
        /// Its first bytes.
        found: String,
    },
    /// The superblock is wrong.
    #[error("is no image of SquashFS 4.0 that can be read: {0}")]
    Superblock(String),
    /// Something comes after the end.
    #[error("is no part of what ends at byte {end}, and nobody knows who reads it there")]
    Trailing {
        /// Where the image, or the last object of a container, ends.
        end: u64,
    },
    /// A live medium has no image.
    #[error("holds no image of SquashFS")]
    NoImages,
    /// No menu of a live medium's boot loader names a kernel and an initrd that are there.
    #[error("has no menu (*.cfg, *.conf) that names a kernel and an initrd of the medium")]
    NoBootEntry,
    /// A live medium has no such file.
    #[error("has no file `{path}`")]
    NotThere {
        /// What was asked for.
        path: String,
    },
    /// A live medium has several images.
    #[error("holds {count} images, and which of them is to be replaced is not said: {paths}")]
    Several {
        /// How many.
        count: usize,
        /// The first of them.
        paths: String,
    },
    /// A file is in several pieces.
    #[error("is in several extents, as files above 4 GiB are; such an image is not replaced")]
    Pieces,
    /// Something else of a live medium uses the same bytes.
    #[error("shares bytes with what lies from byte {start} to {end}, which would change too")]
    Shared {
        /// Where that begins.
        start: u64,
        /// Where it ends.
        end: u64,
    },
    /// A hash tree is of the old image.
    #[error("is protected by `{path}`, and nobody but its maker can make another")]
    HashTree {
        /// The file with the tree, or a part of it.
        path: String,
    },
    /// The image holds nothing but another one.
    #[error("is nested: `{path}` in it is a file system of its own, whose files keep their order")]
    Nested {
        /// The inner image.
        path: String,
    },
    /// A live medium has a second file system of the same files.
    #[error("is one of UDF, which states places and sizes too; only ISO 9660 is changed")]
    Udf,
    /// A partition map names an HFS+ file system, which would not be in the new file.
    #[error(
        "is an HFS+ file system, which a rewritten medium would not have; a smaller image (`--level`, \
         `--compressor xz`) takes the place of the old one"
    )]
    Hfs,
    /// Too many checksum files change.
    #[error("is one of more than {limit} checksum files that would change")]
    Lists {
        /// How many may.
        limit: usize,
    },
    /// Checksum files name each other.
    #[error("is a checksum file that names another one that names it")]
    ListCycle,
    /// Another image comes after the image.
    #[error("begins another image, and which of them is to be replaced is not known")]
    SecondImage,
}

impl Error {
    pub(crate) fn refused(part: impl Into<String>, start: u64, rule: Rule) -> Self {
        Self::Refused {
            part: part.into(),
            start,
            rule,
        }
    }
}
