//! A sequence replayed against a reader.

use std::collections::{HashMap, HashSet};

use coldpress_trace::Access;

use crate::access_sequence::{AccessSequence, AccessStep};
use crate::event::{IoEvent, ReaderEvent};
use crate::geometry::{DirectoryGeometry, Geometry, InodeGeometryKind, MetadataRange};
use crate::kernel::Kernel;
use crate::machine::Machine;
use crate::medium::Medium;
use crate::prediction::Prediction;
use crate::reader::Reader;
use crate::rules::Rules;
use crate::unpacked::unpacked;

/// Pages of a window around a fault. What was mapped in a larger piece was opened, and nothing more
/// is known of it.
const WINDOW_PAGES: u64 = 16;

/// What a start takes (docs/cost-model.md).
///
/// # Cost
///
/// O(n) in the steps of the sequence, and the pages and blocks that they touch: milliseconds for a
/// start of Chromium. [`Reader::Unpacked`] copies the geometry.
pub fn predict(
    geometry: &Geometry,
    sequence: &AccessSequence,
    medium: &Medium,
    machine: &Machine,
    reader: &Reader,
) -> Prediction {
    predict_in_detail(geometry, sequence, medium, machine, reader).0
}

/// The same, with all that the reader does, by its time; what happens at the same time stands in
/// the order of the steps.
///
/// # Cost
///
/// As [`predict`]; some 50 bytes for each read and step.
pub fn predict_in_detail(
    geometry: &Geometry,
    sequence: &AccessSequence,
    medium: &Medium,
    machine: &Machine,
    reader: &Reader,
) -> (Prediction, Vec<ReaderEvent>) {
    let mut medium = *medium;
    // A process reads the image as a file.
    medium.via_file |= matches!(reader, Reader::Fuse { .. });
    let other = (*reader == Reader::Unpacked).then(|| unpacked(geometry));
    let (geometry, starts) = match &other {
        Some((geometry, starts)) => (geometry, Some(starts.as_slice())),
        None => (geometry, None),
    };
    let mut kernel = Kernel::mount(geometry, &medium, machine, Rules::of(reader));
    kernel.lies_at(starts);
    Replay::new(geometry, sequence, kernel).run()
}

/// A start while it is replayed.
struct Replay<'a> {
    geometry: &'a Geometry,
    sequence: &'a AccessSequence,
    kernel: Kernel<'a>,
    /// When each thread has done what it did so far.
    free_s: HashMap<u32, f64>,
    /// When the step before began, and when it was done.
    begun_s: f64,
    done_s: f64,
    /// Names that the kernel knows, found or not.
    names: HashSet<&'a [u8]>,
    events: Vec<ReaderEvent>,
    missing: Vec<Vec<u8>>,
}

impl<'a> Replay<'a> {
    fn new(geometry: &'a Geometry, sequence: &'a AccessSequence, kernel: Kernel<'a>) -> Self {
        Self {
            geometry,
            sequence,
            kernel,
            free_s: HashMap::new(),
            begun_s: 0.0,
            done_s: 0.0,
            names: HashSet::from([&b"/"[..]]),
            events: Vec::new(),
            missing: Vec::new(),
        }
    }

    fn run(mut self) -> (Prediction, Vec<ReaderEvent>) {
        for (index, step) in self.sequence.steps.iter().enumerate() {
            let Some(path) = self.sequence.paths.get(step.path) else {
                continue;
            };
            // Threads keep their order (equation 7); a new one is begun by the one before.
            let free_s = self.free_s.get(&step.pid).copied().unwrap_or(self.done_s);
            let computing_s = step.compute_share * self.sequence.compute_s;
            self.kernel.causes.compute_s += computing_s;
            self.begun_s = free_s.max(self.begun_s) + computing_s;
            let mut now_s = self.begun_s;
            let next = self.sequence.steps.get(index + 1);
            self.do_step(&mut now_s, step, path, next);
            self.free_s.insert(step.pid, now_s);
            self.done_s = now_s;
            self.note_events(step.pid, index);
        }
        let mut events = std::mem::take(&mut self.events);
        events.sort_by(|a, b| a.time_s.total_cmp(&b.time_s));
        (self.prediction(), events)
    }

    /// Notes what was done for a step.
    fn note_events(&mut self, pid: u32, step: usize) {
        let done = (self.done_s, IoEvent::Step(step));
        let ios = self.kernel.device.log.take().chain([done]);
        let events = ios.map(|(time_s, io)| ReaderEvent { time_s, pid, io });
        self.events.extend(events);
    }

    fn do_step(
        &mut self,
        now_s: &mut f64,
        step: &AccessStep,
        path: &'a [u8],
        next: Option<&AccessStep>,
    ) {
        let Some(place) = self.walk(now_s, path) else {
            return;
        };
        match step.access {
            Access::Lookup => {}
            Access::List => self.list(now_s, path, next),
            Access::Fault { page } => self.kernel.fault(now_s, step.pid, place, page),
            Access::Map {
                first_page,
                last_page,
            } if last_page.saturating_sub(first_page) < WINDOW_PAGES => {
                self.kernel
                    .map(now_s, step.pid, place, (first_page, last_page));
            }
            Access::Read {
                first_page,
                last_page,
            }
            | Access::Map {
                first_page,
                last_page,
            } => self
                .kernel
                .read(now_s, step.pid, place, (first_page, last_page)),
        }
    }

    /// Looks up every name of a path that is not known yet; returns what it names.
    fn walk(&mut self, now_s: &mut f64, path: &'a [u8]) -> Option<usize> {
        let slashes = path
            .iter()
            .enumerate()
            .skip(1)
            .filter(|(_, byte)| **byte == b'/');
        let mut directory = &b"/"[..];
        for end in slashes.map(|(at, _)| at).chain([path.len()]) {
            let name = &path[..end];
            if self.names.insert(name) {
                match self.geometry.names.get(name) {
                    Some(found) => {
                        self.read_index(now_s, directory);
                        self.kernel.look_up(now_s, *found);
                    }
                    None => self.search_in_vain(now_s, directory, path),
                }
            }
            directory = name;
        }
        self.geometry.names.get(path).map(|name| name.place)
    }

    /// A name that is not there: its directory is read to the place where it would stand; some of
    /// it at least.
    fn search_in_vain(&mut self, now_s: &mut f64, directory: &[u8], path: &[u8]) {
        if self.missing.last().map(Vec::as_slice) != Some(path) {
            self.missing.push(path.to_vec());
        }
        self.read_index(now_s, directory);
        self.read_listing(now_s, directory);
    }

    /// Where a listing is to be read says the index, which lies with the inode
    /// (`get_dir_index_using_name`).
    fn read_index(&mut self, now_s: &mut f64, directory: &[u8]) {
        if let Some((inode, directory)) = self.directory(directory)
            && directory.is_indexed
        {
            self.kernel.touch(now_s, inode);
        }
    }

    fn read_listing(&mut self, now_s: &mut f64, directory: &[u8]) {
        let directory = self.directory(directory);
        if let Some(listing) = directory.and_then(|(_, directory)| directory.listing) {
            self.kernel.touch(now_s, listing);
        }
    }

    /// The blocks of its inode, and what it is.
    fn directory(&self, path: &[u8]) -> Option<(MetadataRange, DirectoryGeometry)> {
        let place = self
            .geometry
            .places
            .get(self.geometry.names.get(path)?.place)?;
        match place.kind {
            InodeGeometryKind::Directory(directory) => Some((place.inode, directory)),
            _ => None,
        }
    }

    /// A listing is read: for a name in it that is looked up next, which reads as much as it needs,
    /// or as a whole.
    fn list(&mut self, now_s: &mut f64, path: &[u8], next: Option<&AccessStep>) {
        let next = next.and_then(|next| self.sequence.paths.get(next.path));
        let is_search =
            next.is_some_and(|next| !self.names.contains(next.as_slice()) && is_in(next, path));
        if !is_search {
            self.read_index(now_s, path);
            self.read_listing(now_s, path);
        }
    }

    fn prediction(self) -> Prediction {
        let Kernel {
            device,
            causes,
            metadata_reads,
            metadata_bytes,
            decompressed_bytes,
            page_cache_bytes,
            ..
        } = self.kernel;
        Prediction {
            time_s: self.free_s.values().copied().fold(0.0, f64::max),
            reads: device.reads,
            read_bytes: device.read_bytes,
            metadata_reads,
            metadata_bytes,
            hash_reads: device.hash_reads,
            hash_bytes: device.hash_bytes,
            decompressed_bytes,
            page_cache_bytes,
            by_cause: causes,
            missing: self.missing,
        }
    }
}

/// Whether a path is below a directory.
fn is_in(path: &[u8], directory: &[u8]) -> bool {
    let rest = path.strip_prefix(directory);
    rest.is_some_and(|rest| directory == b"/" || rest.first() == Some(&b'/'))
}

#[cfg(test)]
mod tests;
