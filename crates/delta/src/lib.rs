//! What updaters transfer from one image to the next, and why.
//!
//! Two questions, answered apart:
//!
//! - *How much*: an [`Updater`] is asked by running its own program on both files ([`measure`]).
//!   The answer is a [`Transfer`]: bytes, and for updaters that fetch parts of the new file, which.
//! - *Why*: [`regions`] compares the two images block by block, whatever the updater, and gives each
//!   byte of the new image a [`Cause`]. What is in both images is transferred only because an
//!   updater did not find it again, which is [`Cause::Moved`].
//!
//! [`Transfer::by_cause`] puts both together. A patch (xdelta3, bsdiff, `HDiffPatch`) does not tell
//! for which part of the new file its bytes are, so they are spread over all that changed.
//!
//! | updater | is asked by | finds again |
//! |---|---|---|
//! | xdelta3 | `xdelta3 -9`, with all of the old file as its source | strings, anywhere |
//! | zsync | `zsync`, from a server in this process | blocks of 2 or 4 KiB, at any byte |
//! | casync | `casync make`, with its default chunks | chunks of 64 KiB on average, cut by content |
//! | bsdiff | `bsdiff` | strings, with bytes that differ within |
//! | hdiffpatch | `hdiffz`, or the Python module `hdiffpatch` | as bsdiff |
//! | rauc | its block hash index, computed here | blocks of 4 KiB at multiples of 4 KiB |
#![forbid(unsafe_code)]

mod blocks;
mod cause;
mod error;
mod range_server;
mod regions;
mod report;
mod tools;
mod transfer;
mod updater;

pub use cause::{Cause, CauseBytes};
pub use error::Error;
pub use regions::{Region, regions};
pub use report::{Report, Row};
pub use tools::rauc::block_hash_index;
pub use transfer::{Part, Transfer};
pub use updater::{Pair, Updater, measure};
