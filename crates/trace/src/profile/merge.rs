//! Merging: several orders to one.
//!
//! Recordings differ in how much they saw, so places in them are compared as fractions of their
//! first accesses. The rank of an entry is the median of these: of the common ways to merge
//! rankings it is the one that a recording which went astray moves least, and no order is much
//! nearer to all recordings together (Fagin, Kumar, Sivakumar, "Efficient similarity search and
//! classification via rank aggregation", 2003). The mean would follow the stray one, the least
//! would move everything that once came early to the front.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::fold::folded;
use super::pages::{self, SeenRun};
use super::{FileIdentity, Profile, Step, reduced};
use crate::event::{Access, Trace};
use crate::header::Header;
use crate::working_set::{listed, parent};

/// Ranks are fractions of this: 0 is the beginning of a recording.
pub(super) const RANK_END: u64 = 1 << 30;

/// Where recordings of one input saw something first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Sighting {
    pub(super) rank: u64,
    /// How many recordings saw it.
    pub(super) recordings: u32,
}

/// What all inputs saw of a path.
#[derive(Default)]
struct Sheet {
    lookups: Vec<Sighting>,
    lists: Vec<Sighting>,
    runs: Vec<SeenRun>,
}

/// Something that was touched, in the merged order.
struct Entry<'a> {
    seen: Sighting,
    path: &'a [u8],
    access: Access,
}

impl Profile {
    /// Merges recordings: what any of them touched, at the median of its ranks.
    ///
    /// # Cost
    ///
    /// O(n log n) in the number of all events, times the number of traces.
    pub fn merge(traces: &[Trace]) -> Self {
        let profiles: Vec<Self> = traces.iter().map(Self::from).collect();
        Self::combine(&profiles)
    }

    /// Merges profiles; each counts for as many recordings as saw an entry.
    ///
    /// - Everything that any of them touched is there. Pages are certain if they are so in any, and
    ///   are then ranked by those alone.
    /// - A rank is the median of the ranks, the lower one of two.
    /// - Runs of pages that follow each other are one if as many recordings saw them within a
    ///   256th of the start. Of pages that are not certain the count does not matter, as it is luck
    ///   where the window around a fault begins; windows that overlap are one.
    /// - Header lines are all that differ, sorted. Files that are not the same in all profiles
    ///   that know them are not known.
    ///
    /// The order of the profiles does not matter. Whether they are merged at once or one after the
    /// other does not either for what was touched and how often, and little for the order: a
    /// median of medians.
    ///
    /// # Cost
    ///
    /// O(n log n) in the number of all steps, times the number of profiles.
    pub fn combine(profiles: &[Self]) -> Self {
        if let [profile] = profiles {
            return profile.clone();
        }
        let mut sheets = BTreeMap::new();
        for profile in profiles {
            gather(profile, &mut sheets);
        }
        let mut entries = rank(sheets);
        // A chain of what one access implies has one rank; by path it is in order.
        entries.sort_by_key(|entry| (entry.seen.rank, entry.path, class(entry.access)));
        let step = |entry: Entry<'_>| Step {
            access: entry.access,
            recordings: entry.seen.recordings,
            path: entry.path.to_vec(),
        };
        let recordings = profiles.iter().map(|profile| profile.recordings);
        Self {
            recordings: recordings.fold(0, u32::saturating_add),
            header: header(profiles),
            steps: folded(reduced(entries.into_iter().map(step).collect())),
            files: files(profiles),
        }
    }
}

/// The order of what one access implies, then pages by number.
fn class(access: Access) -> (u8, u64) {
    match access {
        Access::Lookup => (0, 0),
        Access::List => (1, 0),
        _ => (2, access.pages().map_or(0, |(first, _)| first)),
    }
}

/// Notes on the sheets what a profile saw, with what its steps imply.
fn gather<'a>(profile: &'a Profile, sheets: &mut BTreeMap<&'a [u8], Sheet>) {
    let count = profile.steps.len() as u64;
    let sighting = |(step, place): (&Step, u64)| Sighting {
        rank: (2 * place + 1) * (RANK_END / 2) / count.max(1),
        recordings: step.recordings,
    };
    let (mut lookups, mut lists) = (HashMap::new(), HashMap::new());
    for (step, place) in profile.steps.iter().zip(0..) {
        let seen = sighting((step, place));
        note(&mut lookups, &step.path, seen);
        for directory in listed(step.access, &step.path) {
            note(&mut lists, directory, seen);
        }
    }
    for (path, seen) in lookups {
        sheets.entry(path).or_default().lookups.push(seen);
    }
    for (path, seen) in lists {
        sheets.entry(path).or_default().lists.push(seen);
    }
    // The working set has each page once, whatever the profile says of it.
    for run in profile
        .all_touched()
        .files
        .iter()
        .flat_map(|file| &file.pages)
    {
        let place = usize::try_from(run.rank).ok();
        let Some(step) = place.and_then(|place| profile.steps.get(place)) else {
            continue;
        };
        let seen = sighting((step, run.rank));
        let runs = &mut sheets.entry(step.path.as_slice()).or_default().runs;
        runs.push(SeenRun {
            first_page: run.first_page,
            last_page: run.last_page,
            is_certain: run.certain,
            seen,
        });
    }
}

/// The first sighting counts, and the greatest number of recordings.
fn note<'a>(known: &mut HashMap<&'a [u8], Sighting>, path: &'a [u8], seen: Sighting) {
    let known = known.entry(path).or_insert(seen);
    known.recordings = known.recordings.max(seen.recordings);
}

/// Ranks everything. What an access implies is never behind it.
fn rank(sheets: BTreeMap<&[u8], Sheet>) -> Vec<Entry<'_>> {
    let mut entries = Vec::new();
    let mut first_inside: HashMap<&[u8], u64> = HashMap::new();
    // From the end: a directory comes behind what is in it.
    for (path, sheet) in sheets.into_iter().rev() {
        let mut push = |access, mut seen: Sighting, limit: Option<u64>| {
            seen.rank = limit.map_or(seen.rank, |limit| limit.min(seen.rank));
            entries.push(Entry { seen, path, access });
            seen.rank
        };
        let runs = pages::merged(sheet.runs).into_iter();
        let runs = runs.map(|run| {
            let access = Access::of_pages(run.first_page, run.last_page, run.is_certain);
            push(access, run.seen, None)
        });
        let first_page = runs.min();
        let inside = first_inside.get(path).copied();
        let list = median(sheet.lists).map(|seen| push(Access::List, seen, inside));
        let first = first_page.into_iter().chain(list).min();
        if let Some(seen) = median(sheet.lookups) {
            let rank = push(Access::Lookup, seen, first);
            if let Some(directory) = parent(path) {
                let least = first_inside.entry(directory).or_insert(rank);
                *least = rank.min(*least);
            }
        }
    }
    entries
}

/// The median of the ranks, the lower one of two, and how many recordings saw it.
pub(super) fn median(mut sightings: Vec<Sighting>) -> Option<Sighting> {
    sightings.sort_unstable();
    let count = |seen: &Sighting| u64::from(seen.recordings);
    let total: u64 = sightings.iter().map(count).sum();
    let mut before = 0;
    let middle = sightings.iter().find(|seen| {
        before += count(seen);
        before * 2 >= total
    });
    middle.map(|seen| Sighting {
        rank: seen.rank,
        recordings: u32::try_from(total).unwrap_or(u32::MAX),
    })
}

/// The header lines of all profiles, each once, sorted.
fn header(profiles: &[Profile]) -> Header {
    let fields = profiles.iter().flat_map(|profile| &profile.header.fields);
    let fields: BTreeSet<_> = fields.collect();
    Header {
        fields: fields.into_iter().cloned().collect(),
    }
}

/// The files of which the profiles that know them say the same.
fn files(profiles: &[Profile]) -> BTreeMap<Vec<u8>, FileIdentity> {
    let mut known: BTreeMap<&Vec<u8>, Option<FileIdentity>> = BTreeMap::new();
    for (path, file) in profiles.iter().flat_map(|profile| &profile.files) {
        let one = known.entry(path).or_insert(Some(*file));
        *one = one.filter(|one| one == file);
    }
    let known = known.into_iter();
    let known = known.filter_map(|(path, file)| Some((path.clone(), file?)));
    known.collect()
}
