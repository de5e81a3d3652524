//! What is tried.

use coldpress_build::Uncompressed;
use coldpress_codec::{Settings, Tuning};
use coldpress_format::BlockSize;
use coldpress_format::Compressor::{self, Gzip, Lz4, Lzo, Xz, Zstd};
use coldpress_layout::Tails;

use crate::candidate::{Candidate, OrderBy};

/// How much is tried.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Effort {
    /// Each compressor at one level, two block sizes.
    Fast,
    /// The levels that differ, five block sizes.
    #[default]
    Usual,
    /// Every block size and more levels.
    Thorough,
}

/// What the field is made of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldOptions {
    /// How much is tried.
    pub effort: Effort,
    /// The compressors that may be, `None` among them for no compression; all if empty.
    pub compressors: Vec<Option<Compressor>>,
    /// The block sizes that may be; as the effort says if empty.
    pub block_sizes: Vec<BlockSize>,
    /// The least bytes of a block: a kernel does not mount an image whose blocks are smaller than its pages.
    pub block_bytes_min: u32,
    /// Whether there is a plan to order images by.
    pub has_plan: bool,
    /// Whether there are bytes to spend on blocks that are stored as they are.
    pub has_budget: bool,
}

/// Levels that are worth their time, and differ: lzo and lz4 decompress alike at every level, and
/// beyond zstd's 15 bytes become dear.
const LEVELS: [(Effort, &[(Compressor, i32)]); 3] = [
    (
        Effort::Fast,
        &[(Gzip, 9), (Lzo, 8), (Lz4, 12), (Xz, 6), (Zstd, 15)],
    ),
    (
        Effort::Usual,
        &[
            (Gzip, 9),
            (Lzo, 8),
            (Lz4, 12),
            (Xz, 6),
            (Zstd, 3),
            (Zstd, 15),
            (Zstd, 22),
        ],
    ),
    (
        Effort::Thorough,
        &[
            (Gzip, 6),
            (Gzip, 9),
            (Gzip, 12),
            (Lzo, 0),
            (Lzo, 8),
            (Lz4, 0),
            (Lz4, 12),
            (Xz, 6),
            (Xz, 9),
            (Zstd, 1),
            (Zstd, 3),
            (Zstd, 9),
            (Zstd, 15),
            (Zstd, 19),
            (Zstd, 22),
        ],
    ),
];

impl Effort {
    fn levels(self) -> &'static [(Compressor, i32)] {
        let found = LEVELS.iter().find(|(effort, _)| *effort == self);
        found.map_or(&[], |(_, levels)| levels)
    }

    fn block_sizes_kib(self) -> &'static [u32] {
        match self {
            Self::Fast => &[128, 1024],
            Self::Usual => &[16, 64, 128, 256, 1024],
            Self::Thorough => &[4, 8, 16, 32, 64, 128, 256, 512, 1024],
        }
    }
}

/// The candidates, each once: those of a compressor together, small blocks first.
pub fn field(options: &FieldOptions) -> Vec<Candidate> {
    let FieldOptions {
        effort,
        compressors,
        block_sizes,
        block_bytes_min,
        has_plan,
        has_budget,
    } = options;
    let is_wanted = |compressor| compressors.is_empty() || compressors.contains(&compressor);
    let levels = effort.levels().iter();
    let compressions = levels
        .filter(|(compressor, _)| is_wanted(Some(*compressor)))
        .map(|&(compressor, level)| Some(settings(compressor, level)))
        .chain(is_wanted(None).then_some(None));
    let mut sizes: Vec<BlockSize> = if block_sizes.is_empty() {
        let sizes = effort.block_sizes_kib().iter();
        sizes
            .filter_map(|kib| BlockSize::new(kib << 10).ok())
            .collect()
    } else {
        block_sizes.clone()
    };
    sizes.retain(|size| size.bytes() >= *block_bytes_min);
    let orders: &[(OrderBy, bool)] = match (*has_plan, *has_budget) {
        (false, _) => &[(OrderBy::Tree, false)],
        (true, false) => &[(OrderBy::Plan, false), (OrderBy::Tree, false)],
        (true, true) => &[
            (OrderBy::Plan, false),
            (OrderBy::Plan, true),
            (OrderBy::Tree, false),
        ],
    };
    let mut field = Vec::new();
    for compression in compressions {
        for &block_size in &sizes {
            for tails in [Tails::Small, Tails::None] {
                // Without compression everything is stored.
                let lawful = orders
                    .iter()
                    .filter(|(_, spends)| !spends || compression.is_some());
                field.extend(lawful.map(|&(order, spends)| Candidate {
                    compression,
                    uncompressed: Uncompressed::default(),
                    block_size,
                    tails,
                    order,
                    spends,
                }));
            }
        }
    }
    field
}

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
/// The order of metadata and of tail ends is that of coldpress, which is as good as theirs or better.
///
/// * `has_plan`: whether there is a plan, which a sort file is made of; without one, who sorts
///   does not.
pub fn defaults_today(has_plan: bool) -> [Today; 5] {
    let image = |compressor, level, block_size| Candidate {
        compression: Some(settings(compressor, level)),
        uncompressed: Uncompressed::default(),
        block_size,
        tails: Tails::Small,
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

fn settings(compressor: Compressor, level: i32) -> Settings {
    Settings {
        compressor,
        level,
        tuning: Tuning::Default,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_candidate_can_be_built_and_comes_once() {
        for effort in [Effort::Fast, Effort::Usual, Effort::Thorough] {
            for has_plan in [false, true] {
                let options = FieldOptions {
                    effort,
                    has_plan,
                    ..FieldOptions::default()
                };
                let field = field(&options);
                let today = defaults_today(has_plan).map(|today| today.candidate);
                for candidate in field.iter().chain(&today) {
                    if let Some(settings) = candidate.compression {
                        let checked = settings.check(candidate.block_size);
                        assert!(checked.is_ok(), "{candidate}: {checked:?}");
                    }
                    let is_planned = candidate.order != OrderBy::Tree;
                    assert!(has_plan || !is_planned, "{candidate}");
                    let alike = field.iter().filter(|other| *other == candidate);
                    assert!(alike.count() <= 1, "{candidate}");
                }
            }
        }
    }

    #[test]
    fn more_effort_tries_all_that_less_does() {
        let of = |effort| {
            field(&FieldOptions {
                effort,
                has_plan: true,
                ..FieldOptions::default()
            })
        };
        let [fast, usual, thorough] = [Effort::Fast, Effort::Usual, Effort::Thorough].map(of);
        // Compressors and none, block sizes, with fragments and without, with the plan and without.
        let lengths = [fast.len(), usual.len(), thorough.len()];
        assert_eq!(lengths, [6 * 2 * 4, 8 * 5 * 4, 16 * 9 * 4]);
        assert!(fast.iter().all(|candidate| usual.contains(candidate)));
        assert!(usual.iter().all(|candidate| thorough.contains(candidate)));
    }

    #[test]
    fn only_what_is_asked_for_is_tried() {
        let few = field(&FieldOptions {
            compressors: vec![Some(Zstd), None],
            block_sizes: vec![BlockSize::MIN],
            ..FieldOptions::default()
        });
        let names: Vec<String> = few.iter().map(ToString::to_string).collect();
        let expected = [
            "zstd 3, 4K",
            "zstd 3, 4K, no fragments",
            "zstd 15, 4K",
            "zstd 15, 4K, no fragments",
            "zstd 22, 4K",
            "zstd 22, 4K, no fragments",
            "none, 4K",
            "none, 4K, no fragments",
        ];
        assert_eq!(names, expected);
        let large = field(&FieldOptions {
            block_bytes_min: 64 << 10,
            compressors: vec![None],
            ..FieldOptions::default()
        });
        let mut sizes: Vec<String> = large.iter().map(Candidate::block_text).collect();
        sizes.dedup();
        assert_eq!(sizes, ["64K", "128K", "256K", "1M"]);
        let spending = field(&FieldOptions {
            has_plan: true,
            has_budget: true,
            ..FieldOptions::default()
        });
        let spending: Vec<_> = spending
            .iter()
            .filter(|candidate| candidate.spends)
            .collect();
        assert_eq!(spending.len(), 7 * 5 * 2);
        let is_lawful = |candidate: &&&Candidate| {
            candidate.compression.is_some() && candidate.order == OrderBy::Plan
        };
        assert!(spending.iter().all(|candidate| is_lawful(&candidate)));
    }
}
