//! What images of a source would be, without writing them: sizes, times and memory for many ways
//! to write it, from compressing samples (docs/sampling.md).
//!
//! ```text
//! options   what is asked for, and with what it is found out            options.rs
//! populations of blocks, from the survey                             populations.rs, geometry.rs, population.rs
//! survey    every block once, with a fast compressor                    survey.rs, surveyed.rs
//! ranking   blocks in the order of how they compress, and the samples   ranking.rs
//! rounds    more samples where a size is least sure                     rounds.rs, coder.rs, effort.rs
//! curve     from the survey's size of a block to the candidate's        curve.rs, stratum.rs
//! tables    the metadata of a surveyed image, sampled alike             tables.rs
//! ratio_model which curves estimate a candidate                         ratio_model.rs
//! estimate  sizes, times and memory, summed over blocks                 estimate.rs
//! blocks    what single blocks take                                     blocks.rs
//! ```

mod blocks;
mod coder;
mod curve;
mod effort;
mod estimate;
mod geometry;
mod options;
mod population;
mod populations;
mod ranking;
mod ratio_model;
mod rounds;
mod stratum;
mod survey;
mod surveyed;
mod tables;

use std::ops::ControlFlow;

use coldpress_layout::Sketches;

use crate::error::Error;
use crate::options::Options;
use crate::progress::{Meter, Progress};
use crate::source::Source;
use curve::{real, whole};
use estimate::Adding;
use geometry::{Geometry, Shape};
use population::Population;
use populations::survey;
use ranking::Ranking;
use ratio_model::{Parts, RatioModel};
use rounds::Sampler;
use surveyed::Family;
use tables::Tables;

pub use blocks::SampledBlocks;
pub use estimate::Estimate;
pub use options::{SampleMeans, SampleOptions};

/// A smaller source counts as one of so many bytes: its samples are more of it, in about a minute.
const SMALL_BYTES: u64 = 768 << 20;
/// How much longer samples take than the survey, about, for the progress that is shown.
const SAMPLES_PER_SURVEY: u64 = 4;

/// What is known of the candidates.
#[derive(Debug)]
pub struct Sampling {
    /// For each candidate, in their order.
    pub estimates: Vec<Estimate>,
    candidates: Vec<Options>,
    geometries: Vec<Geometry>,
    /// For each geometry.
    tables: Vec<Tables>,
    /// Processor time that reading the source takes, in s.
    read_s: f64,
    rankings: Vec<Ranking>,
    /// For each candidate.
    parts: Vec<Parts>,
    ratio_model: RatioModel,
}

impl Sampling {
    /// What samples may cost that are to tell sizes to 1 %, of some dozens of candidates.
    pub const BUILDS: f64 = 0.55;
    /// What samples may cost that are to tell the size of one candidate to 1 %, in bytes that zstd
    /// 15 compresses meanwhile. It takes so many samples of a large source as of a small one.
    pub const REFINING_BYTES: u64 = 256 << 20;

    /// Surveys the source and samples each candidate.
    ///
    /// Duplicates are those that [`Source::find_duplicates`] found. The same source and candidates
    /// give the same samples and sizes for any number of threads; only times differ.
    ///
    /// * `progress`: called for each block; stops the work when it breaks.
    ///
    /// # Errors
    ///
    /// [`Error::Interrupted`]; [`Error::Codec`] for settings that no encoder takes. What cannot be
    /// read of a file counts as zeros; writing the image tells.
    ///
    /// # Cost
    ///
    /// The source is read once, tail ends that are packed once more for each block size, and the
    /// samples. The processor time is that of the survey, some ns for each byte and block size, and
    /// what `options.builds` allows. Memory is 100 bytes for each block of each size, the
    /// metadata of an image before compression, and what the threads' encoders take.
    pub fn run(
        source: &Source,
        options: &SampleOptions<'_>,
        progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<Self, Error> {
        let SampleOptions {
            candidates, plan, ..
        } = *options;
        let shapes = distinct(candidates.iter().map(Shape::of));
        let geometries = shapes
            .iter()
            .map(|shape| Geometry::new(source, plan, *shape, options.means.threads, progress))
            .collect::<Result<Vec<_>, _>>()?;
        let settings = candidates
            .iter()
            .filter_map(|candidate| candidate.compression);
        let families = distinct(settings.map(|settings| Family::of(settings.compressor)));
        let mut meter = Meter::new(work_bytes(source, &geometries), progress);
        let surveyed = survey(source, &geometries, &families, options, &mut meter)?;
        let mut ratio_model = RatioModel {
            populations: surveyed.populations,
            curves: Vec::new(),
        };
        let parts: Vec<Parts> = candidates
            .iter()
            .zip(candidates.iter().map(Shape::of))
            .map(|(candidate, shape)| {
                let geometry = place(&shapes, &shape);
                ratio_model.parts(candidate, &surveyed.places[geometry])
            })
            .collect();
        let mut sampling = Self {
            estimates: Vec::new(),
            candidates: candidates.to_vec(),
            geometries,
            tables: surveyed.tables,
            read_s: surveyed.read_s,
            rankings: rankings(&ratio_model.populations, &families),
            parts,
            ratio_model,
        };
        let all = vec![true; sampling.ratio_model.curves.len()];
        let budget_bytes = whole(real(unique_bytes(source).max(SMALL_BYTES)) * options.builds);
        sampling.sample(source, budget_bytes, &options.means, &all, &mut meter)?;
        Ok(sampling)
    }

    /// Takes more samples for one candidate, until its size is sure enough or what they may cost is
    /// spent. They tell of others as well that have blocks in common with it.
    ///
    /// * `source`: the one that was surveyed.
    /// * `candidate`: its place.
    /// * `budget_bytes`: [`Sampling::REFINING_BYTES`] as a rule.
    /// * `progress`: as of [`run`](Self::run).
    ///
    /// # Errors
    ///
    /// Those of [`run`](Self::run).
    pub fn refine(
        &mut self,
        source: &Source,
        candidate: usize,
        budget_bytes: u64,
        means: &SampleMeans<'_>,
        progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<(), Error> {
        let wanted = self.ratio_model.behind(&self.parts[candidate]);
        let mut meter = Meter::new(unique_bytes(source) * SAMPLES_PER_SURVEY, progress);
        self.sample(source, budget_bytes, means, &wanted, &mut meter)
    }

    /// Takes samples for some curves, and adds up what is known then.
    fn sample(
        &mut self,
        source: &Source,
        budget_bytes: u64,
        means: &SampleMeans<'_>,
        is_wanted: &[bool],
        meter: &mut Meter,
    ) -> Result<(), Error> {
        let sampler = Sampler {
            source,
            populations: &self.ratio_model.populations,
            rankings: &self.rankings,
            workers: means.workers(),
            clock: means.clock,
            budget_bytes,
            is_wanted,
        };
        sampler.refine(&mut self.ratio_model.curves, unique_bytes(source), meter)?;
        let candidates = self.candidates.iter().zip(&self.parts);
        let estimates = candidates.map(|(candidate, parts)| {
            let adding = Adding {
                source,
                ratio_model: &self.ratio_model,
                geometry: &self.geometries[parts.geometry],
                tables: &self.tables[parts.geometry],
                read_s: self.read_s,
            };
            adding.estimate(candidate, parts)
        });
        self.estimates = estimates.collect();
        Ok(())
    }

    /// The sketches by which a candidate's tail ends are grouped, if they are; by its place.
    pub fn sketches(&self, candidate: usize) -> &Sketches {
        &self.geometries[self.parts[candidate].geometry].sketches
    }
}

fn rankings(populations: &[Population], families: &[Family]) -> Vec<Ranking> {
    let numbered = populations.iter().enumerate();
    numbered
        .flat_map(|(number, population)| {
            let of_family = move |family: &Family| Ranking::new(number, *family, population);
            families.iter().map(of_family)
        })
        .collect()
}

/// The bytes that the survey and the samples count as.
fn work_bytes(source: &Source, geometries: &[Geometry]) -> u64 {
    let fragments = geometries.iter().flat_map(|geometry| {
        let members = geometry.fragments().flatten();
        members.map(|node| geometry.block_size.tail_bytes(source.size_bytes(*node)))
    });
    let fragment_bytes: u64 = fragments.map(u64::from).sum();
    unique_bytes(source) * (1 + SAMPLES_PER_SURVEY) + fragment_bytes
}

/// Bytes of all files but duplicates.
fn unique_bytes(source: &Source) -> u64 {
    let duplicates = source.tree.duplicates.keys();
    let duplicate_bytes: u64 = duplicates.map(|node| source.size_bytes(*node)).sum();
    source.content_bytes() - duplicate_bytes
}

/// What there is, each once, in the order in which it first comes.
fn distinct<T: PartialEq>(items: impl Iterator<Item = T>) -> Vec<T> {
    let mut found = Vec::new();
    for item in items {
        if !found.contains(&item) {
            found.push(item);
        }
    }
    found
}

fn place<T: PartialEq>(items: &[T], wanted: &T) -> usize {
    let found = items.iter().position(|item| item == wanted);
    found.expect("the items were made of what is wanted")
}
