//! Figures from few and noisy measurements.

use super::calibration::{BlockTime, Decompression, ReaderFigures};
use super::sample::Sample;

/// What filling a block takes at least: noise can make a difference vanish.
const LEAST_S: f64 = 1e-9;

/// Bytes of a page of [`ReaderFigures::fill_page_s`].
const PAGE_BYTES: f64 = 4096.0;

/// A straight line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Line {
    /// Its value at 0, not below 0.
    pub(super) start: f64,
    /// How much it rises for each unit, above 0.
    pub(super) slope: f64,
}

/// The middle value, or the mean of the two in the middle; `None` without any.
pub(super) fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let upper = *sorted.get(sorted.len() / 2)?;
    let lower = *sorted.get((sorted.len() - 1) / 2)?;
    Some(f64::midpoint(lower, upper))
}

/// The smallest value; `None` without any. For times on a processor: other programs, which
/// interrupt and take caches, can only lengthen them.
pub(super) fn least(values: &[f64]) -> Option<f64> {
    values.iter().copied().min_by(f64::total_cmp)
}

impl Line {
    /// The line that comes closest to points of positive coordinates, by the squares of relative
    /// distances: a microsecond is much for a small block and nothing for a large one.
    ///
    /// It goes through the origin where it would start below, or would fall, or all points are at
    /// one place. `None` without points.
    pub(super) fn through(points: &[(f64, f64)]) -> Option<Self> {
        let sum = |term: fn(f64, f64) -> f64| points.iter().map(|&(x, y)| term(x, y)).sum::<f64>();
        // With weights 1 / y^2 the sums of y are those of 1 / y.
        let (w, wx, wxx) = (
            sum(|_, y| 1.0 / (y * y)),
            sum(|x, y| x / (y * y)),
            sum(|x, y| x * x / (y * y)),
        );
        let (wy, wxy) = (sum(|_, y| 1.0 / y), sum(|x, y| x / y));
        let determinant = w * wxx - wx * wx;
        let slope = (w * wxy - wx * wy) / determinant;
        let start = (wy - slope * wx) / w;
        // Points at one place give no slope, but what rounding leaves of it.
        let is_wide = determinant > w * wxx * 1e-9;
        let line = if is_wide && start >= 0.0 && slope > 0.0 {
            Self { start, slope }
        } else {
            let (start, slope) = (0.0, wxy / wxx);
            Self { start, slope }
        };
        (line.slope.is_finite() && line.slope > 0.0).then_some(line)
    }
}

/// What going through the blocks of a sample took, reads of the sample not counted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pass {
    /// Index of the sample.
    pub sample: usize,
    /// Threads that did it together.
    pub threads: u32,
    /// Wall time for each block.
    pub wall_s: f64,
    /// Time on a processor for each block; of no meaning if there were several threads.
    pub on_processor_s: f64,
}

impl ReaderFigures {
    /// What follows from passes, of each sample the one that was disturbed least: from each
    /// compressed sample the stored one of the same block size is subtracted. `None` if no stored
    /// sample was read.
    ///
    /// A compressor whose times cannot be is left out, see [`Self::disturbed`].
    ///
    /// * `is_kernel`: whether the kernel read the samples.
    pub fn of(
        samples: &[Sample<'_>],
        passes: &[Pass],
        is_kernel: bool,
        made_unix_ms: u64,
    ) -> Option<Self> {
        let of = |sample: usize, figure: fn(&Pass) -> Option<f64>| -> Vec<f64> {
            let passes = passes.iter().filter(|pass| pass.sample == sample);
            passes.filter_map(figure).collect()
        };
        let alone: Vec<Option<f64>> = (0..samples.len())
            .map(|sample| {
                least(&of(sample, |pass| {
                    (pass.threads == 1).then_some(pass.on_processor_s)
                }))
            })
            .collect();
        let timed = || {
            let both = samples.iter().zip(&alone);
            both.filter_map(|(sample, time_s)| Some((sample, (*time_s)?)))
        };
        let stored: Vec<(u32, f64)> = timed()
            .filter(|(sample, _)| sample.compressor.is_none())
            .map(|(sample, time_s)| (sample.block_bytes, time_s.max(LEAST_S)))
            .collect();
        let points = stored
            .iter()
            .map(|&(bytes, time_s)| (f64::from(bytes), time_s));
        let line = Line::through(&points.collect::<Vec<_>>())?;
        let fill_s = |block_bytes: u32| {
            let same = stored.iter().find(|(bytes, _)| *bytes == block_bytes);
            same.map_or(line.start + line.slope * f64::from(block_bytes), |it| it.1)
        };
        let blocks = timed().filter_map(|(sample, time_s)| {
            let block = BlockTime {
                block_bytes: sample.block_bytes,
                time_s: time_s - fill_s(sample.block_bytes),
                ratio: sample.ratio,
            };
            Some((sample.compressor?, block))
        });
        // How threads share processors is told by wall time only.
        let gains = (0..samples.len()).filter_map(|sample| {
            let alone = of(sample, |pass| (pass.threads == 1).then_some(pass.wall_s));
            let together = of(sample, |pass| (pass.threads > 1).then_some(pass.wall_s));
            let (alone_s, together_s) = (median(&alone)?, median(&together)?);
            Some(alone_s / together_s.max(LEAST_S))
        });
        Some(Self {
            made_unix_ms,
            is_kernel,
            fill_page_s: line.slope * PAGE_BYTES,
            stored_block_s: line.start,
            lookup_s: None,
            lookup_reads: None,
            threads: passes.iter().map(|pass| pass.threads).max().unwrap_or(1),
            threads_gain: median(&gains.collect::<Vec<_>>()).unwrap_or(1.0),
            decompression: decompression(blocks),
        })
    }

    /// Compressors of samples that have no figures here: other programs disturbed all passes so
    /// much that a block seemed to take no time, or a large one less than a small one.
    pub fn disturbed<'a>(&self, samples: &[Sample<'a>]) -> Vec<&'a str> {
        let mut names: Vec<&str> = samples
            .iter()
            .filter_map(|sample| sample.compressor)
            .collect();
        names.dedup();
        let has = |name: &str| self.decompression.iter().any(|it| it.compressor == name);
        names.retain(|name| !has(name));
        names
    }
}

/// A line through the blocks of each compressor whose times can be.
fn decompression<'a>(blocks: impl Iterator<Item = (&'a str, BlockTime)>) -> Vec<Decompression> {
    let mut grouped: Vec<(&str, Vec<BlockTime>)> = Vec::new();
    for (compressor, block) in blocks {
        match grouped.iter_mut().find(|(name, _)| *name == compressor) {
            Some((_, blocks)) => blocks.push(block),
            None => grouped.push((compressor, vec![block])),
        }
    }
    let fitted = grouped.into_iter().filter_map(|(compressor, mut blocks)| {
        blocks.sort_by_key(|block| block.block_bytes);
        let is_longer = |pair: &[BlockTime]| pair[0].time_s < pair[1].time_s;
        if blocks.first()?.time_s <= 0.0 || !blocks.windows(2).all(is_longer) {
            return None;
        }
        let points = blocks
            .iter()
            .map(|block| (f64::from(block.block_bytes), block.time_s));
        let line = Line::through(&points.collect::<Vec<_>>())?;
        Some(Decompression {
            compressor: compressor.to_owned(),
            block_s: line.start,
            bytes_per_s: 1.0 / line.slope,
            blocks,
        })
    });
    fitted.collect()
}

#[cfg(test)]
mod tests;
