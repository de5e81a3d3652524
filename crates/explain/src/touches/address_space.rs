//! Which pages of which files lie where in the address space of a thread, as far as faults tell.

use std::collections::{BTreeMap, HashMap};

/// The kernel maps at most so many pages around a fault (`fault_around_bytes`, 64 KiB).
const WINDOW_PAGES: u64 = 16;
/// Segments of a file, and what looked like some.
const PLACES_MAX: usize = 64;

/// Where a part of a file lies.
#[derive(Clone, Copy, Debug)]
struct Place {
    /// Pages of the address space minus pages of the file.
    distance: u64,
    /// A page of the address space there.
    address_page: u64,
    /// The first page of the window that told of it.
    first: u64,
    /// Whether another window, or the page of a fault, says the same.
    is_sure: bool,
}

/// What is known of the address space of a thread.
#[derive(Debug, Default)]
pub(super) struct AddressSpace {
    places: HashMap<usize, Vec<Place>>,
    /// Windows that were mapped: first page of the address space to number of pages, file, and
    /// first page of it.
    windows: BTreeMap<u64, (u64, usize, u64)>,
}

impl AddressSpace {
    /// Notes what a fault and the window around it say about the place of a file.
    ///
    /// A window begins at a multiple of its size in the address space, or where its segment begins,
    /// which cannot be told apart: only if windows that begin elsewhere in the file say the same,
    /// they begin at multiples. A fault without a window names its page, and is sure.
    pub(super) fn note_place(
        &mut self,
        address_page: u64,
        file: usize,
        (first, last): (u64, u64),
        is_window: bool,
    ) {
        if last.saturating_sub(first) >= WINDOW_PAGES {
            return;
        }
        let slot = if is_window {
            address_page % WINDOW_PAGES
        } else {
            0
        };
        let distance = address_page.wrapping_sub(first.wrapping_add(slot));
        let places = self.places.entry(file).or_default();
        if let Some(place) = places.iter_mut().find(|place| place.distance == distance) {
            place.is_sure |= !is_window || place.first != first;
            return;
        }
        if places.len() < PLACES_MAX {
            places.push(Place {
                distance,
                address_page,
                first,
                is_sure: !is_window,
            });
        }
    }

    /// The page of a file at an address, of the window around a fault there: by the nearest place
    /// that is sure.
    pub(super) fn page_of(
        &self,
        address_page: u64,
        file: usize,
        (first, last): (u64, u64),
    ) -> Option<u64> {
        let places = self.places.get(&file)?.iter();
        let fits = |place: &&Place| {
            let page = address_page.wrapping_sub(place.distance);
            place.is_sure && (first..=last).contains(&page)
        };
        let nearest = places
            .filter(fits)
            .min_by_key(|place| place.address_page.abs_diff(address_page))?;
        Some(address_page.wrapping_sub(nearest.distance))
    }

    /// Notes that a window is mapped.
    pub(super) fn map(
        &mut self,
        address_page: u64,
        page: u64,
        file: usize,
        (first, last): (u64, u64),
    ) {
        // A single page of a window that is known says nothing new.
        if first == last && self.find(address_page).is_some() {
            return;
        }
        let start = page
            .checked_sub(first)
            .and_then(|slot| address_page.checked_sub(slot));
        if let Some(start) = start {
            let count = last.saturating_sub(first).saturating_add(1);
            self.windows.insert(start, (count, file, first));
        }
    }

    /// The file and the page of it at a page of the address space.
    pub(super) fn find(&self, address_page: u64) -> Option<(usize, u64)> {
        let (&start, &(count, file, first)) = self.windows.range(..=address_page).next_back()?;
        let slot = address_page - start;
        (slot < count).then(|| (file, first.saturating_add(slot)))
    }
}
