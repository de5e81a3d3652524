//! Tools that write images: mksquashfs and gensquashfs.

use coldpress_codec::{Choices, Filter};
use coldpress_format::Compressor;
use coldpress_layout::Tails;

use super::{Equivalent, all_words, encoding_lacks, level_lacks, order_lacks, texts};
use crate::candidate::{Candidate, OrderBy};

/// The command of squashfs-tools.
pub(crate) fn mksquashfs(candidate: &Candidate) -> Equivalent {
    let mut words = all_words(candidate);
    if candidate.order != OrderBy::Tree {
        words.extend(["-sort", "SORT-FILE"].map(str::to_owned));
    }
    Equivalent {
        tool: "mksquashfs",
        lines: vec![format!("mksquashfs SOURCE IMAGE {}", words.join(" "))],
        lacks: texts([
            level_lacks(candidate),
            order_lacks(candidate, true),
            encoding_lacks(candidate),
        ]),
    }
}

/// The command of squashfs-tools-ng, which packs every tail end unless it is told not to.
pub(crate) fn gensquashfs(candidate: &Candidate) -> Equivalent {
    let tool = "gensquashfs";
    let Some(settings) = candidate.compression else {
        let why = "images without compression";
        return Equivalent {
            tool,
            lacks: vec![why.to_owned()],
            ..Equivalent::default()
        };
    };
    let level = settings.level;
    let mut words = vec!["-c".to_owned(), settings.compressor.to_string()];
    let (takes, lacks) = gensquashfs_filters(candidate);
    let filters = takes.map_or(String::new(), |filters| format!(",{filters}"));
    let extra = match settings.compressor {
        Compressor::Lzo if level == 0 => Some("algorithm=lzo1x_1".to_owned()),
        Compressor::Lz4 => (level > 0).then(|| "hc".to_owned()),
        Compressor::Gzip => Some(format!("level={}", level.min(9))),
        _ => Some(format!("level={level}{filters}")),
    };
    words.extend(extra.into_iter().flat_map(|extra| ["-X".to_owned(), extra]));
    words.extend(["-b".to_owned(), candidate.block_size.bytes().to_string()]);
    if candidate.tails != Tails::All {
        words.push("-T".to_owned());
    }
    if candidate.order != OrderBy::Tree {
        words.extend(["-S", "SORT-FILE"].map(str::to_owned));
    }
    let tails = "files without fragments, but by `[dont_fragment]` in a sort file";
    let raw = "raw data, but by `[dont_compress]` in a sort file";
    // Levels of xz it has.
    let level = match settings.compressor {
        Compressor::Xz => None,
        _ => level_lacks(candidate).map(|lacks| lacks.replace("-Xhc", "hc")),
    };
    Equivalent {
        tool,
        lines: vec![format!("gensquashfs {} -D SOURCE IMAGE", words.join(" "))],
        lacks: texts([
            level,
            lacks,
            (candidate.tails == Tails::None).then(|| tails.to_owned()),
            candidate.uncompressed.data.then(|| raw.to_owned()),
            order_lacks(candidate, true),
            encoding_lacks(candidate),
        ]),
    }
}

/// The filters of xz that it takes, and those that it does not have.
fn gensquashfs_filters(candidate: &Candidate) -> (Option<Choices<Filter>>, Option<String>) {
    let is_new = |filter: &Filter| matches!(filter, Filter::Arm64 | Filter::RiscV);
    let (lacks, takes): (Vec<_>, Vec<_>) = candidate.filters().iter().partition(is_new);
    let named = |filters: Vec<Filter>| -> Option<Choices<Filter>> {
        (!filters.is_empty()).then(|| filters.into_iter().collect())
    };
    let lacks = named(lacks).map(|filters| format!("the filter {filters} of xz"));
    (named(takes), lacks)
}
