//! Which tool made an image, and with which settings.
//!
//! Two kinds of evidence: blocks that are compressed again until they come out byte for byte, and
//! habits of writers that the format leaves free. Neither is guessed: what cannot be told stays
//! open.

mod candidates;
mod habits;
mod options;
mod samples;

use std::ops::ControlFlow;

use coldpress_codec::{Recipe, Recompressor};
use coldpress_format::BlockSize;
use coldpress_image::Image;

pub use habits::{Habits, Numbering};

use crate::error::Error;
use samples::Sample;

/// What is known of how an image was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The tool.
    pub tool: Tool,
    /// What its blocks were compressed with; `None` if no block is compressed or no recipe matches.
    pub encoding: Option<Encoding>,
    /// The level that the image records; where it records none, the one that the tools leave
    /// unrecorded. `None` if levels are never recorded, as those of xz.
    pub recorded_level: Option<i32>,
    /// Blocks that were compressed again.
    pub sampled: usize,
    /// What its structure shows.
    pub habits: Habits,
}

/// A recipe, and how well it fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Encoding {
    /// The recipe.
    pub recipe: Recipe,
    /// Of the sampled blocks, those that it makes byte for byte.
    pub matched: usize,
}

/// A tool that writes images.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Tool {
    /// coldpress, without a plan.
    Coldpress,
    /// mksquashfs or sqfstar, or what calls them, as snapcraft and appimagetool do.
    Mksquashfs,
    /// gensquashfs or tar2sqfs.
    SquashfsToolsNg,
    /// tar2sqfs.
    Tar2sqfs,
    /// One of mksquashfs and coldpress: nothing in the image tells them apart.
    MksquashfsOrColdpress,
    /// None of them, or one with options that leave no trace of it.
    Unknown,
}

impl Tool {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Coldpress => "coldpress",
            Self::Mksquashfs => "mksquashfs",
            Self::SquashfsToolsNg => "gensquashfs or tar2sqfs",
            Self::Tar2sqfs => "tar2sqfs",
            Self::MksquashfsOrColdpress => "mksquashfs or coldpress",
            Self::Unknown => "unknown",
        }
    }
}

/// Finds out which tool made an image, and with which compressor, level and options.
///
/// * `progress`: called after each block; stops the work when it breaks.
///
/// # Errors
///
/// [`Error::Image`] if the image is damaged where it is read, [`Error::Interrupted`].
///
/// # Cost
///
/// Reads the metadata, and compresses a dozen blocks with the recipe that fits, a few blocks with
/// every other: some seconds if none fits.
pub fn identify(
    image: &Image,
    progress: &mut dyn FnMut() -> ControlFlow<()>,
) -> Result<Identity, Error> {
    let habits = habits::read(image)?;
    let samples = samples::read(image)?;
    let encoding = encoding(image, &samples, progress)?;
    Ok(Identity {
        tool: habits.tool(encoding.map(|encoding| encoding.recipe)),
        encoding,
        recorded_level: candidates::recorded_level(image),
        sampled: samples.len(),
        habits,
    })
}

/// The first recipe that makes all samples; else the one that makes the most of the first few.
fn encoding(
    image: &Image,
    samples: &[Sample],
    progress: &mut dyn FnMut() -> ControlFlow<()>,
) -> Result<Option<Encoding>, Error> {
    /// Samples by which recipes are compared of which none makes them all.
    const COMPARED: usize = 3;
    let block_size = image.superblock().block_size;
    let mut best: Option<Encoding> = None;
    for recipe in candidates::of(image) {
        let mut trial = Trial::new(recipe, block_size)?;
        let (compared, rest) = samples.split_at(samples.len().min(COMPARED));
        let matched = trial.count(compared, progress)?;
        let is_promising = matched == compared.len() && matched > 0;
        let matched = if is_promising {
            matched + trial.count(rest, progress)?
        } else {
            matched
        };
        if matched > best.map_or(0, |best| best.matched) {
            best = Some(Encoding { recipe, matched });
        }
        if matched == samples.len() {
            break;
        }
    }
    let Some(found) = best else {
        return Ok(None);
    };
    let matched = Trial::new(found.recipe, block_size)?.count(samples, progress)?;
    let recipe = found.recipe;
    Ok(Some(Encoding { recipe, matched }))
}

/// A recipe that is tried.
struct Trial(Recompressor);

impl Trial {
    fn new(recipe: Recipe, block_size: BlockSize) -> Result<Self, Error> {
        Ok(Self(Recompressor::new(recipe, block_size)?))
    }

    /// How many of the samples it makes.
    fn count(
        &mut self,
        samples: &[Sample],
        progress: &mut dyn FnMut() -> ControlFlow<()>,
    ) -> Result<usize, Error> {
        let mut count = 0;
        for sample in samples {
            count += usize::from(self.0.is_made(&sample.content, &sample.stored)?);
            if progress().is_break() {
                return Err(Error::Interrupted);
            }
        }
        Ok(count)
    }
}
