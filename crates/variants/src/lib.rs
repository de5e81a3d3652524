//! Sets of images of one tree for clients that differ, and the image of a set for one client.
//!
//! ```text
//! client     what a client reads images from and with                        client.rs
//! best set   the images that no other set of that number beats               best_set.rs
//! index      what a set has, without the images: demands, digests, geometry   index.rs, demands.rs
//! packed     a start, and what lies where for it, in few bytes               start.rs, geometry.rs
//! choice     the image that a client takes, and why                          choice.rs, text.rs
//! place      where an index is: a file, a URL, an OCI layout                  place.rs, oci.rs
//! image      an image that is there, compared with its index                 image.rs
//! ```
//!
//! An index is hostile: it has limits, every value is checked before it is used, and the image that
//! was chosen by it is compared with all that the index says before it takes its place.
#![forbid(unsafe_code)]

mod best_set;
mod choice;
mod client;
mod demands;
mod error;
mod geometry;
mod image;
mod index;
mod oci;
mod packed;
mod place;
mod population;
mod start;
mod text;
mod work;

pub use best_set::{BestSet, Costs};
pub use choice::{Choice, Gain, Weighed, choose};
pub use client::{Client, Download, POPULATION, population};
pub use demands::Demands;
pub use error::Error;
pub use image::copy;
pub use index::{
    ChosenFor, ClientEntry, IMAGES_MAX, INDEX_MAX_BYTES, ImageEntry, Index, StartEntry,
};
pub use oci::IMAGE_ANNOTATION;
pub use place::{PROBE_BYTES, Place};
pub use population::{chosen_set, file_name};
