//! What samples tell of candidates, and more samples of one.

use std::ops::ControlFlow;

use coldpress_writer::{Error, Options, Progress, SampleMeans, SampleOptions, Sampling};

use crate::candidate::Candidate;
use crate::search::Search;

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

    /// Compresses more samples with a candidate's settings. Returns the places of the candidates of
    /// which they tell more, whose outcomes are to be predicted again.
    ///
    /// * `place`: that of the candidate.
    /// * `clock`, `progress`: as of [`sample`](Self::sample).
    ///
    /// # Errors
    ///
    /// Those of [`Sampling::refine`].
    pub fn refine(
        &self,
        sampled: &mut Sampled,
        place: usize,
        clock: &(dyn Fn() -> f64 + Sync),
        progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<Vec<usize>, Error> {
        let Sampled { sampling, places } = sampled;
        let before = sampling.estimates.clone();
        let (image, means) = (places[place], self.means(clock));
        sampling.refine(
            self.source,
            image,
            Sampling::REFINING_BYTES,
            &means,
            progress,
        )?;
        let is_told_more =
            |place: &usize| before[places[*place]] != sampling.estimates[places[*place]];
        Ok((0..places.len()).filter(is_told_more).collect())
    }

    fn means<'a>(&self, clock: &'a (dyn Fn() -> f64 + Sync)) -> SampleMeans<'a> {
        SampleMeans {
            threads: self.options.threads,
            clock,
        }
    }
}
