//! The command that makes an image which will be read.

use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use coldpress_format::Compressor;
use coldpress_image::{ImageOffset, ReaderRequirements};
use coldpress_report::text::shell_word;

use super::reader::{Known, Reader};
use super::rules::{Change, Finding, Verdict};

/// The block size that `coldpress build` takes if none is asked for.
const DEFAULT_BLOCK_BYTES: u32 = 128 << 10;
/// Compressors from the one to be preferred on: fast to read, then small, then read everywhere.
const PREFERRED: [Compressor; 5] = [
    Compressor::Zstd,
    Compressor::Xz,
    Compressor::Gzip,
    Compressor::Lz4,
    Compressor::Lzo,
];

/// The command, if there is one that helps.
///
/// * `path`, `offset`: the image that was judged, and where in its file it begins.
pub(super) fn command(
    path: &Path,
    offset: Option<ImageOffset>,
    requirements: &ReaderRequirements,
    reader: &Reader,
    findings: &[Finding],
) -> Option<String> {
    let refused = findings
        .iter()
        .any(|finding| finding.verdict == Verdict::No);
    let counted = |finding: &&Finding| finding.verdict == Verdict::No || !refused;
    let changes: Vec<Change> = findings
        .iter()
        .filter(counted)
        .filter_map(|finding| finding.change)
        .collect();
    // A reader that has no SquashFS at all will not be helped.
    let helpless = findings
        .iter()
        .any(|finding| finding.verdict == Verdict::No && finding.change.is_none());
    if changes.is_empty() || helpless {
        return None;
    }
    let mut words = vec!["coldpress build".to_owned()];
    let image = shell_word(path.as_os_str().as_bytes());
    if matches!(offset, None | Some(ImageOffset::Bytes(0))) {
        words.push(format!("{image} OUT"));
    } else {
        let offset = match offset {
            Some(ImageOffset::Bytes(start)) => start.to_string(),
            _ => "auto".to_owned(),
        };
        words = vec![format!(
            "coldpress extract --offset {offset} {image} TREE && coldpress build TREE OUT"
        )];
    }
    words.extend(flags(&changes, requirements, reader));
    Some(words.join(" "))
}

fn flags(changes: &[Change], requirements: &ReaderRequirements, reader: &Reader) -> Vec<String> {
    let mut flags = Vec::new();
    let has = |change: Change| changes.contains(&change);
    let own = Some(requirements.compressor).filter(|own| reader.compressor(*own) != Known::No);
    let best = PREFERRED
        .into_iter()
        .find(|compressor| reader.compressor(*compressor) == Known::Yes);
    let compressor = if has(Change::Compressor) { best } else { own };
    let is_rewritten = changes.iter().any(|change| {
        matches!(
            change,
            Change::Compressor | Change::Options | Change::BlockSize(_)
        )
    });
    if is_rewritten && let Some(compressor) = compressor {
        flags.push(format!("-c {compressor}"));
    }
    let asked = changes.iter().filter_map(|change| match change {
        Change::BlockSize(bytes) => Some(*bytes),
        _ => None,
    });
    let own_bytes = requirements.block_size.bytes();
    let block_bytes = asked.max().or(is_rewritten.then_some(own_bytes));
    if let Some(bytes) = block_bytes.filter(|bytes| *bytes != DEFAULT_BLOCK_BYTES) {
        flags.push(format!("-b {bytes}"));
    }
    for (change, flag) in [
        (Change::NoFragments, "--tails none"),
        (Change::NoXattrs, "--no-xattrs"),
        (Change::AllRoot, "--all-root"),
    ] {
        if has(change) {
            flags.push(flag.to_owned());
        }
    }
    flags
}
