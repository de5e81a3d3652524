//! Files that start an image: what stays of them when the image is replaced.
//!
//! ```text
//! byte 0           program      the runtime, an ELF file; four of its sections are for AppImages   program.rs
//! its end          image        SquashFS, at no alignment                                          app_image.rs
//! end of the image nothing
//! ```
//!
//! An AppImage of type 2 states nowhere where its image is: the runtime computes the end of its own
//! ELF file, and mounts what comes after it. The sections, by name:
//!
//! | section | holds | when the image is replaced |
//! |---|---|---|
//! | `.upd_info` | where updates are found | stays |
//! | `.sha256_sig` | a signature of the whole file, or zeros | becomes zeros |
//! | `.sig_key` | the key of that signature, or zeros | becomes zeros |
//! | `.digest_md5` | a digest of the rest, or zeros | is computed again, if there was one |
//!
//! Sources: `runtime.c` and `appimagetool.c` of `AppImageKit`, `digest.c` of libappimage.
//!
//! A SIF container has a table of its objects, which the crate `sif` reads and changes: what comes
//! after the image moves, and signatures of the image are dropped.
//!
//! A live ISO has its image among other files, some of which state its checksum (`iso_image.rs`).
//!
//! A snap is an image and nothing else. What the store signed is the digest of the file, and is
//! kept elsewhere.
//!
//! An [`Original`] is such a file. A caller writes another image of [`Original::input`], at
//! the same place, and [`Original::complete`] adds everything around it. [`probe`] asks a
//! program whether it reads another compressor, and [`sign`] signs an AppImage again. [`zsync`]
//! makes the file by which `zsync` fetches only what differs.

mod app_image;
mod container;
mod digest;
mod error;
mod field;
mod image;
mod iso_image;
mod original;
mod probe;
mod program;
mod report;
mod sif_image;
mod signature;
mod site;
mod snap_image;
mod stand;
mod zsync;

pub use app_image::AppImage;
pub use container::{Account, Container};
pub use error::{Error, Rule};
pub use iso_image::{BootEntry, IsoImage, bytes_of, images, is_above};
pub use original::Original;
pub use probe::probe;
pub use program::{Place, Section, Sections};
pub use report::Report;
pub use sif_image::SifImage;
pub use signature::{SIGNER, check_signable, sign};
pub use site::Site;
pub use snap_image::SnapImage;
pub use stand::{MAKER, STANDING, stand};
pub use zsync::zsync;
