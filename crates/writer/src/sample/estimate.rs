//! From blocks to an image: what all of it takes.

use std::num::NonZeroUsize;

use coldpress_assemble::Table;
use coldpress_format::PADDING_SIZE;

use super::curve::{Expected, real, whole};
use super::effort;
use super::geometry::Geometry;
use super::ratio_model::{Part, Parts, RatioModel};
use super::surveyed::Surveyed;
use super::tables::Tables;
use crate::options::Options;
use crate::source::Source;
use crate::write::options_block;

/// What writing and reading an image would be like.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Estimate {
    /// Bytes of the image, padding included.
    pub image_bytes: u64,
    /// Bytes of the data area, fragment blocks included.
    pub data_bytes: u64,
    /// Bytes of the fragment blocks.
    pub fragment_bytes: u64,
    /// Bytes of everything that is not data, superblock included.
    pub table_bytes: u64,
    /// Standard error of the bytes of the image: two candidates that are closer are not told apart.
    pub error_bytes: u64,
    /// Processor time that compressing takes, in s.
    pub compress_s: f64,
    /// Processor time that reading the source takes, in s. Waiting for the disk is not in it.
    pub read_s: f64,
    /// Processor time that decompressing the whole data area takes, in s, in user space.
    pub decompress_s: f64,
    /// Bytes that this gives.
    pub decompressed_bytes: u64,
    /// Blocks that it is done for.
    pub decompressed_blocks: u64,
    /// Memory that writing takes at its peak, in bytes.
    pub memory_bytes: u64,
}

impl Estimate {
    /// Time of writing the image with so many threads, in s, if the disk makes nobody wait.
    pub fn build_s(&self, threads: NonZeroUsize) -> f64 {
        (self.compress_s + self.read_s) / real(threads.get() as u64)
    }
}

impl RatioModel {
    /// What a block is expected to take.
    pub(super) fn expected(&self, part: &Part, place: usize) -> Expected {
        /// Finding out that a block is not to be compressed (`coldpress_codec::is_incompressible`).
        const PROBING_S: f64 = 0.8e-9;
        let block = &self.populations[part.population].blocks[place];
        match part.curve {
            Some(curve) if block.is_in_question() => self.compressed(curve, block, place),
            curve => Expected {
                stored_bytes: block.stored_bytes(),
                compress_s: curve.map_or(0.0, |_| PROBING_S * f64::from(block.len_bytes)),
                decompress_s: 0.0,
            },
        }
    }

    /// What a block is expected to take that a compressor is tried on.
    fn compressed(&self, curve: usize, block: &Surveyed, place: usize) -> Expected {
        let curve = &self.curves[curve];
        let proxy_bytes = match curve.proxy {
            Some(proxy) => self.compressed(proxy, block, place).stored_bytes,
            None => block.fast_bytes(curve.family),
        };
        curve.expected(block, place, proxy_bytes)
    }
}

/// What is added up for a candidate.
pub(super) struct Adding<'a> {
    pub(super) source: &'a Source,
    pub(super) ratio_model: &'a RatioModel,
    pub(super) geometry: &'a Geometry,
    pub(super) tables: &'a Tables,
    pub(super) read_s: f64,
}

impl Adding<'_> {
    pub(super) fn estimate(&self, options: &Options, parts: &Parts) -> Estimate {
        let mut estimate = Estimate {
            read_s: self.read_s,
            ..Estimate::default()
        };
        let mut block_count = 0;
        let files = self.ratio_model.populations[parts.files.population].files();
        for node in self.geometry.files() {
            let count = self
                .geometry
                .block_count(node, self.source.size_bytes(node));
            let count = usize::try_from(count).unwrap_or(usize::MAX);
            let places = files.get(&node).cloned().unwrap_or_default();
            for place in places.take(count) {
                estimate.add(self.ratio_model, &parts.files, place);
            }
            block_count += count as u64;
        }
        let files_bytes = estimate.data_bytes;
        for place in parts.fragment_places.clone() {
            estimate.add(self.ratio_model, &parts.fragments, place);
        }
        estimate.fragment_bytes = estimate.data_bytes - files_bytes;
        self.add_tables(&mut estimate, options, &parts.tables);
        estimate.image_bytes = estimate.data_bytes + estimate.table_bytes;
        if options.is_padded {
            estimate.image_bytes = estimate.image_bytes.next_multiple_of(PADDING_SIZE);
        }
        // Files and fragment blocks have one curve, if they have any.
        let data_curve = parts.files.curve.or(parts.fragments.curve);
        let curves = [data_curve, parts.tables.curve].into_iter().flatten();
        let variance: f64 = curves
            .map(|curve| self.ratio_model.curves[curve].variance)
            .sum();
        estimate.error_bytes = whole(variance.sqrt());
        let node_count = self.source.tree.nodes.len();
        estimate.memory_bytes = effort::writing_bytes(options, node_count, block_count);
        estimate
    }

    fn add_tables(&self, estimate: &mut Estimate, options: &Options, part: &Part) {
        let stored = options.stored();
        estimate.table_bytes = self.tables.fixed_bytes + options_block(options).len() as u64;
        if options.exportable {
            estimate.table_bytes += self.tables.export_fixed_bytes;
        }
        for (place, table) in self.tables.of_blocks.iter().enumerate() {
            if *table == Table::Export && !options.exportable {
                continue;
            }
            let curve = part.curve.filter(|_| !stored.has(*table));
            let expected = self.ratio_model.expected(&Part { curve, ..*part }, place);
            estimate.table_bytes += u64::from(expected.stored_bytes);
            estimate.compress_s += expected.compress_s;
        }
    }
}

impl Estimate {
    /// Adds a block of the data area.
    fn add(&mut self, ratio_model: &RatioModel, part: &Part, place: usize) {
        let expected = ratio_model.expected(part, place);
        let block = &ratio_model.populations[part.population].blocks[place];
        self.data_bytes += u64::from(expected.stored_bytes);
        self.compress_s += expected.compress_s;
        self.decompress_s += expected.decompress_s;
        let is_compressed = (1..block.len_bytes).contains(&expected.stored_bytes);
        if is_compressed {
            self.decompressed_bytes += u64::from(block.len_bytes);
            self.decompressed_blocks += 1;
        }
    }
}
