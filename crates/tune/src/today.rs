//! What tools build today.

use coldpress_format::BlockSize;
use coldpress_format::Compressor::{Gzip, Lzo, Xz, Zstd};
use coldpress_layout::{Group, Tails};
use coldpress_writer::Uncompressed;

use crate::candidate::{Candidate, OrderBy};
use crate::field::settings;

/// What a tool builds unless told otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Today {
    /// The tool.
    pub tool: &'static str,
    /// Its candidate.
    pub candidate: Candidate,
}

/// The defaults of tools. Where they come from stands in docs/tune.md.
///
/// The order of metadata and of tail ends is that of coldpress, which is as good as theirs or
/// better.
///
/// * `has_plan`: whether there is a plan, which a sort file is made of; without one, who sorts
///   does not.
pub fn defaults_today(has_plan: bool) -> [Today; 5] {
    let image = |compressor, level, block_size| Candidate {
        compression: Some(settings(compressor, level)),
        uncompressed: Uncompressed::default(),
        block_size,
        tails: Tails::Small,
        group: Group::None,
        order: OrderBy::Tree,
        spends: false,
    };
    let default = BlockSize::DEFAULT;
    [
        Today {
            tool: "mksquashfs",
            candidate: image(Gzip, 9, default),
        },
        Today {
            tool: "snap",
            candidate: Candidate {
                tails: Tails::None,
                ..image(Xz, 6, default)
            },
        },
        Today {
            tool: "Tails",
            candidate: Candidate {
                order: if has_plan {
                    OrderBy::SortFile
                } else {
                    OrderBy::Tree
                },
                ..image(Zstd, 22, BlockSize::MAX)
            },
        },
        Today {
            tool: "enroot",
            candidate: Candidate {
                uncompressed: Uncompressed {
                    data: true,
                    ..Uncompressed::default()
                },
                ..image(Lzo, 8, default)
            },
        },
        Today {
            tool: "appimagetool",
            candidate: image(Zstd, 15, default),
        },
    ]
}
