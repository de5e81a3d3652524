//! A predicted start, as if it had been recorded.

use std::collections::HashMap;

use coldpress_cost::{AccessSequence, AccessStep, Geometry, IoEvent, ReaderEvent};
use coldpress_host::{RawEvent, RawKind};
use coldpress_image::{Error, Image};
use coldpress_trace::Access;

/// What is kept of metadata are pages of no file.
const NO_INODE: u64 = 0;

/// The events that a recorder would tell of a predicted start.
///
/// * `geometry`: that of the image, in which `events` were predicted for `sequence`.
///
/// # Errors
///
/// As [`Image::find`].
///
/// # Cost
///
/// A lookup for each path; O(n) in the number of events.
pub fn recorded_events(
    image: &Image,
    geometry: &Geometry,
    sequence: &AccessSequence,
    events: &[ReaderEvent],
) -> Result<Vec<RawEvent>, Error> {
    let inodes = inodes(image, geometry, sequence)?;
    let inode = |place: usize| inodes.get(&place).copied().unwrap_or(NO_INODE);
    let of_step = |step: &AccessStep| {
        let name = geometry.names.get(sequence.paths.get(step.path)?)?;
        Some(access(step.access, inode(name.place)))
    };
    let recorded = events.iter().filter_map(|event| {
        let kind = match event.io {
            IoEvent::Fill {
                place,
                first_page,
                last_page,
            } => RawKind::Cache {
                inode: inode(place),
                first_page,
                last_page,
            },
            IoEvent::Ask {
                start_byte,
                len_bytes,
            } => RawKind::DeviceRead {
                start_byte,
                len_bytes,
            },
            IoEvent::Arrive {
                start_byte,
                len_bytes,
            } => RawKind::DeviceDone {
                start_byte,
                len_bytes,
            },
            IoEvent::Step(step) => of_step(sequence.steps.get(step)?)?,
        };
        Some(RawEvent {
            time_us: microseconds(event.time_s),
            pid: event.pid,
            kind,
        })
    });
    Ok(recorded.collect())
}

/// What is told of an access once it is done.
fn access(access: Access, inode: u64) -> RawKind {
    match access {
        Access::Read {
            first_page,
            last_page,
        } => RawKind::Read {
            inode,
            first_page,
            last_page,
        },
        Access::Fault { page } => RawKind::Fault { inode, page },
        Access::Map {
            first_page,
            last_page,
        } => RawKind::Map {
            inode,
            first_page,
            last_page,
        },
        // The metadata has come.
        Access::Lookup | Access::List => RawKind::Cache {
            inode: NO_INODE,
            first_page: 0,
            last_page: 0,
        },
    }
}

/// The inode numbers of the places that a sequence names.
fn inodes(
    image: &Image,
    geometry: &Geometry,
    sequence: &AccessSequence,
) -> Result<HashMap<usize, u64>, Error> {
    let mut inodes = HashMap::new();
    for path in &sequence.paths {
        if let (Some(name), Some((_, inode))) = (geometry.names.get(path), image.find(path)?) {
            inodes.insert(name.place, inode.number.into());
        }
    }
    Ok(inodes)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a start takes some seconds"
)]
fn microseconds(time_s: f64) -> u64 {
    (time_s * 1e6).round() as u64
}

#[cfg(test)]
mod tests {
    use coldpress_cost::{Machine, Medium, Reader, predict_in_detail};
    use coldpress_host::Counters;
    use coldpress_trace::{Event, Trace};

    use super::*;
    use crate::{Account, CacheSizes, Explanation, ImageMap, Start, geometry};

    fn explained(accesses: &[(&[u8], Access)]) -> (Explanation, coldpress_cost::Prediction) {
        let bytes: &'static [u8] = include_bytes!("../../image/tests/it/small-image");
        let image = Image::new(Box::new(bytes)).unwrap();
        let go_on = &mut || std::ops::ControlFlow::Continue(());
        let map = ImageMap::new(&image, Box::new(bytes), go_on).unwrap();
        let event = |&(path, access): &(&[u8], Access)| Event {
            time_us: 0,
            pid: 1,
            access,
            path: path.to_vec(),
        };
        let trace = Trace {
            events: accesses.iter().map(event).collect(),
            ..Trace::default()
        };
        let sequence = AccessSequence::of_trace(&trace, 0.0);
        let geometry = geometry(&image, Box::new(bytes), go_on).unwrap();
        let (medium, machine) = (Medium::HOST, Machine::default());
        let (prediction, events) =
            predict_in_detail(&geometry, &sequence, &medium, &machine, &Reader::KERNEL);
        let events = recorded_events(&image, &geometry, &sequence, &events).unwrap();
        let start = Start {
            events: &events,
            counters: Counters {
                reads: prediction.reads,
                read_bytes: prediction.read_bytes,
            },
            wall_us: microseconds(prediction.time_s),
            decompression_bytes_per_s: None,
            caches: CacheSizes::default(),
        };
        (Account::new(&map, start).explanation(), prediction)
    }

    #[test]
    fn an_explained_prediction_has_its_figures() {
        let fault = Access::Fault { page: 0 };
        let (explanation, prediction) = explained(&[
            (b"/greeting", fault),
            (b"/none", fault),
            (b"/", Access::List),
            (b"/greeting", fault),
        ]);
        let totals = &explanation.totals;
        assert_eq!(prediction.missing, [b"/none"]);
        assert_eq!(totals.difference(), Some(0.0));
        assert_eq!(totals.reads, prediction.reads);
        assert_eq!(totals.cached_bytes, prediction.page_cache_bytes);
        assert_eq!((totals.files, totals.used_bytes), (1, 4096));
        assert_eq!(explanation.files.len(), 1);
        let spent_us = totals.waited_us + totals.decompressing_us;
        assert!(spent_us > 0 && spent_us <= totals.wall_us, "{totals:?}");
    }
}
