//! Charts as inline SVG.
//!
//! In charts of contestants each has a lane: its name above, its box or bar below. So names of any
//! length fit, never turn and never collide, and no legend is needed. The charts are drawn in
//! placeholder colors, which are then replaced by variables of the style sheet: one SVG for light
//! and dark. What tells its value when it is pointed at is a mark (`marks.rs`).

mod bars;
mod boxes;
mod curve;
mod frame;
mod heat_map;
mod marks;
mod scatter;
mod timeline;
mod waterfall;

pub(super) use bars::{Bar, bars};
pub(super) use boxes::{DOTS_MAX, Lane, Sample, boxes};
pub(super) use curve::{Step, curve};
pub(super) use heat_map::heat_map;
pub(super) use marks::series;
pub(super) use scatter::scatter;
pub(super) use timeline::timeline;
pub(super) use waterfall::waterfall;
