//! What an image asks for, held against what a reader can do.
//!
//! Rules without another source are those of the kernel's `fs/squashfs`; docs/format.md, "Where the
//! kernel is stricter" lists them.

use coldpress_format::Compressor;
use coldpress_image::ReaderRequirements;
use coldpress_report::text::quoted_bytes;
use serde::Serialize;

use super::reader::{FILTERS, Known, Reader};
use super::snap::{Places, Resquashed, Survey};

/// A loop device shows whole sectors only.
const SECTOR_BYTES: u64 = 512;
/// The kernel follows no longer targets (`PATH_MAX`).
const TARGET_MAX_BYTES: u64 = 4095;

/// Whether an image is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// It is.
    Yes,
    /// It is, but something in it is not as it should be.
    Partly,
    /// Nobody said so.
    Unknown,
    /// It is not.
    No,
}

impl Verdict {
    /// Whether a rule is kept, in a word.
    pub(super) fn of_rule(self) -> &'static str {
        match self {
            Self::Yes => "met",
            Self::Partly => "in part",
            Self::Unknown => "unknown",
            Self::No => "broken",
        }
    }
}

/// What is to be changed in the image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Another compressor.
    Compressor,
    /// The same compressor with its defaults.
    Options,
    /// Blocks of at least so many bytes.
    BlockSize(u32),
    /// Fill it up.
    Padding,
    /// Leave extended attributes out.
    NoXattrs,
    /// Tail ends in blocks of their own.
    NoFragments,
    /// Everything is root's.
    AllRoot,
}

/// A reason not to say yes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// What it means for reading the image.
    pub verdict: Verdict,
    /// What of the image.
    pub about: &'static str,
    /// The rule, and what was found.
    pub why: String,
    /// Where in the image, of many the first, and how many there are.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub places: Vec<String>,
    /// What to do if no rebuild helps, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub advice: Option<String>,
    /// What would help, if anything does.
    #[serde(skip)]
    pub change: Option<Change>,
}

impl Finding {
    /// A reason.
    pub fn new(verdict: Verdict, about: &'static str, why: String, change: Option<Change>) -> Self {
        Self {
            verdict,
            about,
            why,
            places: Vec::new(),
            advice: None,
            change,
        }
    }

    /// The same, with where it was found.
    pub(super) fn at(mut self, places: &Places) -> Self {
        self.places.clone_from(&places.first);
        let more = places.count - self.places.len() as u64;
        self.places
            .extend((more > 0).then(|| format!("and {more} more")));
        self
    }

    /// The same, with what to do.
    pub(super) fn advised(mut self, advice: impl Into<String>) -> Self {
        self.advice = Some(advice.into());
        self
    }
}

/// An image to be judged.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// What it asks of its readers.
    pub requirements: &'a ReaderRequirements,
    /// From the first byte of the image to the end of its file.
    pub size_bytes: u64,
    /// Whether a hash tree of dm-verity is appended to it.
    pub has_hash_tree: bool,
    /// What it holds, if it is to be a snap.
    pub snap: Option<&'a Survey>,
    /// What became of it when it was made again, if it was.
    pub resquashed: Option<&'a Resquashed>,
}

/// Everything that stands against reading an image, and for the snap store also the rules that it
/// keeps.
pub fn judge(subject: Subject, reader: &Reader) -> Vec<Finding> {
    let requirements = subject.requirements;
    let mut findings: Vec<Finding> = [
        file_system(reader),
        compressor(requirements, reader),
        xattrs(requirements, reader),
    ]
    .into_iter()
    .flatten()
    .collect();
    findings.extend(filters(requirements, reader));
    if reader.is_kernel {
        let of_kernels = [
            page(requirements, reader),
            window(requirements),
            checksum(requirements),
            tail(subject),
            hash_tree(subject, reader),
            target(requirements),
        ];
        findings.extend(of_kernels.into_iter().flatten());
    }
    if reader.is_snap_store
        && let Some(snap) = subject.snap
    {
        findings.extend(snap.judge(subject.size_bytes, subject.resquashed));
    }
    findings
}

/// What follows from all findings.
pub fn verdict(findings: &[Finding]) -> Verdict {
    let worst = findings.iter().map(|finding| finding.verdict).max();
    worst.unwrap_or(Verdict::Yes)
}

fn file_system(reader: &Reader) -> Option<Finding> {
    let (verdict, why) = match reader.squashfs {
        Known::Yes => return None,
        Known::No => (Verdict::No, "has no SquashFS (CONFIG_SQUASHFS)"),
        Known::Unknown => (Verdict::Unknown, "may have SquashFS or not"),
    };
    let why = format!("{} {why}", reader.name);
    Some(Finding::new(verdict, "file system", why, None))
}

fn compressor(requirements: &ReaderRequirements, reader: &Reader) -> Option<Finding> {
    let name = requirements.compressor.name();
    let known = reader.compressors_that_are(Known::Yes);
    let reads = if known.is_empty() {
        String::new()
    } else {
        format!("; it reads {}", known.join(", "))
    };
    let (verdict, why) = match reader.compressor(requirements.compressor) {
        Known::Yes => return None,
        Known::No => (
            Verdict::No,
            format!("{} does not read {name}{reads}", reader.name),
        ),
        Known::Unknown => (
            Verdict::Unknown,
            format!("whether {} reads {name} is not known{reads}", reader.name),
        ),
    };
    let change = (!known.is_empty()).then_some(Change::Compressor);
    Some(Finding::new(verdict, "compressor", why, change))
}

fn filters(requirements: &ReaderRequirements, reader: &Reader) -> Vec<Finding> {
    let named = requirements.xz_filters.iter().map(|number| {
        let name = FILTERS.iter().find(|(id, _)| id == number);
        (*number, name.map_or("unknown", |(_, name)| *name))
    });
    let findings = named.filter_map(|(number, name)| {
        let (verdict, why) = match reader.filter(number) {
            Known::Yes => return None,
            Known::No => (
                Verdict::No,
                format!(
                    "blocks went through the filter {name} of xz, which {} lacks \
                     (CONFIG_XZ_DEC_{}): it mounts the image, and their files give I/O errors",
                    reader.name,
                    name.to_uppercase()
                ),
            ),
            Known::Unknown => (
                Verdict::Unknown,
                format!(
                    "blocks went through the filter {name} (number {number}) of xz; whether {} has \
                     it is not known",
                    reader.name
                ),
            ),
        };
        Some(Finding::new(
            verdict,
            "xz filters",
            why,
            Some(Change::Options),
        ))
    });
    findings.collect()
}

fn xattrs(requirements: &ReaderRequirements, reader: &Reader) -> Option<Finding> {
    if !requirements.has_xattrs || reader.xattrs == Known::Yes {
        return None;
    }
    let name = &reader.name;
    let (verdict, why, change) = if reader.xattrs == Known::No {
        let why = format!("{name} does not show extended attributes (CONFIG_SQUASHFS_XATTR)");
        (Verdict::Partly, why, Some(Change::NoXattrs))
    } else {
        let why = format!("whether {name} shows extended attributes is not known");
        (Verdict::Unknown, why, None)
    };
    Some(Finding::new(verdict, "xattrs", why, change))
}

fn page(requirements: &ReaderRequirements, reader: &Reader) -> Option<Finding> {
    let (block_bytes, name) = (requirements.block_size.bytes(), &reader.name);
    let Some(page_bytes) = reader.page_bytes else {
        // No kernel has larger pages than 64 KiB, but for rare ones of PowerPC and Hexagon.
        let why = format!(
            "blocks have {block_bytes} bytes, pages of {name} perhaps 65536, and the kernel mounts \
             no image whose blocks are smaller than its pages"
        );
        let finding = Finding::new(Verdict::Unknown, "block size", why, None);
        return (block_bytes < 64 << 10).then_some(finding);
    };
    if block_bytes >= page_bytes {
        return None;
    }
    let why = format!(
        "blocks have {block_bytes} bytes, pages of {name} {page_bytes}, and the kernel mounts no \
         image whose blocks are smaller than its pages"
    );
    let change = Some(Change::BlockSize(page_bytes));
    Some(Finding::new(Verdict::No, "block size", why, change))
}

/// The dictionary of xz, the window of zstd.
fn window(requirements: &ReaderRequirements) -> Option<Finding> {
    let (found, limit) = (requirements.window_bytes, requirements.window_bytes_max());
    if found <= limit {
        return None;
    }
    let (about, what) = match requirements.compressor {
        Compressor::Xz => ("xz dictionary", "dictionary"),
        _ => ("zstd window", "window"),
    };
    let why = format!(
        "a block needs a {what} of {found} bytes, the kernel has {limit} for this image: reading \
        it \
         gives I/O errors"
    );
    Some(Finding::new(Verdict::No, about, why, Some(Change::Options)))
}

/// The kernel's decoder of xz knows CRC32 only.
fn checksum(requirements: &ReaderRequirements) -> Option<Finding> {
    let kind = requirements.xz_checks.iter().find(|kind| **kind > 1)?;
    let why = format!(
        "blocks of xz have checksums of kind {kind} (4 is CRC64, 10 is SHA-256), the kernel knows \
         CRC32 only"
    );
    Some(Finding::new(
        Verdict::No,
        "xz checksum",
        why,
        Some(Change::Options),
    ))
}

fn tail(subject: Subject) -> Option<Finding> {
    let (size_bytes, used) = (subject.size_bytes, subject.requirements.bytes_used);
    let shown = size_bytes / SECTOR_BYTES * SECTOR_BYTES;
    if shown >= used {
        return None;
    }
    let why = format!(
        "a loop device shows whole sectors, so {shown} of {size_bytes} bytes, but the image has \
        {used}"
    );
    Some(Finding::new(
        Verdict::No,
        "padding",
        why,
        Some(Change::Padding),
    ))
}

/// An image can be mounted without its hash tree, but then nothing verifies it.
fn hash_tree(subject: Subject, reader: &Reader) -> Option<Finding> {
    if !subject.has_hash_tree || reader.dm_verity != Known::No {
        return None;
    }
    let why = format!(
        "{} has no dm-verity (CONFIG_DM_VERITY), so it does not verify the image",
        reader.name
    );
    Some(Finding::new(Verdict::Partly, "hash tree", why, None))
}

fn target(requirements: &ReaderRequirements) -> Option<Finding> {
    let (bytes, path) = &requirements.longest_target;
    if *bytes <= TARGET_MAX_BYTES {
        return None;
    }
    let why = format!(
        "the target of {} has {bytes} bytes, the kernel follows no more than {TARGET_MAX_BYTES}",
        quoted_bytes(path)
    );
    Some(Finding::new(Verdict::Partly, "symlink", why, None))
}

#[cfg(test)]
mod tests;
