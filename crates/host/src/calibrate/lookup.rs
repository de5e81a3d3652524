//! What it takes to find an inode that nobody asked for yet.

use rustix::fs::{AtFlags, statat};
use std::io;
use std::os::fd::AsFd;

use super::sample::Sample;
use super::stopwatch::Stopwatch;

/// Asks for the metadata of every name of a sample, once; returns the seconds on a processor for
/// all, and how many there are.
pub(super) fn look_up(root: impl AsFd) -> io::Result<(f64, u32)> {
    let names: Vec<String> = Sample::names().collect();
    let watch = Stopwatch::start();
    for name in &names {
        statat(&root, name.as_str(), AtFlags::SYMLINK_NOFOLLOW)?;
    }
    let time_s = watch.elapsed().on_processor_s;
    Ok((
        time_s,
        u32::try_from(names.len()).map_err(io::Error::other)?,
    ))
}
