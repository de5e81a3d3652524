//! Pages of files, read through the mount of an image.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use coldpress_host::MountRoot;
use coldpress_trace::{FileAccess, PAGE_SIZE_BYTES, PageRun, WorkingSet};

use super::{Clock, Fetched, Limits};

/// The largest read: a block of most images.
const BUFFER_BYTES: usize = 128 << 10;

/// Looks up what a working set names, then reads the pages that it touches, in the order of the
/// start.
///
/// Metadata comes first: it is little, and nothing can be read before it.
///
/// * `stop`: ends it before the next read.
///
/// # Errors
///
/// If the directory cannot be opened.
pub fn read_pages(
    mount: &Path,
    set: &WorkingSet,
    limits: Limits,
    stop: &AtomicBool,
) -> io::Result<Fetched> {
    let root = MountRoot::open(mount)?;
    let runs = runs(set);
    let sizes = runs.iter().map(|(_, run)| bytes_of(run));
    let wanted_bytes = sizes.fold(0, u64::saturating_add);
    let mut clock = Clock::new(limits, wanted_bytes, 0, stop);
    for path in &set.lookups {
        let begun = Instant::now();
        if root.find(path).is_err() {
            clock.fetched.missing += 1;
        }
        if !clock.goes_on(0, begun.elapsed()) {
            return Ok(clock.finish());
        }
    }
    let mut buffer = vec![0; BUFFER_BYTES];
    // Runs of one file often follow each other.
    let mut last: Option<(&[u8], Option<File>)> = None;
    for (path, run) in runs {
        let file = match last.take() {
            Some((last_path, file)) if last_path == path => file,
            _ => root.open_file(path).ok(),
        };
        let goes_on = match &file {
            Some(file) => read(file, run, &mut buffer, &mut clock),
            None => true,
        };
        if !goes_on {
            break;
        }
        last = Some((path, file));
    }
    Ok(clock.finish())
}

/// The pages that are read, in the order of their first access: sure ones; of a file of which
/// nothing is sure, all.
fn runs(set: &WorkingSet) -> Vec<(&[u8], &PageRun)> {
    let of_file = |file: &FileAccess| file.pages.iter().any(|run| run.certain);
    let files = set.files.iter().map(|file| (file, of_file(file)));
    let mut runs: Vec<(&[u8], &PageRun)> = files
        .flat_map(|(file, is_sure)| {
            let wanted = file.pages.iter().filter(move |run| run.certain || !is_sure);
            wanted.map(|run| (file.path.as_slice(), run))
        })
        .collect();
    runs.sort_by_key(|(_, run)| run.rank);
    runs
}

fn bytes_of(run: &PageRun) -> u64 {
    let pages = run
        .last_page
        .saturating_sub(run.first_page)
        .saturating_add(1);
    pages.saturating_mul(PAGE_SIZE_BYTES)
}

/// Reads some pages of a file; false once it is to end.
fn read(file: &File, run: &PageRun, buffer: &mut [u8], clock: &mut Clock<'_>) -> bool {
    let mut offset = run.first_page.saturating_mul(PAGE_SIZE_BYTES);
    let end = offset.saturating_add(bytes_of(run));
    while offset < end {
        let len = usize::try_from(end - offset).map_or(buffer.len(), |len| len.min(buffer.len()));
        let begun = Instant::now();
        let got = file.read_at(buffer.get_mut(..len).unwrap_or_default(), offset);
        // Damage is met by whoever needs the file; at its end there is nothing more.
        let got = got.map_or(0, |len| len as u64);
        if !clock.goes_on(got, begun.elapsed()) {
            return false;
        }
        if got == 0 {
            return true;
        }
        offset = offset.saturating_add(got);
    }
    true
}
