//! The populations of blocks that the survey found, and where those of each geometry are.

use std::ops::Range;

use coldpress_format::BlockSize;
use coldpress_layout::{Plan, Tails, order};

use super::geometry::Geometry;
use super::population::Population;
use super::survey::Surveying;
use super::surveyed::Family;
use super::tables::{Found, Tables};
use super::{SampleOptions, distinct, place};
use crate::error::Error;
use crate::progress::Meter;
use crate::source::Source;

/// What the survey found.
pub(super) struct Survey {
    pub(super) populations: Vec<Population>,
    /// For each geometry.
    pub(super) places: Vec<Places>,
    /// For each geometry.
    pub(super) tables: Vec<Tables>,
    pub(super) read_s: f64,
}

/// Where the blocks of a geometry are.
pub(super) struct Places {
    pub(super) geometry: usize,
    /// The population of its files and fragment blocks.
    pub(super) data: usize,
    /// The places of its fragment blocks there.
    pub(super) fragments: Range<usize>,
    /// The population of its metadata.
    pub(super) tables: usize,
}

/// Surveys a source in each geometry.
pub(super) fn survey(
    source: &Source,
    geometries: &[Geometry],
    families: &[Family],
    options: &SampleOptions<'_>,
    meter: &mut Meter,
) -> Result<Survey, Error> {
    let surveying = Surveying {
        source,
        families,
        workers: options.means.workers(),
        clock: options.means.clock,
    };
    let mut block_sizes = distinct(geometries.iter().map(|geometry| geometry.block_size));
    block_sizes.sort_unstable();
    let (files, _) = order(&source.tree, &Plan::default(), BlockSize::MAX, Tails::None);
    let (mut populations, read_s) = surveying.files(&files, &block_sizes, meter)?;
    let fragment_places = surveying.fragments(geometries, &mut populations, meter)?;
    let (mut places, mut all_tables) = (Vec::new(), Vec::new());
    for (geometry, fragments) in geometries.iter().zip(fragment_places) {
        let data = place(&block_sizes, &geometry.block_size);
        let found = Found {
            source,
            geometry,
            population: &populations[data],
            fragment_places: fragments.clone(),
            family: families.first().copied().unwrap_or(Family::Block),
        };
        let mut tables = found.tables()?;
        let metadata = tables.population(geometry.block_size, families)?;
        places.push(Places {
            geometry: places.len(),
            data,
            fragments,
            tables: populations.len(),
        });
        populations.push(metadata);
        all_tables.push(tables);
    }
    Ok(Survey {
        populations,
        places,
        tables: all_tables,
        read_s,
    })
}
