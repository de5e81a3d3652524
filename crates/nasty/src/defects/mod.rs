//! Images for each defect that was published of a reader of SquashFS: crashes, loops, reads and
//! writes outside, endless work.
//!
//! A function gives the images of one defect, or of a few of one kind. The first cases of each are
//! the ones that were published; others are their neighbors, legal ones among them.

mod bombs;
mod compressors;
mod data;
mod inodes;
mod links;
mod listings;
mod names;
mod superblocks;
mod tables;
mod xattrs;

pub use bombs::{endless_files, large_listings, metadata_bombs, nested_directories};
pub use compressors::{compressor_numbers, compressor_options, streams_that_want_memory};
pub use data::{block_words, content_bombs, overlapping_blocks, tail_ends};
pub use inodes::{file_sizes, inode_numbers, modes_and_types, owners, parents, targets};
pub use links::{loops, outward_links};
pub use listings::{directory_indexes, listing_places, listing_sizes, run_counts};
pub use names::{name_sizes, names, one_name_twice};
pub use superblocks::{
    block_sizes, counts, image_sizes, positions, root_references, truncations, versions,
};
pub use tables::{fragment_tables, indexes, metadata_headers};
pub use xattrs::{xattr_indexes, xattr_pairs, xattr_tables};

use crate::case::Case;
use crate::image::Nasty;
use crate::model::Model;
use crate::packing::Packing;
use crate::sample::sample;
use crate::tables::Tables;

/// Nodes of the sample.
const ROOT: usize = 0;
const DIR: usize = 1;
const FILE: usize = 2;
const SUB: usize = 3;
const FIFO: usize = 4;
const LINK: usize = 5;
const SPARSE: usize = 6;
const TAIL: usize = 7;

/// The stored sample.
fn stored() -> Nasty {
    Tables::new(&sample(Packing::STORED)).write()
}

/// The sample after its values were changed.
fn changed(change: impl FnOnce(&mut Model)) -> Nasty {
    let mut model = sample(Packing::STORED);
    change(&mut model);
    Tables::new(&model).write()
}

/// The sample after the bytes of its tables were changed.
fn rewritten(packing: Packing, change: impl FnOnce(&mut Tables)) -> Nasty {
    let mut tables = Tables::new(&sample(packing));
    change(&mut tables);
    tables.write()
}

/// A case for each value of a field of 32 bits in a stored image.
fn words(field: &str, image: &Nasty, at: usize, values: &[(u32, &'static str)]) -> Vec<Case> {
    let case = |(value, says): &(u32, &'static str)| {
        let what = format!("{field} {value:#x}");
        Case::new(what, image.with(at, &value.to_le_bytes()), says)
    };
    values.iter().map(case).collect()
}

/// A case for each value of a field of 16 bits in a stored image.
fn halves(field: &str, image: &Nasty, at: usize, values: &[(u16, &'static str)]) -> Vec<Case> {
    let case = |(value, says): &(u16, &'static str)| {
        let what = format!("{field} {value:#x}");
        Case::new(what, image.with(at, &value.to_le_bytes()), says)
    };
    values.iter().map(case).collect()
}
