//! What is tried.

use coldpress_codec::{Choices, Filter, Settings, Tuning, XzTuning};
use coldpress_format::{BlockSize, Compressor};
use coldpress_layout::{Group, Tails};
use coldpress_writer::Uncompressed;

use crate::candidate::{Candidate, OrderBy};
use crate::effort::Effort;

/// What the field is made of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldOptions {
    /// How much is tried.
    pub effort: Effort,
    /// The compressors that may be, `None` among them for no compression; all if empty.
    pub compressors: Vec<Option<Compressor>>,
    /// The block sizes that may be; as the effort says if empty.
    pub block_sizes: Vec<BlockSize>,
    /// The least bytes of a block: a kernel does not mount an image whose blocks are smaller than
    /// its pages.
    pub block_bytes_min: u32,
    /// The filters of xz for the machine code that there is, if the effort is worth it.
    pub filters: Choices<Filter>,
    /// Whether there is a plan to order images by.
    pub has_plan: bool,
    /// Whether there are bytes to spend on blocks that are stored as they are.
    pub has_budget: bool,
    /// By what tail ends share fragment blocks that no plan names.
    pub group: Group,
}

impl FieldOptions {
    /// The compressors with their levels, `None` for none.
    fn compressions(&self) -> Vec<Option<Settings>> {
        let is_wanted =
            |compressor| self.compressors.is_empty() || self.compressors.contains(&compressor);
        let mut compressions = Vec::new();
        for &(compressor, level) in self.effort.levels() {
            if !is_wanted(Some(compressor)) {
                continue;
            }
            let settings = settings(compressor, level);
            compressions.push(Some(settings));
            if compressor == Compressor::Xz && self.effort.filters() && !self.filters.is_empty() {
                let tuning = Tuning::Xz(XzTuning {
                    filters: self.filters,
                    ..XzTuning::default()
                });
                compressions.push(Some(Settings { tuning, ..settings }));
            }
        }
        compressions.extend(is_wanted(None).then_some(None));
        compressions
    }

    fn block_sizes(&self) -> Vec<BlockSize> {
        let mut sizes = self.block_sizes.clone();
        if sizes.is_empty() {
            let kib = self.effort.block_sizes_kib().iter();
            sizes.extend(kib.filter_map(|kib| BlockSize::new(kib << 10).ok()));
        }
        sizes.retain(|size| size.bytes() >= self.block_bytes_min);
        sizes
    }

    /// Orders, and whether the budget is spent.
    fn orders(&self) -> &'static [(OrderBy, bool)] {
        match (self.has_plan, self.has_budget) {
            (false, _) => &[(OrderBy::Tree, false)],
            (true, false) => &[(OrderBy::Plan, false), (OrderBy::Tree, false)],
            (true, true) => &[
                (OrderBy::Plan, false),
                (OrderBy::Plan, true),
                (OrderBy::Tree, false),
            ],
        }
    }
}

/// The candidates, each once: those of a compressor together, small blocks first.
pub fn field(options: &FieldOptions) -> Vec<Candidate> {
    let sizes = options.block_sizes();
    let mut field = Vec::new();
    for compression in options.compressions() {
        for &block_size in &sizes {
            for &tails in options.effort.tails(block_size) {
                // Without compression everything is stored.
                let lawful = options
                    .orders()
                    .iter()
                    .filter(|(_, spends)| !spends || compression.is_some());
                field.extend(lawful.map(|&(order, spends)| Candidate {
                    compression,
                    uncompressed: Uncompressed::default(),
                    block_size,
                    tails,
                    group: match tails {
                        Tails::None => Group::None,
                        _ => options.group,
                    },
                    order,
                    spends,
                }));
            }
        }
    }
    field
}

/// A compressor at a level, without tuning.
pub(crate) fn settings(compressor: Compressor, level: i32) -> Settings {
    Settings {
        compressor,
        level,
        tuning: Tuning::Default,
    }
}

#[cfg(test)]
mod tests;
