//! What is fuzzed: a function for each kind of hostile input.
//!
//! Each takes any bytes and comes back. Errors are fine; a panic is a defect, and so is whatever
//! the functions assert: a check that finds nothing in an image that cannot be read, a text that is
//! another after it was written and read, a file outside of where one may write.
//!
//! `fuzz/` calls them with bytes that libFuzzer makes; a test of this crate with those that are
//! kept in `fuzz/corpus/`.

mod archives;
mod built;
mod containers;
mod descriptions;
mod hash_trees;
mod images;
mod lists;
mod programs;
mod recordings;
mod studies;
mod trees;
mod variants;
mod words;

/// Gives any bytes to something that must bear them.
pub type Target = fn(&[u8]);

/// Every target and its name.
pub const TARGETS: [(&str, Target); 26] = [
    ("image", images::image),
    ("listing", images::listing),
    ("start-pack", images::start_pack),
    ("extraction", trees::extraction),
    ("rebuild", trees::rebuild),
    ("releases", trees::releases),
    ("archive", trees::archive),
    ("container", containers::container),
    ("layers", containers::layers),
    ("zip", archives::zip),
    ("start-log", archives::start_log),
    ("sif", containers::sif),
    ("app-image", containers::app_image),
    ("iso", containers::iso),
    ("snap", containers::snap),
    ("trace", lists::trace),
    ("profile", lists::profile),
    ("plan", lists::plan),
    ("lists", lists::lists),
    ("timings", lists::timings),
    ("studies", studies::studies),
    ("import", recordings::import),
    ("elf", programs::elf),
    ("words", words::words),
    ("verity", hash_trees::verity),
    ("variants", variants::variants),
];

/// Runs the target of a name.
///
/// # Panics
///
/// If there is none, or the bytes show a defect.
pub fn run(name: &str, data: &[u8]) {
    let target = TARGETS.iter().find(|(known, _)| *known == name);
    target.expect("a target has this name").1(data);
}
