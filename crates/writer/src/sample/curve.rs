//! From what the survey knows of a block to what a candidate makes of it.
//!
//! A curve is a function of the rank: the ratio of the candidate's size to the fast one, as the
//! nearest sample has it. A sampled block has the size that it was found to have.
//!
//! Of an expensive compressor it is the ratio to what a cheaper one makes of the block, by the
//! curve of that, whose samples are more: they differ less, and their errors add up (double
//! sampling; Cochran 1977, "Sampling Techniques", chapter 12).

use std::collections::BTreeMap;

use coldpress_codec::Settings;

use super::population::Population;
use super::ranking::{Key, Ranking};
use super::stratum::{mean_ratio, strata, variance};
use super::surveyed::{Family, Surveyed};

/// What a candidate's compressor makes of the blocks of a population.
#[derive(Clone, Debug)]
pub(super) struct Curve {
    pub(super) settings: Settings,
    pub(super) family: Family,
    pub(super) population: usize,
    /// The place of the curve that this one is told by, if it is not the survey. All of its own
    /// samples are samples of that as well.
    pub(super) proxy: Option<usize>,
    /// Samples at every `2^-density` of the bytes, once there are any.
    pub(super) density: Option<u32>,
    /// By rank.
    samples: BTreeMap<usize, Sample>,
    /// What blocks are like from each key on, ascending.
    steps: Vec<(Key, Step)>,
    /// The square of the standard error of all blocks together, in bytes: of these samples alone.
    pub(super) own_variance: f64,
    /// The same with that of the proxy.
    pub(super) variance: f64,
}

/// What a compressor made of a block.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Sample {
    pub(super) stored_bytes: u32,
    /// Processor time for each byte of the block.
    pub(super) compress_s: f64,
    pub(super) decompress_s: f64,
}

/// What blocks are like.
#[derive(Clone, Copy, Debug)]
struct Step {
    /// Stored bytes for each byte that the proxy takes.
    ratio: f64,
    sample: Sample,
}

/// What a block is expected to take.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Expected {
    pub(super) stored_bytes: u32,
    pub(super) compress_s: f64,
    pub(super) decompress_s: f64,
}

impl Curve {
    pub(super) fn new(
        settings: Settings,
        family: Family,
        population: usize,
        proxy: Option<usize>,
    ) -> Self {
        Self {
            settings,
            family,
            population,
            proxy,
            density: None,
            samples: BTreeMap::new(),
            steps: Vec::new(),
            own_variance: 0.0,
            variance: 0.0,
        }
    }

    /// The ranks that a density needs and that are not sampled.
    pub(super) fn missing(&self, ranking: &Ranking, density: u32) -> Vec<usize> {
        let ranks = ranking.samples(density).into_iter();
        ranks
            .filter(|rank| !self.samples.contains_key(rank))
            .collect()
    }

    pub(super) fn add(&mut self, rank: usize, sample: Sample) {
        self.samples.insert(rank, sample);
    }

    /// Draws the curve through the samples that there are.
    ///
    /// * `proxy`: the curve that this one is told by.
    pub(super) fn draw(
        &mut self,
        ranking: &Ranking,
        population: &Population,
        proxy: Option<&Self>,
    ) {
        let ranks: Vec<usize> = self.samples.keys().copied().collect();
        let firsts: Vec<usize> = std::iter::once(0)
            .chain(
                ranks
                    .windows(2)
                    .map(|pair| ranking.first_of(pair[0], pair[1])),
            )
            .take(ranks.len())
            .collect();
        let fast_bytes = |rank: usize| {
            let block = &population.blocks[ranking.keys[rank].place()];
            f64::from(block.fast_bytes(self.family))
        };
        let proxy_bytes =
            |rank: usize| proxy.map_or_else(|| fast_bytes(rank), |curve| curve.stored_bytes(rank));
        let steps = self.samples.iter().map(|(rank, sample)| Step {
            ratio: f64::from(sample.stored_bytes) / proxy_bytes(*rank),
            sample: *sample,
        });
        let steps: Vec<Step> = steps.collect();
        let scales = ranks
            .iter()
            .map(|rank| proxy_bytes(*rank) / fast_bytes(*rank));
        let samples = steps.iter().map(|step| step.ratio).zip(scales);
        let strata = strata(ranking, &ranks, &firsts, samples);
        self.own_variance = variance(&strata);
        let inherited = proxy.map_or(0.0, |curve| curve.variance * mean_ratio(&strata).powi(2));
        self.variance = self.own_variance + inherited;
        let keys = firsts.iter().map(|first| ranking.keys[*first]);
        self.steps = keys.zip(steps).collect();
    }

    /// What a sampled block takes.
    fn stored_bytes(&self, rank: usize) -> f64 {
        f64::from(self.samples[&rank].stored_bytes)
    }

    /// Whether every block in question was sampled.
    pub(super) fn is_complete(&self, ranking: &Ranking) -> bool {
        self.samples.len() == ranking.keys.len()
    }

    /// * `place`: of the block in its population.
    /// * `proxy_bytes`: what the block takes with the proxy.
    ///
    /// # Cost
    ///
    /// A binary search among the samples.
    pub(super) fn expected(&self, block: &Surveyed, place: usize, proxy_bytes: u32) -> Expected {
        let key = Key::new(block, place, self.family);
        let step = self.steps.partition_point(|(first, _)| *first <= key);
        let Some((_, step)) = step.checked_sub(1).and_then(|step| self.steps.get(step)) else {
            return Expected::default();
        };
        let len_bytes = f64::from(block.len_bytes);
        let stored_bytes = scaled(proxy_bytes, step.ratio);
        Expected {
            stored_bytes: stored_bytes.clamp(1, block.len_bytes.max(1)),
            compress_s: step.sample.compress_s * len_bytes,
            decompress_s: step.sample.decompress_s * len_bytes,
        }
    }

    /// Bytes that the samples of a density hold which are not samples yet.
    pub(super) fn missing_bytes(
        &self,
        ranking: &Ranking,
        population: &Population,
        density: u32,
    ) -> u64 {
        let missing = self.missing(ranking, density).into_iter();
        let blocks = missing.map(|rank| &population.blocks[ranking.keys[rank].place()]);
        blocks.map(|block| u64::from(block.len_bytes)).sum()
    }
}

#[expect(clippy::cast_precision_loss, reason = "an estimate has three digits")]
pub(super) fn real(bytes: u64) -> f64 {
    bytes as f64
}

/// The number without its fraction.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a float becomes the nearest number that there is"
)]
pub(super) fn whole(bytes: f64) -> u64 {
    bytes as u64
}

/// The product, to a byte.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "it is rounded, and a float becomes the nearest number that there is"
)]
pub(super) fn scaled(bytes: u32, ratio: f64) -> u32 {
    (f64::from(bytes) * ratio).round() as u32
}

#[cfg(test)]
mod tests;
