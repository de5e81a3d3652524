//! What a reader does during a start, one thing after the other.

/// Something that a reader does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReaderEvent {
    /// When, in s from the first access.
    pub time_s: f64,
    /// The thread that it is done for.
    pub pid: u32,
    /// What.
    pub io: IoEvent,
}

/// What a reader does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IoEvent {
    /// Pages of a file come into memory, also past its end: they are there before their bytes are.
    Fill {
        /// The file, in [`Geometry::places`](crate::Geometry::places).
        place: usize,
        /// The first page.
        first_page: u64,
        /// The last one, included.
        last_page: u64,
    },
    /// The device is asked for a piece of the image.
    Ask {
        /// Image byte at which it begins.
        start_byte: u64,
        /// How many bytes.
        len_bytes: u64,
    },
    /// The device has read a piece that it was asked for.
    Arrive {
        /// Image byte at which it begins.
        start_byte: u64,
        /// How many bytes.
        len_bytes: u64,
    },
    /// A step of the sequence is done: its place in
    /// [`AccessSequence::steps`](crate::AccessSequence::steps).
    Step(usize),
}

/// What was done for the step that is under way.
#[derive(Debug, Default)]
pub(crate) struct Log(Vec<(f64, IoEvent)>);

impl Log {
    pub(crate) fn note(&mut self, time_s: f64, event: IoEvent) {
        self.0.push((time_s, event));
    }

    /// What was noted since it was taken last.
    pub(crate) fn take(&mut self) -> impl Iterator<Item = (f64, IoEvent)> + '_ {
        self.0.drain(..)
    }
}
