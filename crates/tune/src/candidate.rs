//! An image as it could be built.

use std::fmt;

use coldpress_codec::{Choices, Filter, Settings, Tuning};
use coldpress_format::{BlockSize, Compressor};
use coldpress_layout::{Group, Tails};
use coldpress_writer::Uncompressed;

/// What makes one image differ from another of the same source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// The compressor and its level; `None` stores everything as it is.
    pub compression: Option<Settings>,
    /// What is stored as it is although there is a compressor.
    pub uncompressed: Uncompressed,
    /// Bytes of a data block.
    pub block_size: BlockSize,
    /// Which tail ends share fragment blocks.
    pub tails: Tails,
    /// By what those that no plan names share them.
    pub group: Group,
    /// What decides where things lie.
    pub order: OrderBy,
    /// Whether the size budget is spent on blocks of the start that are stored as they are.
    pub spends: bool,
}

/// What an image is ordered by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum OrderBy {
    /// The tree alone.
    Tree,
    /// A sort file: the data of files as a start needs them, metadata by the tree.
    SortFile,
    /// A plan: data, tail ends, inodes and listings as a start needs them.
    Plan,
}

impl Candidate {
    /// The compressor; `None` of an image without.
    pub fn compressor(&self) -> Option<Compressor> {
        self.compression.map(|settings| settings.compressor)
    }

    /// The filters of xz.
    pub fn filters(&self) -> Choices<Filter> {
        match self.compression.map(|settings| settings.tuning) {
            Some(Tuning::Xz(tuning)) => tuning.filters,
            _ => Choices::NONE,
        }
    }

    /// The compressor, its level and its filters: `zstd 15`, `xz 6 x86`, `none`.
    pub fn compression_text(&self) -> String {
        match self.compression {
            None => "none".to_owned(),
            Some(Settings {
                compressor, level, ..
            }) if self.filters().is_empty() => format!("{compressor} {level}"),
            Some(Settings {
                compressor, level, ..
            }) => format!("{compressor} {level} {}", self.filters()),
        }
    }

    /// The block size as it is typed: `128K`, `1M`.
    pub fn block_text(&self) -> String {
        block_text(self.block_size)
    }
}

/// `zstd 15, 128K, planned`: the compressor, the block size, and what is not as mksquashfs does it.
impl fmt::Display for Candidate {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "{}, {}",
            self.compression_text(),
            self.block_text()
        )?;
        if self.uncompressed.data && self.compression.is_some() {
            formatter.write_str(", raw data")?;
        }
        formatter.write_str(match self.tails {
            Tails::None => ", no fragments",
            Tails::Small => "",
            Tails::All => ", all tails",
        })?;
        formatter.write_str(match self.group {
            Group::None => "",
            Group::Extension => ", grouped by extension",
            Group::Similar => ", similar tails grouped",
        })?;
        formatter.write_str(match self.order {
            OrderBy::Tree => "",
            OrderBy::SortFile => ", sorted",
            OrderBy::Plan => ", planned",
        })?;
        formatter.write_str(if self.spends {
            ", hot blocks stored"
        } else {
            ""
        })
    }
}

/// `128K`, `1M`.
pub(crate) fn block_text(size: BlockSize) -> String {
    match size {
        BlockSize::MAX => "1M".to_owned(),
        _ => format!("{}K", size.bytes() >> 10),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A candidate as mksquashfs would build it.
    pub(crate) fn candidate(compressor: Compressor, level: i32, block_bytes: u32) -> Candidate {
        Candidate {
            compression: Some(Settings {
                compressor,
                level,
                tuning: Tuning::Default,
            }),
            uncompressed: Uncompressed::default(),
            block_size: BlockSize::new(block_bytes).expect("a block size"),
            tails: Tails::Small,
            group: Group::None,
            order: OrderBy::Tree,
            spends: false,
        }
    }

    #[test]
    fn a_candidate_is_called_by_what_it_is() {
        let zstd = candidate(Compressor::Zstd, 15, 128 << 10);
        let raw = Uncompressed {
            data: true,
            ..Uncompressed::default()
        };
        for (candidate, name) in [
            (zstd, "zstd 15, 128K"),
            (
                Candidate {
                    compression: None,
                    block_size: BlockSize::MAX,
                    ..zstd
                },
                "none, 1M",
            ),
            (
                Candidate {
                    tails: Tails::None,
                    order: OrderBy::Plan,
                    spends: true,
                    ..zstd
                },
                "zstd 15, 128K, no fragments, planned, hot blocks stored",
            ),
            (
                Candidate {
                    uncompressed: raw,
                    tails: Tails::All,
                    order: OrderBy::SortFile,
                    block_size: BlockSize::MIN,
                    ..zstd
                },
                "zstd 15, 4K, raw data, all tails, sorted",
            ),
            (
                Candidate {
                    group: Group::Similar,
                    order: OrderBy::Plan,
                    ..zstd
                },
                "zstd 15, 128K, similar tails grouped, planned",
            ),
        ] {
            assert_eq!(candidate.to_string(), name);
        }
    }
}
