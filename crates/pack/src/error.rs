//! Why a pack could not be written.

use std::io;

/// A reason for which no pack was written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The image cannot be read.
    #[error(transparent)]
    Image(#[from] coldpress_image::Error),
    /// The compressor cannot be used.
    #[error(transparent)]
    Codec(#[from] coldpress_codec::Error),
    /// The pack cannot be written.
    #[error("cannot write the start pack: {0}")]
    Write(#[source] io::Error),
    /// No page of the recording is one of the image.
    #[error(
        "no page of a file of the image is in the recording: nothing can be packed; is it a \
         recording of this image, made with `--recorder fuse` or `kernel`?"
    )]
    NothingTouched,
    /// The limit has no room for any page.
    #[error("a start pack of at most {limit_bytes} bytes has no room for a page; allow more")]
    TooSmall {
        /// The limit.
        limit_bytes: u64,
    },
    /// There is more than a pack can hold.
    #[error("the recording names more than a start pack can hold, 64 GiB of pages")]
    TooLarge,
    /// The progress callback asked to stop.
    #[error("interrupted")]
    Interrupted,
}
