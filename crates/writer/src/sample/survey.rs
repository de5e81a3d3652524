//! The survey: every block once, with a fast compressor for each family, in some of the block
//! sizes; in others a block counts as the sum of smaller ones.
//!
//! With what it finds, few samples suffice: what zeros and incompressible blocks
//! take is known for every candidate, and what another compressor makes of a block is close to
//! proportional to what the fast one does.

use std::ops::Range;

use coldpress_codec::{Work, Workers, ordered};
use coldpress_format::BlockSize;
use coldpress_layout::{NodeId, Order};

use super::geometry::Geometry;
use super::population::{Content, Population, read_tails};
use super::surveyed::{Family, Surveyed, Surveyor};
use crate::error::Error;
use crate::progress::Meter;
use crate::reader::{Job, Jobs, Opening};
use crate::source::Source;

/// Blocks of a size are compressed that is so many times the last one of which they are: 16K, 128K
/// and 1M of 16K, 64K, 128K, 256K and 1M. Blocks between count as the sum of smaller ones, which is
/// what they take but for a factor that samples tell, and a few percent from block to block, less
/// than what the fast compressor leaves untold.
const COMPRESSED_STEP: u32 = 8;

/// What a survey is made with.
pub(super) struct Surveying<'a> {
    pub(super) source: &'a Source,
    pub(super) families: &'a [Family],
    pub(super) workers: Workers,
    pub(super) clock: &'a (dyn Fn() -> f64 + Sync),
}

/// A range of a file, with its blocks of each size.
struct SurveyedRange {
    node: NodeId,
    len_bytes: u64,
    found: Vec<Vec<Surveyed>>,
    read_s: f64,
}

impl Surveying<'_> {
    /// The data blocks of all files for each block size, and the processor time in s that reading
    /// them took. The tail end of a file is a block of its own.
    ///
    /// * `files`: names each file once, by [`Item::Blocks`](coldpress_layout::Item::Blocks).
    /// * `block_sizes`: ascending.
    pub(super) fn files(
        &self,
        files: &Order,
        block_sizes: &[BlockSize],
        meter: &mut Meter,
    ) -> Result<(Vec<Population>, f64), Error> {
        let mut populations: Vec<_> = block_sizes.iter().copied().map(Population::empty).collect();
        let Some(largest) = block_sizes.last() else {
            return Ok((populations, 0.0));
        };
        let granularities = granularities(block_sizes);
        let mut read_s = 0.0;
        let none_packed = vec![false; self.source.tree.nodes.len()];
        ordered(
            Jobs::new(self.source, files, &none_packed, *largest).map(Ok),
            &self.workers,
            || Ok((Surveyor::new(self.families)?, Vec::new())),
            |(surveyor, bytes), job| match job {
                Job::Block {
                    node,
                    file,
                    offset,
                    len_bytes,
                    ..
                } => self.stretch(
                    surveyor,
                    bytes,
                    (node, file.as_ref()),
                    (offset, len_bytes),
                    &granularities,
                ),
                Job::Fragment(..) => unreachable!("no tail end is packed"),
            },
            |stretch| {
                read_s += stretch.read_s;
                for (population, found) in populations.iter_mut().zip(stretch.found) {
                    population.extend(stretch.node, found);
                }
                meter.add(stretch.len_bytes)
            },
        )?;
        Ok((populations, read_s))
    }

    fn stretch(
        &self,
        surveyor: &mut Surveyor,
        bytes: &mut Vec<u8>,
        (node, file): (NodeId, &Opening),
        (offset, len_bytes): (u64, u32),
        granularities: &[Granularity],
    ) -> Result<SurveyedRange, Error> {
        let busy = self.source.busy(Work::Read);
        let begun_s = (self.clock)();
        let read = file.read(offset, len_bytes, bytes);
        let read_s = (self.clock)() - begun_s;
        drop(busy);
        let _busy = self.source.busy(Work::Compress);
        let is_hole = matches!(read, Ok(true));
        if !is_hole {
            // What cannot be read of a file is zeros; it is told when the image is written.
            bytes.resize(len_bytes as usize, 0);
        }
        let mut found: Vec<Vec<Surveyed>> = Vec::new();
        for &Granularity { block_bytes, parts } in granularities {
            let blocks = bytes.chunks(block_bytes as usize);
            let blocks = match (found.last(), parts) {
                // A short file is one and the same block for most block sizes.
                (Some(smaller), _) if smaller.len() == 1 => smaller.clone(),
                _ if is_hole => holes(len_bytes, block_bytes).collect(),
                (Some(smaller), Some(parts)) => {
                    let of_parts = smaller.chunks(parts);
                    let summed = blocks
                        .zip(of_parts)
                        .map(|(block, parts)| Surveyed::sum(block, parts));
                    summed.collect()
                }
                _ => blocks
                    .map(|block| surveyor.data(block))
                    .collect::<Result<_, _>>()?,
            };
            found.push(blocks);
        }
        Ok(SurveyedRange {
            node,
            len_bytes: len_bytes.into(),
            found,
            read_s,
        })
    }

    /// Adds the fragment blocks of each geometry to the population of its block size. Returns the
    /// places that they have there.
    pub(super) fn fragments(
        &self,
        geometries: &[Geometry],
        populations: &mut [Population],
        meter: &mut Meter,
    ) -> Result<Vec<Range<usize>>, Error> {
        for population in &mut *populations {
            population.end_files();
        }
        let mut places = Vec::new();
        for geometry in geometries {
            let block_size = geometry.block_size;
            let mut populations = populations.iter_mut();
            let population = populations.find(|population| population.block_size == block_size);
            let population = population.expect("there is one for each block size");
            let start = population.blocks.len();
            ordered(
                geometry.fragments().map(Ok),
                &self.workers,
                || Ok((Surveyor::new(self.families)?, Vec::new())),
                |(surveyor, bytes), members| {
                    let busy = self.source.busy(Work::Read);
                    read_tails(self.source, block_size, members, bytes);
                    drop(busy);
                    let _busy = self.source.busy(Work::Compress);
                    Ok((members, surveyor.fragment(bytes)?))
                },
                |(members, surveyed)| {
                    population.push_fragment(members, surveyed);
                    meter.add(surveyed.len_bytes.into())
                },
            )?;
            places.push(start..population.blocks.len());
        }
        Ok(places)
    }
}

/// How blocks of a size are surveyed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Granularity {
    block_bytes: u32,
    /// How many of the next smaller blocks one counts as, if it is not compressed.
    parts: Option<usize>,
}

/// * `block_sizes`: ascending.
fn granularities(block_sizes: &[BlockSize]) -> Vec<Granularity> {
    let mut compressed_bytes = None;
    let mut smaller_bytes = 1;
    let granularities = block_sizes.iter().map(|size| {
        let block_bytes = size.bytes();
        let is_near = compressed_bytes.is_some_and(|bytes| block_bytes / bytes < COMPRESSED_STEP);
        let parts = is_near.then_some((block_bytes / smaller_bytes) as usize);
        if !is_near {
            compressed_bytes = Some(block_bytes);
        }
        smaller_bytes = block_bytes;
        Granularity { block_bytes, parts }
    });
    granularities.collect()
}

/// The blocks of a stretch without data.
fn holes(len_bytes: u32, step: u32) -> impl Iterator<Item = Surveyed> {
    let starts = (0..len_bytes).step_by(step as usize);
    starts.map(move |start| Surveyed::zeros(step.min(len_bytes - start)))
}

impl Population {
    fn empty(block_size: BlockSize) -> Self {
        let content = Content::Data {
            files: Vec::new(),
            fragments_start: 0,
            fragments: Vec::new(),
        };
        Self {
            block_size,
            blocks: Vec::new(),
            content,
        }
    }

    /// Adds the next blocks of a file.
    fn extend(&mut self, node: NodeId, found: Vec<Surveyed>) {
        if let Content::Data { files, .. } = &mut self.content
            && files.last().is_none_or(|(_, last)| *last != node)
        {
            files.push((self.blocks.len(), node));
        }
        self.blocks.extend(found);
    }

    /// From here on there are fragment blocks.
    fn end_files(&mut self) {
        if let Content::Data {
            fragments_start, ..
        } = &mut self.content
        {
            *fragments_start = self.blocks.len();
        }
    }

    fn push_fragment(&mut self, members: &[NodeId], surveyed: Surveyed) {
        if let Content::Data { fragments, .. } = &mut self.content {
            fragments.push(members.to_vec());
        }
        self.blocks.push(surveyed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_compressed_in_some_of_the_sizes() {
        for (kib, expected) in [
            (&[][..], &[][..]),
            (&[128], &[None]),
            (&[64, 256], &[None, Some(4)]),
            (&[128, 1024], &[None, None]),
            (
                &[16, 64, 128, 256, 1024],
                &[None, Some(4), None, Some(2), None],
            ),
            (&[4, 8, 16, 32], &[None, Some(2), Some(2), None]),
        ] {
            let sizes: Vec<_> = kib
                .iter()
                .map(|kib| BlockSize::new(kib << 10).unwrap())
                .collect();
            let parts: Vec<_> = granularities(&sizes)
                .iter()
                .map(|granularities| granularities.parts)
                .collect();
            assert_eq!(parts, expected, "{kib:?}");
        }
    }
}
