//! How much a replay has to do: an index must not keep a client busy for ever.

use coldpress_cost::{AccessSequence, FileGeometry, Geometry, InodeGeometryKind, MetadataRange};
use coldpress_trace::Access;

use crate::geometry::names;

/// Pages and metadata blocks that a replay may look at: a start of Chromium looks at 0.3 million.
pub(crate) const WORK_MAX: u64 = 1 << 24;

/// Pages and metadata blocks that a replay looks at, at most.
pub(crate) fn work(geometry: &Geometry, sequence: &AccessSequence) -> u64 {
    let mut work = 0_u64;
    let mut add = |count: u64| work = work.saturating_add(count);
    for name in names(sequence) {
        let Some(lookup) = geometry.names.get(name) else {
            // It is searched in vain.
            add(listing(geometry, parent(name)));
            continue;
        };
        let place = geometry.places.get(lookup.place);
        add(span(lookup.search) + span(place.map(|place| place.inode)));
    }
    for step in &sequence.steps {
        let path = sequence.paths.get(step.path).map_or(&[][..], Vec::as_slice);
        add(1);
        match step.access {
            Access::Lookup => {}
            Access::List => add(listing(geometry, path)),
            Access::Fault { .. } => add(1),
            Access::Read {
                first_page,
                last_page,
            }
            | Access::Map {
                first_page,
                last_page,
            } => {
                let pages = geometry.file(path).map_or(0, FileGeometry::page_count);
                add((last_page + 1).min(pages).saturating_sub(first_page));
            }
        }
    }
    work
}

fn parent(name: &[u8]) -> &[u8] {
    match name.iter().rposition(|byte| *byte == b'/') {
        None | Some(0) => b"/",
        Some(end) => &name[..end],
    }
}

fn listing(geometry: &Geometry, path: &[u8]) -> u64 {
    let place = geometry
        .names
        .get(path)
        .and_then(|it| geometry.places.get(it.place));
    match place.map(|place| &place.kind) {
        Some(InodeGeometryKind::Directory(directory)) => span(directory.listing),
        _ => 0,
    }
}

fn span(range: Option<MetadataRange>) -> u64 {
    range.map_or(0, |range| (range.last - range.first) as u64 + 1)
}
