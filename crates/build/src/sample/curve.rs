//! From what the survey knows of a block to what a candidate makes of it.
//!
//! A curve is a function of the rank: the ratio of the candidate's size to the fast one, as the
//! nearest sample has it. A sampled block has the size that it was found to have. The error is
//! estimated from how much neighboring samples differ, which systematic samples of an ordered list
//! seldom reach (Wolter 2007, "Introduction to Variance Estimation", chapter 8).

use std::collections::BTreeMap;

use coldpress_codec::Settings;

use super::population::Population;
use super::ranking::{Key, Ranking};
use super::surveyed::{Family, Surveyed};

/// What a candidate's compressor makes of the blocks of a population.
#[derive(Clone, Debug)]
pub(super) struct Curve {
    pub(super) settings: Settings,
    pub(super) family: Family,
    pub(super) population: usize,
    /// Samples at every `2^-density` of the bytes, once there are any.
    pub(super) density: Option<u32>,
    /// By rank.
    samples: BTreeMap<usize, Sample>,
    /// What blocks are like from each key on, ascending.
    steps: Vec<(Key, Sample)>,
    /// The square of the standard error of all blocks together, in bytes.
    pub(super) variance: f64,
}

/// What a compressor made of a block, for each byte of it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Sample {
    /// Stored bytes for each byte that the fast compressor took.
    pub(super) ratio: f64,
    /// Processor time for each byte of the block.
    pub(super) compress_s: f64,
    pub(super) decompress_s: f64,
}

/// What a block is expected to take.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Expected {
    pub(super) stored_bytes: u32,
    pub(super) compress_s: f64,
    pub(super) decompress_s: f64,
}

impl Curve {
    pub(super) fn new(settings: Settings, family: Family, population: usize) -> Self {
        Self {
            settings,
            family,
            population,
            density: None,
            samples: BTreeMap::new(),
            steps: Vec::new(),
            variance: 0.0,
        }
    }

    /// The ranks that a density needs and that are not sampled.
    pub(super) fn missing(&self, ranking: &Ranking, density: u32) -> Vec<usize> {
        let ranks = ranking.samples(density).into_iter();
        ranks.filter(|rank| !self.samples.contains_key(rank)).collect()
    }

    pub(super) fn add(&mut self, rank: usize, sample: Sample) {
        self.samples.insert(rank, sample);
    }

    /// Draws the curve through the samples that there are.
    pub(super) fn draw(&mut self, ranking: &Ranking, density: u32) {
        let ranks: Vec<usize> = self.samples.keys().copied().collect();
        let samples: Vec<Sample> = self.samples.values().copied().collect();
        let firsts: Vec<usize> = std::iter::once(0)
            .chain(ranks.windows(2).map(|pair| ranking.first_of(pair[0], pair[1])))
            .take(ranks.len())
            .collect();
        let keys = firsts.iter().map(|first| ranking.keys[*first]);
        self.steps = keys.zip(samples.iter().copied()).collect();
        self.variance = variance(ranking, &ranks, &firsts, &samples);
        self.density = Some(density);
    }

    /// Whether every block in question was sampled.
    pub(super) fn is_complete(&self, ranking: &Ranking) -> bool {
        self.samples.len() == ranking.keys.len()
    }

    /// * `place`: of the block in its population.
    ///
    /// # Cost
    ///
    /// A binary search among the samples.
    pub(super) fn expected(&self, block: &Surveyed, place: usize) -> Expected {
        let key = Key::new(block, place, self.family);
        let step = self.steps.partition_point(|(first, _)| *first <= key);
        let Some((_, sample)) = step.checked_sub(1).and_then(|step| self.steps.get(step)) else {
            return Expected::default();
        };
        let len_bytes = f64::from(block.len_bytes);
        let stored_bytes = scaled(block.fast_bytes(self.family), sample.ratio);
        Expected {
            stored_bytes: stored_bytes.clamp(1, block.len_bytes.max(1)),
            compress_s: sample.compress_s * len_bytes,
            decompress_s: sample.decompress_s * len_bytes,
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

/// The square of the standard error. A sample stands for the blocks from its first to the next
/// one's; that they differ from it as much as its neighbors do is the assumption.
fn variance(ranking: &Ranking, ranks: &[usize], firsts: &[usize], samples: &[Sample]) -> f64 {
    let ends = firsts.iter().skip(1).map(|first| ranking.start_bytes(*first));
    let ends = ends.chain([ranking.total_bytes()]);
    let cells = firsts.iter().zip(ends).zip(ranks).enumerate();
    cells
        .map(|(place, ((first, end_bytes), rank))| {
            let cell_bytes = end_bytes - ranking.start_bytes(*first);
            let sample_bytes = ranking.start_bytes(rank + 1) - ranking.start_bytes(*rank);
            let unseen_bytes = cell_bytes - sample_bytes;
            let neighbors = [place.checked_sub(1), Some(place + 1)];
            let neighbors = neighbors.into_iter().flatten().filter_map(|at| samples.get(at));
            let squares = neighbors.map(|other| (other.ratio - samples[place].ratio).powi(2));
            let (sum, count) = squares.fold((0.0, 0.0), |(sum, count), square| {
                (sum + square, count + 1.0)
            });
            // The difference of two independent values has twice the variance of one.
            let of_one: f64 = if count > 0.0 { sum / (2.0 * count) } else { 0.0 };
            of_one * real(cell_bytes) * real(unseen_bytes)
        })
        .sum()
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
mod tests {
    use super::*;
    use crate::sample::population::Content;
    use crate::sample::surveyed::Kind;
    use coldpress_codec::Settings;
    use coldpress_format::{BlockSize, Compressor};

    /// Blocks of 4 KiB whose fast sizes differ.
    fn population(count: u32) -> Population {
        let block = |number: u32| Surveyed {
            len_bytes: 4096,
            fast_bytes: [100 + number * 7919 % 3000; 2],
            kind: Kind::Other,
        };
        Population {
            block_size: BlockSize::MIN,
            blocks: (0..count).map(block).collect(),
            content: Content::Data {
                files: Vec::new(),
                fragments_start: 0,
                fragments: Vec::new(),
            },
        }
    }

    /// A curve through the samples of a density, with the ratio as a function of the fast size.
    fn drawn(population: &Population, density: u32, ratio: impl Fn(u32) -> f64) -> (Curve, Ranking) {
        let ranking = Ranking::new(0, Family::Entropy, population);
        let settings = Settings::new(Compressor::Zstd, None).unwrap();
        let mut curve = Curve::new(settings, Family::Entropy, 0);
        for rank in curve.missing(&ranking, density) {
            let block = population.blocks[ranking.keys[rank].place()];
            let sample = Sample {
                ratio: ratio(block.fast_bytes[1]),
                ..Sample::default()
            };
            curve.add(rank, sample);
        }
        curve.draw(&ranking, density);
        (curve, ranking)
    }

    #[test]
    fn a_denser_sample_holds_the_one_before() {
        let population = population(1000);
        let ranking = Ranking::new(0, Family::Entropy, &population);
        for density in 0..12 {
            let (few, more) = (ranking.samples(density), ranking.samples(density + 1));
            assert!(few.iter().all(|rank| more.contains(rank)), "{density}");
            assert!(few.is_sorted());
            assert!(few.contains(&0) && few.contains(&999), "{density}");
        }
        assert_eq!(ranking.samples(10).len(), 1000);
    }

    #[test]
    fn a_sampled_block_is_what_it_was_found_to_be_and_others_are_like_it() {
        let population = population(1000);
        let ratio = |fast| 0.5 + f64::from(fast) / 10_000.0;
        let (curve, ranking) = drawn(&population, 6, ratio);
        for (rank, key) in ranking.keys.iter().enumerate() {
            let block = &population.blocks[key.place()];
            let exact = scaled(block.fast_bytes[1], ratio(block.fast_bytes[1]));
            let expected = curve.expected(block, key.place()).stored_bytes;
            let allowed = if curve.samples.contains_key(&rank) { 0 } else { 20 };
            assert!(exact.abs_diff(expected) <= allowed, "{rank}: {exact} {expected}");
        }
    }

    #[test]
    fn the_error_shrinks_with_the_samples_and_ends_with_the_last_block() {
        let population = population(600);
        // Two alternating ratios: neighbors differ as much as any.
        let ratio = |fast: u32| if fast.is_multiple_of(2) { 0.5 } else { 0.7 };
        let errors: Vec<f64> = (3..11)
            .map(|density| drawn(&population, density, ratio).0.variance.sqrt())
            .collect();
        assert!(errors.is_sorted_by(|more, less| less <= more), "{errors:?}");
        assert!(errors[0] > 0.0);
        assert_eq!(errors[7].to_bits(), 0);
    }

    #[test]
    fn nothing_in_question_needs_no_sample() {
        let (curve, ranking) = drawn(&population(0), 5, |_| 1.0);
        assert!(curve.is_complete(&ranking));
        assert_eq!(curve.variance.to_bits(), 0);
    }
}
