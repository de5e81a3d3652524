//! Container images as sources: from a reference to layers that are found and known.
//!
//! ```text
//! reference   what a user writes: `docker://alpine:3`, `oci:./layout:tag`     reference.rs
//! blobs       where manifests, configurations and layers are                  layout.rs, archive.rs
//! resolve     from an index to the one manifest that is meant                 resolve.rs, platform.rs
//! image       its configuration and its layers                                image.rs, config.rs
//! enroot,     what tools add to an image that is made for them                enroot.rs, apptainer.rs
//! apptainer
//! inspection  what an image is, as text and as JSON                       inspection.rs
//! artifact    a SquashFS image as registries and layouts keep it              artifact.rs, layout/write.rs
//! ```
//!
//! With the feature `http`, images are also pulled from registries (registry.rs).
//!
//! Manifests and what they lead to are hostile: everything that is read has a limit, every blob is
//! compared with the digest by which it is named, and an index that leads in circles is an error.
//! Layers are checked when they are read (`coldpress_writer::LayersInput`).

mod added;
mod apptainer;
mod archive;
mod artifact;
mod blobs;
mod charliecloud;
mod config;
mod daemon;
mod docker_archive;
mod document;
mod enroot;
mod enroot_options;
mod error;
mod image;
mod inspection;
mod layout;
mod media_type;
mod open;
mod platform;
mod reference;
#[cfg(feature = "http")]
mod registry;
mod resolve;

pub use apptainer::ApptainerFiles;
pub use artifact::{Artifact, ArtifactForm, ArtifactSettings};
pub use blobs::{Blob, Blobs};
pub use config::{Config, RunConfig};
pub use document::Descriptor;
pub use enroot_options::{ENROOT_SQUASH_OPTIONS, enroot_squash_options};
pub use error::Error;
pub use image::{ContainerImage, ImageLayer};
pub use inspection::{Inspection, MergedLayers};
pub use layout::write::{push_index_to_layout, push_to_layout};
pub use open::{Means, open};
pub use platform::Platform;
pub use reference::{Daemon, Place, Reference, RegistryReference};
#[cfg(feature = "http")]
pub use registry::{
    Cache, CachedBlob, CachedImage, CredentialFiles, Fetched, FetchedPart, ImageSlot, Pushed,
    RegistryMeans, Watch, manifest_digest, pull, push,
};
pub use resolve::Wanted;
