//! Where files were touched, in order, to the byte where that can be known.
//!
//! The events of the page cache name pages, and windows of pages around a fault. Just before them
//! the same thread faulted, and that event names the address. Both together tell which byte of
//! which file it was, and where the file is mapped; from then on the addresses of instructions in
//! that window can be told, too.

mod address_space;

use std::collections::HashMap;

use coldpress_host::{RawEvent, RawKind};

use crate::image_map::ImageMap;
use address_space::AddressSpace;

const PAGE_BITS: u32 = 12;
/// Between a fault and what the kernel does about it nothing else happens.
const PAIR_MAX_US: u64 = 200;

/// A file was touched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Touch {
    /// When.
    pub time_us: u64,
    /// The page of the file.
    pub page: u64,
    /// The byte of the file, if it is known.
    pub byte: Option<u64>,
    /// Whether the page was faulted on; else an instruction in it was running when another page
    /// was.
    pub is_fault: bool,
}

/// What the kernel did about a fault.
#[derive(Clone, Copy, Debug)]
struct Answer {
    time_us: u64,
    pid: u32,
    file: usize,
    /// Pages of the file.
    first: u64,
    last: u64,
    /// Whether one of them was faulted on; else the one that there is.
    is_window: bool,
    /// Address and instruction of the fault, if they are known.
    fault: Option<(u64, u64)>,
}

/// Touches of each file, by its index, in order.
///
/// # Cost
///
/// Holds all faults on files of the image; O(n log n).
pub(crate) fn touches(events: &[RawEvent], map: &ImageMap) -> HashMap<usize, Vec<Touch>> {
    let answers = answers(events, map);
    let mut spaces: HashMap<u32, AddressSpace> = HashMap::new();
    // What a later fault tells of the place of a file, helps with the first.
    for answer in &answers {
        if let Some((address, _)) = answer.fault {
            let space = spaces.entry(answer.pid).or_default();
            let pages = (answer.first, answer.last);
            space.note_place(address >> PAGE_BITS, answer.file, pages, answer.is_window);
        }
    }
    let mut touches = Touches::default();
    for answer in &answers {
        let space = spaces.entry(answer.pid).or_default();
        touches.add(answer, space);
    }
    touches.by_file
}

/// Faults on files, with their addresses.
fn answers(events: &[RawEvent], map: &ImageMap) -> Vec<Answer> {
    // The last fault of a thread, until something else happens than what the kernel does about it.
    let mut faults: HashMap<u32, (u64, u64, u64)> = HashMap::new();
    let mut answers = Vec::new();
    for event in events {
        let (inode, first, last) = match event.kind {
            RawKind::UserFault {
                address,
                instruction,
            } => {
                faults.insert(event.pid, (event.time_us, address, instruction));
                continue;
            }
            RawKind::Fault { inode, page } => (inode, page, page),
            RawKind::Map {
                inode,
                first_page,
                last_page,
            } => (inode, first_page, last_page),
            RawKind::DeviceDone { .. } => continue,
            RawKind::Read { .. } | RawKind::Cache { .. } | RawKind::DeviceRead { .. } => {
                faults.remove(&event.pid);
                continue;
            }
        };
        let Some(file) = map.file_of_inode(inode) else {
            continue;
        };
        let fault = faults.get(&event.pid).copied();
        let fault =
            fault.filter(|(time_us, ..)| event.time_us.saturating_sub(*time_us) <= PAIR_MAX_US);
        answers.push(Answer {
            time_us: event.time_us,
            pid: event.pid,
            file,
            first,
            last,
            is_window: matches!(event.kind, RawKind::Map { .. }),
            fault: fault.map(|(_, address, instruction)| (address, instruction)),
        });
    }
    answers
}

#[derive(Default)]
struct Touches {
    by_file: HashMap<usize, Vec<Touch>>,
}

impl Touches {
    fn add(&mut self, answer: &Answer, space: &mut AddressSpace) {
        let pages = (answer.first, answer.last);
        let found = answer.fault.and_then(|(address, instruction)| {
            let address_page = address >> PAGE_BITS;
            let page = if answer.is_window {
                space.page_of(address_page, answer.file, pages)?
            } else {
                answer.first
            };
            Some((address, instruction, page))
        });
        let Some((address, instruction, page)) = found else {
            if !answer.is_window {
                self.push(answer.file, answer.time_us, (answer.first, None), true);
            }
            return;
        };
        // The instruction stands in a window that was mapped before.
        if instruction != address
            && let Some((file, page)) = space.find(instruction >> PAGE_BITS)
        {
            let byte = page << PAGE_BITS | offset_in_page(instruction);
            self.push(file, answer.time_us, (page, Some(byte)), false);
        }
        let byte = page << PAGE_BITS | offset_in_page(address);
        self.push(answer.file, answer.time_us, (page, Some(byte)), true);
        space.map(address >> PAGE_BITS, page, answer.file, pages);
    }

    /// Of one fault the kernel may tell several times: nothing was there around it, the page was
    /// not, and, after it was read, once more.
    fn push(
        &mut self,
        file: usize,
        time_us: u64,
        (page, byte): (u64, Option<u64>),
        is_fault: bool,
    ) {
        let touches = self.by_file.entry(file).or_default();
        let is_known = |last: &Touch| last.page == page && (byte.is_none() || last.byte == byte);
        if touches.last().is_some_and(is_known) {
            return;
        }
        touches.push(Touch {
            time_us,
            page,
            byte,
            is_fault,
        });
    }
}

fn offset_in_page(address: u64) -> u64 {
    address & ((1 << PAGE_BITS) - 1)
}

#[cfg(test)]
mod tests;
