//! Images that break the rules, for tests.
//!
//! Writers of images cannot write these, so they are put together here, in three steps. A test
//! changes what one of them gives, and so breaks as much or as little as it wants:
//!
//! ```text
//! Model    values: nodes with their inodes, block lists, ids      model.rs, node.rs, sample.rs
//!   |
//! Tables   the bytes of each table before it is packed            tables.rs
//!   |
//! Nasty    the bytes of the image, and where its records lie      image.rs
//! ```
//!
//! The bytes of a table are packed as they are, compressed by any compressor or stored; so a
//! damage below the compression is a byte changed in [`Tables`], one of the compressed stream a
//! byte changed in [`Nasty`]. [`sample`] is a model with something of everything.
//!
//! [`defects`] holds images for each defect that was published of a reader of SquashFS, and what
//! coldpress says of them.

mod case;
pub mod defects;
mod image;
mod model;
mod node;
mod packing;
mod sample;
mod tables;

pub use case::Case;
pub use image::{Nasty, Stored, Structure};
pub use model::Model;
pub use node::{Node, directory, node};
pub use packing::{Packing, WRITABLE};
pub use sample::{FRAGMENT_BYTES, file_content, noise, sample, text};
pub use tables::Tables;

/// The nodes of the stored [`sample`].
pub fn nodes() -> Vec<Node> {
    sample(Packing::STORED).nodes
}

/// The [`sample`], stored or compressed with gzip.
pub fn image(compressed: bool) -> Nasty {
    Tables::new(&sample(Packing::gzip(compressed))).write()
}

/// The image of these nodes, which may refer to the data of the stored [`sample`]; the first is
/// the root.
///
/// * `compressed`: whether metadata is.
pub fn write(nodes: &[Node], compressed: bool) -> Nasty {
    let model = Model {
        nodes: nodes.to_vec(),
        ..sample(Packing::STORED)
    };
    let mut tables = Tables::new(&model);
    tables.packing.compressed = compressed;
    tables.write()
}
