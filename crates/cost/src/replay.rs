//! A demand replayed against a reader.

use crate::demand::Demand;
use crate::geometry::Geometry;
use crate::machine::Machine;
use crate::medium::Medium;
use crate::prediction::Prediction;
use crate::reader::Reader;

/// What a start takes (docs/cost-model.md).
///
/// # Cost
///
/// O(n log n) in the steps of the demand and the blocks that it touches; a start of Chromium takes milliseconds.
pub fn predict(
    geometry: &Geometry,
    demand: &Demand,
    medium: &Medium,
    machine: &Machine,
    reader: &Reader,
) -> Prediction {
    todo!()
}
