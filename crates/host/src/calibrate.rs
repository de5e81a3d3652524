//! What this machine takes to read, to decompress and to find: measured once, kept, and used by
//! predictions.
//!
//! ```text
//! the medium   direct reads: single, large, in order, many at once      medium.rs, direct.rs, test_file.rs
//! memory       copies out of the page cache, faults on it               memory.rs
//! the reader   blocks of sample images in memory, filled one by one     reader.rs, rounds.rs, sample.rs, lookup.rs
//! figures      of repeats, and straight lines through them              fit.rs, stopwatch.rs
//! the text     how figures are kept                                     calibration.rs
//! ```
//!
//! All repeats are interleaved, so that a machine that slows down for a while slows down every
//! figure a little and none alone. Figures are medians. Those of the reader are small differences
//! of times on a processor, which other programs can only lengthen, so they come from the least of
//! each: beside a compiler, the decompression vanished in the difference of medians. Sample images
//! are in memory, mounted where nobody sees them: what their loop devices take to read is measured
//! and subtracted, so the times are those of decompression and of the page cache.

mod calibration;
mod direct;
mod fit;
mod lookup;
mod medium;
mod memory;
mod reader;
mod rounds;
mod sample;
mod stopwatch;
mod test_file;

pub use calibration::{
    BlockTime, CalibratedMachine, Calibration, Decompression, MediumFigures, MemoryFigures,
    NotACalibration, ReaderFigures,
};
pub use fit::Pass;
pub use medium::{measure_medium, measure_throttled};
pub use memory::measure_memory;
pub use reader::measure_reader;
pub use rounds::Rounds;
pub use sample::Sample;
pub use stopwatch::{Elapsed, Stopwatch, on_processor_s};
pub use test_file::TestFile;
