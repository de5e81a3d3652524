//! What samples told, and which of it a candidate's image is told by.

use std::iter;
use std::ops::Range;

use coldpress_codec::Settings;

use super::curve::Curve;
use super::effort;
use super::population::Population;
use super::populations::Places;
use super::surveyed::Family;
use crate::options::Options;

/// Blocks of one population of an image, and how they are compressed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    pub(super) population: usize,
    /// `None` if they are stored as they are.
    pub(super) curve: Option<usize>,
}

/// The parts of a candidate's image.
#[derive(Clone, Debug)]
pub(super) struct Parts {
    pub(super) geometry: usize,
    pub(super) files: Part,
    pub(super) fragments: Part,
    /// The places of its fragment blocks in their population.
    pub(super) fragment_places: Range<usize>,
    pub(super) tables: Part,
}

/// What the samples told.
#[derive(Clone, Debug)]
pub(super) struct RatioModel {
    pub(super) populations: Vec<Population>,
    pub(super) curves: Vec<Curve>,
}

impl RatioModel {
    /// The parts of a candidate, with a curve for each that is compressed.
    pub(super) fn parts(&mut self, candidate: &Options, places: &Places) -> Parts {
        let stored = candidate.stored();
        let mut part = |population: usize, is_stored: bool| Part {
            population,
            curve: candidate
                .compression
                .filter(|_| !is_stored)
                .map(|settings| self.curve(settings, population)),
        };
        Parts {
            geometry: places.geometry,
            files: part(places.data, stored.data),
            fragments: part(places.data, stored.fragments),
            fragment_places: places.fragments.clone(),
            tables: part(places.tables, false),
        }
    }

    /// The place of a curve, behind that of its proxy.
    fn curve(&mut self, settings: Settings, population: usize) -> usize {
        let is_it = |curve: &Curve| curve.population == population && curve.settings == settings;
        if let Some(place) = self.curves.iter().position(is_it) {
            return place;
        }
        // Metadata is little, and its samples are few.
        let proxy =
            effort::proxy(&settings).filter(|_| !self.populations[population].is_metadata());
        let proxy = proxy.map(|settings| self.curve(settings, population));
        let family = Family::of(settings.compressor);
        self.curves
            .push(Curve::new(settings, family, population, proxy));
        self.curves.len() - 1
    }

    /// For each curve whether it tells something of a candidate.
    pub(super) fn behind(&self, parts: &Parts) -> Vec<bool> {
        let mut is_behind = vec![false; self.curves.len()];
        for part in [&parts.files, &parts.fragments, &parts.tables] {
            let curves = iter::successors(part.curve, |curve| self.curves[*curve].proxy);
            curves.for_each(|curve| is_behind[curve] = true);
        }
        is_behind
    }
}
