//! The rules of the snap store, which compares an upload with what mksquashfs makes of its files.
//!
//! Sources: `snap pack` of snapd (`mksquashfs -noappend -comp xz|lzo -no-fragments`, for apps also
//! `-all-root -no-xattrs`), and the answers of reviewers to electron-builder (#2803, #2888).

use coldpress_format::{Compressor, CompressorOptions};
use coldpress_image::ReaderRequirements;

use super::rules::{Change, Finding, Verdict};

/// mksquashfs's default, with which the upload is made again.
const BLOCK_BYTES: u32 = 128 << 10;

pub(super) fn judge(requirements: &ReaderRequirements) -> Vec<Finding> {
    let no = |about, why: String, change| Finding::new(Verdict::No, about, why, Some(change));
    let mut findings = Vec::new();
    let block_bytes = requirements.block_size.bytes();
    if block_bytes != BLOCK_BYTES {
        let why = format!("blocks have {block_bytes} bytes, the store compares with {BLOCK_BYTES}");
        findings.push(no("block size", why, Change::BlockSize(BLOCK_BYTES)));
    }
    if requirements.has_fragments {
        let why = "tail ends share blocks, the store compares with `-no-fragments`".to_owned();
        findings.push(no("fragments", why, Change::NoFragments));
    }
    if has_options(requirements) {
        let why = "options of the compressor are recorded, but the defaults are not".to_owned();
        findings.push(no("compressor options", why, Change::Options));
    }
    // Snaps of bases and gadgets keep both.
    if requirements.has_xattrs {
        let why = "there are extended attributes, which snaps of apps are made without".to_owned();
        let change = Some(Change::NoXattrs);
        findings.push(Finding::new(Verdict::Unknown, "xattrs", why, change));
    }
    if requirements.ids.iter().any(|id| *id != 0) {
        let why = "not everything belongs to root, as it does in snaps of apps".to_owned();
        let change = Some(Change::AllRoot);
        findings.push(Finding::new(Verdict::Unknown, "owners", why, change));
    }
    let why = "the store makes the image again with mksquashfs and compares every byte, unless the \
               snap is exempt: what another program or layout wrote differs";
    findings.push(Finding::new(
        Verdict::Unknown,
        "resquash",
        why.to_owned(),
        None,
    ));
    findings
}

fn has_options(requirements: &ReaderRequirements) -> bool {
    let has_their_own = matches!(requirements.compressor, Compressor::Xz | Compressor::Lzo);
    has_their_own
        && !matches!(
            requirements.options,
            None | Some(CompressorOptions::Lz4 { .. })
        )
}
