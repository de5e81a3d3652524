//! Sampling in rounds: where a size is least sure for the time that a better one takes, twice as
//! many blocks are compressed.
//!
//! Which they are follows from sizes alone and from what compressors cost by a table, so that it
//! does not depend on the clock.

use std::ops::RangeInclusive;

use coldpress_codec::{Settings, Work, Workers, ordered};

use super::SAMPLES_PER_SURVEY;
use super::coder::Coder;
use super::curve::{Curve, Sample, real, whole};
use super::effort;
use super::population::Population;
use super::ranking::Ranking;
use crate::error::Error;
use crate::progress::Meter;
use crate::source::Source;

/// Samples of the first round, at least and at most: 2 to the power of these.
const FIRST_DENSITIES: RangeInclusive<u32> = 4..=8;
/// Bytes of the samples of the first round, if they are not too few then.
const FIRST_BYTES: u32 = 4 << 20;
/// A compressor that is told by another one is expensive, and one in so many of its samples is
/// enough at first: 2 to the power of this.
const FIRST_TOLD: u32 = 2;
/// Samples of a population of metadata blocks, at first and at most. They are kept in memory.
const METADATA_FIRST_DENSITY: u32 = 5;
pub(super) const METADATA_DENSITY: u32 = 7;
/// The standard error of a size that is sure enough: four of them are 1 %.
const SURE_ENOUGH: f64 = 0.0025;
/// The same in bytes, of a small image: that is padded to 4 KiB.
const NEGLIGIBLE_BYTES: f64 = 1024.0;
/// What is worth less than this part of what is worth most waits for the next round.
const WORTH_NOW: f64 = 0.25;

/// What samples are taken with.
pub(super) struct Sampler<'a> {
    pub(super) source: &'a Source,
    pub(super) populations: &'a [Population],
    pub(super) rankings: &'a [Ranking],
    pub(super) workers: Workers,
    pub(super) clock: &'a (dyn Fn() -> f64 + Sync),
    /// What samples may cost: the time that zstd 15 takes for so many bytes.
    pub(super) budget_bytes: u64,
    /// For each curve whether more is to be known of it.
    pub(super) is_wanted: &'a [bool],
}

/// A block to be compressed for a curve.
#[derive(Clone, Copy)]
struct Job {
    curve: usize,
    settings: Settings,
    population: usize,
    rank: usize,
    /// The block's place in its population.
    place: usize,
}

/// Samples that a curve may get.
struct SampleRequest {
    curve: usize,
    density: u32,
    cost_s: f64,
    /// The square of its error relative to that of one that is sure enough, for each second.
    worth: f64,
}

impl Sampler<'_> {
    /// Takes samples for curves until they are sure enough or the budget is spent.
    ///
    /// * `unique_bytes`: of the source.
    /// * `meter`: gets `SAMPLES_PER_SURVEY` times as many.
    pub(super) fn refine(
        &self,
        curves: &mut [Curve],
        unique_bytes: u64,
        meter: &mut Meter,
    ) -> Result<(), Error> {
        let budget_s = real(self.budget_bytes) * effort::s_per_byte(&effort::REFERENCE);
        let mut progress = Share {
            work_bytes: unique_bytes * SAMPLES_PER_SURVEY,
            shown_bytes: 0,
            budget_s,
            spent_s: 0.0,
        };
        let mut left_s = budget_s;
        loop {
            let mut requests = self.requests(curves);
            requests.sort_by(|one, other| other.worth.total_cmp(&one.worth));
            let best = requests.first().map_or(0.0, |request| request.worth);
            requests.retain(|request| {
                // A first sample is a must: without it nothing is known.
                let is_first = curves[request.curve].density.is_none();
                let is_granted =
                    is_first || request.worth >= best * WORTH_NOW && request.cost_s <= left_s;
                if is_granted {
                    left_s -= request.cost_s;
                }
                is_granted
            });
            if requests.is_empty() {
                return meter.add(progress.rest_bytes());
            }
            self.take(curves, &requests, &mut progress, meter)?;
        }
    }

    /// What each curve may get next that is not sure enough, or by which one is told that is not.
    fn requests(&self, curves: &[Curve]) -> Vec<SampleRequest> {
        let allowed: Vec<f64> = curves
            .iter()
            .map(|curve| self.allowed_bytes(curve).powi(2))
            .collect();
        // For each how many are not sure enough that it tells, itself among them.
        let mut unsure = vec![0_u32; curves.len()];
        for ((place, curve), allowed) in curves.iter().enumerate().zip(&allowed) {
            if !self.is_wanted[place] {
                continue;
            }
            if curve.variance > *allowed {
                unsure[place] += 1;
                if let Some(proxy) = curve.proxy {
                    unsure[proxy] += 1;
                }
            } else if curve.density < Some(self.first_density(curve.population)) {
                // So few do not tell how much is unknown.
                unsure[place] += 1;
            }
        }
        let request = |(place, curve): (usize, &Curve)| {
            let density = self.next_density(curve, curves)?;
            if unsure[place] == 0 {
                return None;
            }
            let population = &self.populations[curve.population];
            let bytes = real(curve.missing_bytes(self.ranking(curve), population, density));
            let cost_s = bytes * effort::s_per_byte(&curve.settings);
            let excess = curve.own_variance / allowed[place] * f64::from(unsure[place]);
            Some(SampleRequest {
                curve: place,
                density,
                cost_s,
                worth: if curve.density.is_none() {
                    f64::INFINITY
                } else {
                    excess / cost_s.max(1e-9)
                },
            })
        };
        curves.iter().enumerate().filter_map(request).collect()
    }

    /// The density that a curve may get next; `None` if all is sampled, or its proxy is not sampled
    /// as densely.
    fn next_density(&self, curve: &Curve, curves: &[Curve]) -> Option<u32> {
        let population = &self.populations[curve.population];
        let ranking = self.ranking(curve);
        let Some(density) = curve.density else {
            let density = self.first_density(curve.population);
            let told = u32::from(curve.proxy.is_some()) * FIRST_TOLD;
            return Some(density - told);
        };
        let is_last = population.is_metadata() && density >= METADATA_DENSITY;
        let is_ahead = curve.proxy.is_some_and(|proxy| {
            let proxy = &curves[proxy];
            proxy.density <= Some(density) && !proxy.is_complete(ranking)
        });
        (!is_last && !is_ahead && !curve.is_complete(ranking)).then_some(density + 1)
    }

    /// The density of the first samples of what is told by the survey.
    fn first_density(&self, population: usize) -> u32 {
        let population = &self.populations[population];
        if population.is_metadata() {
            return METADATA_FIRST_DENSITY;
        }
        let density = (FIRST_BYTES / population.block_size.bytes()).max(1).ilog2();
        density.clamp(*FIRST_DENSITIES.start(), *FIRST_DENSITIES.end())
    }

    /// The standard error in bytes that is sure enough.
    fn allowed_bytes(&self, curve: &Curve) -> f64 {
        // About what an image takes with the fast compressor: data and metadata.
        let block_size = self.populations[curve.population].block_size;
        let parts = self.rankings.iter().filter(|ranking| {
            let population = &self.populations[ranking.population];
            ranking.family == curve.family && population.block_size == block_size
        });
        let bytes = parts.map(|part| part.total_bytes() + part.incompressible_bytes);
        let image_bytes = real(bytes.sum());
        (image_bytes * SURE_ENOUGH).max(NEGLIGIBLE_BYTES)
    }

    fn ranking(&self, curve: &Curve) -> &Ranking {
        let mut rankings = self.rankings.iter();
        let found =
            rankings.find(|it| it.population == curve.population && it.family == curve.family);
        found.expect("there is one for each family and population in question")
    }

    /// Compresses the samples of some requests and draws their curves.
    fn take(
        &self,
        curves: &mut [Curve],
        requests: &[SampleRequest],
        progress: &mut Share,
        meter: &mut Meter,
    ) -> Result<(), Error> {
        let mut jobs = Vec::new();
        for request in requests {
            let curve = &curves[request.curve];
            let ranking = self.ranking(curve);
            let missing = curve.missing(ranking, request.density).into_iter();
            jobs.extend(missing.map(|rank| Job {
                curve: request.curve,
                settings: curve.settings,
                population: curve.population,
                rank,
                place: ranking.keys[rank].place(),
            }));
        }
        // What takes longest first, so that all threads end together; a stable sort keeps what one
        // encoder does together.
        let cost_s = |job: &Job| {
            let block_size = self.populations[job.population].block_size;
            effort::s_per_byte(&job.settings) * f64::from(block_size.bytes())
        };
        jobs.sort_by(|one, other| cost_s(other).total_cmp(&cost_s(one)));
        ordered(
            jobs.into_iter().map(Ok),
            &self.workers,
            || Ok(Coder::default()),
            |coder, job| self.sample(coder, job),
            |(job, sample)| {
                curves[job.curve].add(job.rank, sample);
                let block = &self.populations[job.population].blocks[job.place];
                let cost_s = f64::from(block.len_bytes) * effort::s_per_byte(&job.settings);
                meter.add(progress.next_bytes(cost_s))
            },
        )?;
        for request in requests {
            curves[request.curve].density = Some(request.density);
        }
        // All, as some are told by others.
        for place in 0..curves.len() {
            let (before, from) = curves.split_at_mut(place);
            let curve = &mut from[0];
            let proxy = curve.proxy.map(|proxy| &before[proxy]);
            let population = &self.populations[curve.population];
            curve.draw(self.ranking(curve), population, proxy);
        }
        Ok(())
    }

    fn sample(&self, coder: &mut Coder, job: Job) -> Result<(Job, Sample), Error> {
        let population = &self.populations[job.population];
        let busy = self.source.busy(Work::Read);
        population.read(self.source, job.place, coder.input());
        drop(busy);
        let _busy = self.source.busy(Work::Compress);
        let trial = coder.code(&job.settings, population.block_size, self.clock)?;
        let block = &population.blocks[job.place];
        let len_bytes = f64::from(block.len_bytes);
        let sample = Sample {
            stored_bytes: trial.stored_bytes,
            compress_s: trial.compress_s / len_bytes,
            decompress_s: trial.decompress_s / len_bytes,
        };
        Ok((job, sample))
    }
}

/// The part of the work that is shown as done.
struct Share {
    work_bytes: u64,
    shown_bytes: u64,
    budget_s: f64,
    spent_s: f64,
}

impl Share {
    /// How much more is shown after something that cost so much.
    fn next_bytes(&mut self, cost_s: f64) -> u64 {
        self.spent_s += cost_s;
        let share = (self.spent_s / self.budget_s.max(self.spent_s)).min(1.0);
        let done_bytes = whole(real(self.work_bytes) * share);
        let next_bytes = done_bytes.saturating_sub(self.shown_bytes);
        self.shown_bytes += next_bytes;
        next_bytes
    }

    fn rest_bytes(&self) -> u64 {
        self.work_bytes.saturating_sub(self.shown_bytes)
    }
}
