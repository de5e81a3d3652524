//! Tools that make packages and containers: appimagetool, snapcraft, enroot.

use coldpress_codec::Settings;
use coldpress_format::{BlockSize, Compressor};
use coldpress_layout::Tails;

use super::{
    Equivalent, all_words, encoding_lacks, level_lacks, mksquashfs_words, order_lacks, tail_words,
    texts,
};
use crate::candidate::{Candidate, OrderBy};

/// The mksquashfs inside appimagetool has zstd alone.
pub(crate) fn appimagetool(candidate: &Candidate) -> Equivalent {
    let tool = "appimagetool";
    let settings = candidate.compression;
    let Some(settings) = settings.filter(|found| found.compressor == Compressor::Zstd) else {
        return Equivalent {
            tool,
            lacks: vec!["compressors but zstd".to_owned()],
            ..Equivalent::default()
        };
    };
    let mut words = mksquashfs_words(&settings);
    words.extend(["-b".to_owned(), candidate.block_text()]);
    words.extend(tail_words(candidate));
    words.extend(candidate.uncompressed.data.then(|| "-noD".to_owned()));
    if candidate.order != OrderBy::Tree {
        words.extend(["-sort", "SORT-FILE"].map(str::to_owned));
    }
    let passed: Vec<String> = words
        .iter()
        .map(|word| format!("--mksquashfs-opt {word}"))
        .collect();
    let line = format!("appimagetool --comp zstd {} SOURCE", passed.join(" "));
    Equivalent {
        tool,
        lines: vec![line],
        lacks: texts([
            level_lacks(candidate),
            order_lacks(candidate, true),
            encoding_lacks(candidate),
        ]),
    }
}

/// snapcraft hands over the compressor; `snap pack` decides the rest.
pub(crate) fn snapcraft(candidate: &Candidate) -> Equivalent {
    let tool = "snapcraft";
    let compressor = candidate.compressor();
    let Some(compressor) =
        compressor.filter(|known| [Compressor::Xz, Compressor::Lzo].contains(known))
    else {
        return Equivalent {
            tool,
            lacks: vec!["compressors but xz and lzo".to_owned()],
            ..Equivalent::default()
        };
    };
    let default = Settings::new(compressor, None).ok();
    let other_level = default.map(|default| default.level)
        != candidate.compression.map(|settings| settings.level);
    let block = candidate.block_size != BlockSize::DEFAULT;
    Equivalent {
        tool,
        lines: vec![format!("compression: {compressor}")],
        lacks: texts([
            other_level.then(|| "levels".to_owned()),
            (!candidate.filters().is_empty()).then(|| "filters".to_owned()),
            block.then(|| "blocks but of 128K".to_owned()),
            (candidate.tails != Tails::None).then(|| "fragments".to_owned()),
            candidate.uncompressed.data.then(|| "raw data".to_owned()),
            order_lacks(candidate, false),
            encoding_lacks(candidate),
        ]),
    }
}

/// enroot hands its options to mksquashfs.
pub(crate) fn enroot(candidate: &Candidate) -> Equivalent {
    let words = all_words(candidate).join(" ");
    Equivalent {
        tool: "enroot",
        lines: vec![format!(
            "ENROOT_SQUASH_OPTIONS=\"{words} -exit-on-error\" enroot import URI"
        )],
        lacks: texts([
            level_lacks(candidate),
            order_lacks(candidate, false),
            encoding_lacks(candidate),
        ]),
    }
}
