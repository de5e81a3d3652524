//! What is predicted of an image against what the writer makes of it.

/// Predicted and built geometries, position by position.
mod geometry;
/// The sizes of the blocks of an image that is built.
mod real_sizes;
/// Trees of every kind.
mod trees;
