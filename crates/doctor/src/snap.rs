//! The rules of the snap store, which compares an upload with what mksquashfs makes of its files,
//! and those by which snapd installs and updates a snap.
//!
//! Sources: `sr_security.py`, `sr_lint.py` and `common.py` of review-tools (0.48+2022023, 5a406a7,
//! 2022-02); `snap/pack/pack.go`, `snap/container.go` and `snap/squashfs` of snapd (bee548f,
//! 2026-08).

mod links;
mod survey;

use coldpress_format::{Compressor, CompressorOptions};
use coldpress_report::text::plural;
use coldpress_report::units::bytes;
use coldpress_snap::Kind;

use super::rules::{Change, Finding, Verdict};

pub use coldpress_snap::SNAP_MIN_BYTES;
pub use survey::{Places, Survey};

/// The store takes no larger ones (`MAX_COMPRESSED_SIZE`).
const SNAP_MAX_BYTES: u64 = 5 << 30;
/// mksquashfs's default, with which the upload is made again.
const BLOCK_BYTES: u32 = 128 << 10;
/// mksquashfs fills images up to a multiple.
const PADDING_BYTES: u64 = 4096;

/// What became of the snap when mksquashfs made it again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resquashed {
    /// Whether all bytes are the same; unknown if it could not be made.
    pub verdict: Verdict,
    /// Which mksquashfs made it.
    pub why: String,
    /// What differs, or why it was not made.
    pub reasons: Vec<String>,
}

impl Survey {
    /// The options that the store gives mksquashfs to make the snap again.
    pub fn mksquashfs_options(&self) -> Vec<String> {
        let compressor = match self.superblock.compressor {
            Compressor::Lzo => "lzo",
            _ => "xz",
        };
        let time_s = self.superblock.modification_time_s.to_string();
        [
            "-fstime",
            &time_s,
            "-noappend",
            "-comp",
            compressor,
            "-all-root",
            "-no-xattrs",
            "-no-fragments",
        ]
        .map(str::to_owned)
        .to_vec()
    }

    /// The rules that are broken before the snap is made again: the store then does not try.
    pub fn refused_at_once(&self) -> Vec<String> {
        let compressor = self.superblock.compressor;
        let mut refused = Vec::new();
        if !matches!(compressor, Compressor::Xz | Compressor::Lzo) {
            refused.push(format!(
                "it is compressed by {compressor}, must be by xz or lzo"
            ));
        }
        let fragments = self.fragments();
        refused.extend(
            Some(fragments)
                .filter(|it| it.verdict == Verdict::No)
                .map(|it| it.why),
        );
        refused
    }

    /// Whether the store makes the snap again and compares.
    pub fn is_compared(&self) -> bool {
        self.refused_at_once().is_empty() && !self.kind().is_root_file_system()
    }

    /// Whether a file of this length is one that `snap pack` filled up, as mksquashfs alone does
    /// not.
    pub fn is_filled_up(&self, size_bytes: u64) -> bool {
        size_bytes == SNAP_MIN_BYTES && self.padded_bytes() < SNAP_MIN_BYTES
    }

    fn padded_bytes(&self) -> u64 {
        self.superblock.bytes_used.next_multiple_of(PADDING_BYTES)
    }

    /// Every rule, with what was found; but for the compressor if that is not read.
    pub(super) fn judge(&self, size_bytes: u64, resquashed: Option<&Resquashed>) -> Vec<Finding> {
        let mut findings = Vec::new();
        let compressor = self.superblock.compressor;
        if matches!(compressor, Compressor::Xz | Compressor::Lzo) {
            findings.push(met("compressor", compressor.name()));
        }
        let resquash = self.resquash(resquashed);
        let deltas = self.deltas(&resquash);
        findings.extend([
            size(size_bytes),
            self.fragments(),
            self.block_size(),
            self.compressor_options(),
            self.padding(size_bytes),
            self.xattrs(),
            self.owners(),
            self.modes(),
            self.kinds(),
            self.symlinks(),
            self.metadata(),
            self.readable(),
            self.programs(),
            resquash,
            deltas,
        ]);
        findings
    }

    /// Its type; an app's if it does not say.
    fn kind(&self) -> Kind {
        self.metadata.as_ref().map_or(Kind::App, |it| it.kind)
    }

    /// A rule without which the bytes differ, if the store compares them.
    fn compared(&self, about: &'static str, why: &str, change: Option<Change>) -> Finding {
        let kind = self.kind();
        if kind.is_root_file_system() {
            return met(about, &self.exempt(why));
        }
        Finding::new(Verdict::No, about, why.to_owned(), change)
    }

    /// A rule that is not for snaps of this type.
    fn exempt(&self, why: &str) -> String {
        format!(
            "{why}; not demanded of snaps of type {}",
            self.kind().name()
        )
    }

    fn fragments(&self) -> Finding {
        let count = u64::from(self.superblock.fragment_count);
        if count == 0 {
            return met("fragments", "none");
        }
        let blocks = plural(count, "fragment block", "fragment blocks");
        let why = format!("it has {blocks}, must have none");
        Finding::new(Verdict::No, "fragments", why, Some(Change::NoFragments))
    }

    fn block_size(&self) -> Finding {
        let (about, found) = ("block size", self.superblock.block_size.bytes());
        if found == BLOCK_BYTES {
            return met(about, &format!("{found} bytes"));
        }
        let why = format!("blocks have {found} bytes, the store compares with {BLOCK_BYTES}");
        self.compared(about, &why, Some(Change::BlockSize(BLOCK_BYTES)))
    }

    fn compressor_options(&self) -> Finding {
        let about = "compressor options";
        let has_their_own = matches!(self.superblock.compressor, Compressor::Xz | Compressor::Lzo);
        let is_default = matches!(self.options, None | Some(CompressorOptions::Lz4 { .. }));
        if !has_their_own || is_default {
            return met(about, "those that mksquashfs takes by itself");
        }
        let why = "options of the compressor are recorded, but the defaults are not";
        self.compared(about, why, Some(Change::Options))
    }

    fn padding(&self, size_bytes: u64) -> Finding {
        let (about, used) = ("padding", self.superblock.bytes_used);
        let padded = self.padded_bytes();
        if size_bytes == padded {
            return met(about, &format!("up to a multiple of {PADDING_BYTES} bytes"));
        }
        if self.is_filled_up(size_bytes) {
            return met(
                about,
                &format!("up to {size_bytes} bytes, as `snap pack` does"),
            );
        }
        let why = format!(
            "the file has {size_bytes} bytes, mksquashfs fills the image's {used} up to {padded}"
        );
        self.compared(about, &why, Some(Change::Padding))
    }

    fn xattrs(&self) -> Finding {
        let about = "xattrs";
        if self.xattrs.count == 0 {
            return met(about, "none");
        }
        let why = "there are extended attributes, and the store compares with an image without";
        let finding = match self.kind() {
            Kind::Snapd => {
                let why = "`snap pack` keeps those of snapd, the store's image is without";
                Finding::new(
                    Verdict::Unknown,
                    about,
                    why.to_owned(),
                    Some(Change::NoXattrs),
                )
            }
            _ => self.compared(about, why, Some(Change::NoXattrs)),
        };
        finding.at(&self.xattrs)
    }

    fn owners(&self) -> Finding {
        let about = "owners";
        if self.owners.count == 0 {
            return met(about, "root everywhere");
        }
        let why = "not everything belongs to root";
        self.compared(about, why, Some(Change::AllRoot))
            .at(&self.owners)
    }

    fn modes(&self) -> Finding {
        let why = "set-id bits, or sticky bits of files";
        self.by_exception("modes", why, &self.modes, "clear them with `chmod`")
    }

    fn kinds(&self) -> Finding {
        let why = "devices, named pipes or sockets";
        self.by_exception("file types", why, &self.kinds, "leave them out")
    }

    /// Files that only named snaps may have.
    fn by_exception(
        &self,
        about: &'static str,
        why: &str,
        places: &Places,
        advice: &str,
    ) -> Finding {
        if places.count == 0 {
            return met(about, "as they should be");
        }
        let (verdict, why) = if self.kind().is_root_file_system() {
            let why = format!("{why}; the store has a list of exceptions for such snaps");
            (Verdict::Unknown, why)
        } else {
            (Verdict::No, why.to_owned())
        };
        let advice = format!("{advice}, or ask the store for an exception by the snap's name");
        Finding::new(verdict, about, why, None)
            .at(places)
            .advised(advice)
    }

    fn symlinks(&self) -> Finding {
        let about = "symlinks";
        if self.leaving.count == 0 && self.links_are_followed {
            return met(about, "none leads out of the snap");
        }
        if self.leaving.count == 0 {
            let why = "there are more symlinks than were followed".to_owned();
            return Finding::new(Verdict::Unknown, about, why, None);
        }
        let why = "symlinks lead out of the snap";
        let finding = match self.kind() {
            Kind::Base | Kind::Os | Kind::Kernel => met(about, &self.exempt(why)),
            _ => Finding::new(Verdict::No, about, why.to_owned(), None)
                .advised("make them relative, to what is in the snap"),
        };
        finding.at(&self.leaving)
    }

    fn metadata(&self) -> Finding {
        let about = "snap.yaml";
        match &self.metadata {
            Ok(it) => {
                let what = format!("{} {}, type {}", it.name, it.version, it.kind.name());
                met(about, &what)
            }
            Err(why) => Finding::new(Verdict::No, about, why.clone(), None),
        }
    }

    fn readable(&self) -> Finding {
        let about = "meta";
        if self.unreadable.count == 0 {
            return met(about, "can be read by all");
        }
        let why = "snapd refuses what not everybody can read, and links out of it";
        let advice = "`chmod a+rX` the root directory and meta, `chmod a+x` hooks";
        Finding::new(Verdict::No, about, why.to_owned(), None)
            .at(&self.unreadable)
            .advised(advice)
    }

    fn programs(&self) -> Finding {
        let about = "apps";
        if self.programs.count == 0 {
            return met(about, "their programs are there and can be run");
        }
        let why = "snapd refuses apps whose programs are not there or cannot be run by all";
        Finding::new(Verdict::No, about, why.to_owned(), None)
            .at(&self.programs)
            .advised("put them there, with `chmod a+rx`")
    }

    fn resquash(&self, resquashed: Option<&Resquashed>) -> Finding {
        let about = "resquash";
        if self.kind().is_root_file_system() {
            return met(about, &self.exempt("the store does not compare"));
        }
        if !self.refused_at_once().is_empty() {
            let why = "the store does not make it again: the compressor or fragments are refused";
            return Finding::new(Verdict::Unknown, about, why.to_owned(), None);
        }
        let Some(Resquashed {
            verdict,
            why,
            reasons,
        }) = resquashed
        else {
            let why = "the store makes the image again with mksquashfs and compares every byte: \
                       what another program or layout wrote differs";
            let finding = Finding::new(Verdict::Unknown, about, why.to_owned(), None);
            return finding.advised("`coldpress check --target snap-store` makes it again");
        };
        let places = Places {
            count: reasons.len() as u64,
            first: reasons.clone(),
        };
        let finding = Finding::new(*verdict, about, why.clone(), None).at(&places);
        match verdict {
            Verdict::No => finding.advised("pack its files with `snap pack`"),
            _ => finding,
        }
    }

    /// Whether updates are small. Nobody demands it.
    fn deltas(&self, resquash: &Finding) -> Finding {
        let about = "deltas";
        let has_options = self.options.is_some();
        let is_own = self.superblock.block_size.bytes() == BLOCK_BYTES && !has_options;
        if is_own && resquash.verdict == Verdict::Yes && !self.kind().is_root_file_system() {
            return met(
                about,
                "of the files (snap-1-1-xdelta3): mksquashfs makes the same bytes",
            );
        }
        let why = "only of the compressed bytes (xdelta3): a block that changes or moves by more \
                   than 64 MiB is sent again";
        if is_own && resquash.verdict != Verdict::No {
            let why = "of the files (snap-1-1-xdelta3) if mksquashfs makes the same bytes";
            return Finding::new(Verdict::Unknown, about, why.to_owned(), None);
        }
        Finding::new(Verdict::Partly, about, why.to_owned(), None)
    }
}

fn met(about: &'static str, why: &str) -> Finding {
    Finding::new(Verdict::Yes, about, why.to_owned(), None)
}

fn size(size_bytes: u64) -> Finding {
    let about = "size";
    if size_bytes <= SNAP_MAX_BYTES {
        return met(about, &bytes(size_bytes));
    }
    let (found, limit) = (bytes(size_bytes), bytes(SNAP_MAX_BYTES));
    let why = format!("the file has {found}, the store takes {limit}");
    Finding::new(Verdict::No, about, why, None)
}

#[cfg(test)]
mod tests;
