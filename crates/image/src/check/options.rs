//! The compressor options.

use coldpress_format::{CompressorOptions, Part};

use crate::findings::Findings;
use crate::image::Image;

/// Bytes of the smallest block that an xz dictionary is made for.
const DICTIONARY_MIN_BYTES: u32 = 8192;
/// The only algorithm of lzo with levels: LZO1X-999.
const LZO_WITH_LEVELS: u32 = 4;
/// Strategies that gzip has, filters that xz has.
const STRATEGIES: u16 = 0x1f;
const FILTERS: u32 = 0xff;

/// Checks what is unusual in options that parse.
pub(super) fn check(image: &Image, findings: &mut Findings) {
    let Some(options) = image.options() else {
        return;
    };
    let superblock = image.superblock();
    let at = (Part::CompressorOptions, 96);
    if let Ok(block) = image.store.metadata_block(at.1, image.data_area()) {
        let (found, usual) = (block.content.len() as u64, options.write().len() as u64);
        findings.expect_usual(at, "bytes of options", found, usual);
        // What is parsed and written again is what has a meaning.
        let mut unlike = options.write().into_iter().zip(&block.content);
        let unlike = unlike.any(|(known, found)| known != *found);
        let field = "number of option bits without a meaning";
        findings.expect_usual(at, field, unlike.into(), 0);
    }
    let mut usual = |field, found: u32, usual: u32| {
        findings.expect_usual(at, field, found.into(), usual.into());
    };
    match options {
        CompressorOptions::Gzip { strategies, .. } => {
            usual("unknown strategies", (strategies & !STRATEGIES).into(), 0);
        }
        CompressorOptions::Lzo { algorithm, level } if algorithm != LZO_WITH_LEVELS => {
            usual("lzo level of an algorithm without levels", level, 0);
        }
        CompressorOptions::Xz {
            dictionary_size,
            filters,
        } => {
            usual("unknown filters", filters & !FILTERS, 0);
            let most = superblock.block_size.bytes().max(DICTIONARY_MIN_BYTES);
            let field = "xz dictionary size (no more than a block is used)";
            usual(field, dictionary_size.max(most), most);
        }
        _ => {}
    }
}
