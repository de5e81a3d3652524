//! What samples tell of candidates, and more samples of one.

use std::ops::ControlFlow;

use coldpress_build::{Error, Options, Progress, SampleMeans, SampleOptions, Sampling};

use crate::candidate::Candidate;
use crate::outcome::Outcome;
use crate::search::{Orders, Search};

/// What samples tell of candidates.
#[derive(Debug)]
pub struct Sampled {
    pub(crate) sampling: Sampling,
    /// For each candidate its place in the sampling.
    pub(crate) places: Vec<usize>,
}

impl Search<'_> {
    /// Compresses samples of the source with every candidate's settings.
    ///
    /// * `clock`: processor time of the calling thread in s.
    /// * `progress`: stops the work when it breaks.
    ///
    /// # Errors
    ///
    /// Those of [`Sampling::run`].
    ///
    /// # Cost
    ///
    /// That of [`Sampling::run`], which is nearly all that a search takes.
    pub fn sample(
        &self,
        candidates: &[Candidate],
        clock: &(dyn Fn() -> f64 + Sync),
        progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<Sampled, Error> {
        let mut images: Vec<Options> = Vec::new();
        let mut places = Vec::with_capacity(candidates.len());
        for candidate in candidates {
            let image = candidate.options(self.options);
            let known = images.iter().position(|known| *known == image);
            places.push(known.unwrap_or(images.len()));
            if known.is_none() {
                images.push(image);
            }
        }
        let options = SampleOptions {
            candidates: &images,
            plan: &(self.plan)(self.options.block_size),
            builds: Sampling::BUILDS,
            means: self.means(clock),
        };
        let sampling = Sampling::run(self.source, &options, progress)?;
        Ok(Sampled { sampling, places })
    }

    /// Compresses more samples with a candidate's settings, and predicts those again of which they tell more.
    ///
    /// * `outcomes`: of all candidates, as predicted.
    /// * `place`: that of the candidate.
    /// * `clock`, `progress`: as of [`sample`](Self::sample).
    ///
    /// # Errors
    ///
    /// Those of [`Sampling::refine`].
    pub fn refine(
        &self,
        candidates: &[Candidate],
        sampled: &mut Sampled,
        outcomes: &mut [Outcome],
        place: usize,
        clock: &(dyn Fn() -> f64 + Sync),
        progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<(), Error> {
        let before = sampled.sampling.estimates.clone();
        let means = self.means(clock);
        let image = sampled.places[place];
        let sampling = &mut sampled.sampling;
        sampling.refine(
            self.source,
            image,
            Sampling::REFINING_BYTES,
            &means,
            progress,
        )?;
        let mut orders = Orders::new();
        for ((candidate, &place), outcome) in candidates.iter().zip(&sampled.places).zip(outcomes) {
            let is_told_more = before.get(place) != sampled.sampling.estimates.get(place);
            let told =
                is_told_more.then(|| self.outcome_in(candidate, place, sampled, &mut orders));
            *outcome = told.flatten().unwrap_or(*outcome);
        }
        Ok(())
    }

    fn means<'a>(&self, clock: &'a (dyn Fn() -> f64 + Sync)) -> SampleMeans<'a> {
        SampleMeans {
            threads: self.options.threads,
            clock,
        }
    }
}
