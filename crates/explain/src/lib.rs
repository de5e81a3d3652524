//! What a start did to an image: which files and blocks it read, how often, how long it waited, and
//! what of it was in vain.
//!
//! A recording is a list of events: pages that were used or came into memory, bytes that the device
//! was asked for and delivered. An [`ImageMap`] knows which block of which file lies where.
//! [`Account`] puts both together, and [`Account::explanation`] sums up:
//!
//! * [`Totals`]: of the device, of memory, of time;
//! * [`FileCost`] for each file, [`AreaCost`] for each part of the metadata;
//! * [`Repeats`]: blocks that were read more than once, and why;
//! * [`ReadMark`] for each read, for charts.
//!
//! [`recorded_events`] makes such events of a start that was predicted, to compare layouts without
//! starting anything.
//!
//! [`explain_elf`] goes into one program or library: what of its sections was touched, by whom, and
//! the order in which its functions were needed.
//!
//! [`Findings`] are all of it for people: sentences, tables, JSON, and a page with charts.
//!
//! All of it is computed from values; nothing here touches the machine. Recordings are the kernel's
//! own; images and the programs in them may be hostile: any bytes give a value or an error.
#![forbid(unsafe_code)]

mod account;
mod archives;
mod decompression;
mod device_read;
mod elf;
mod explanation;
mod file_cost;
mod findings;
mod geometry;
mod image_map;
mod page_use;
mod predicted;
mod repeats;
mod share;
mod touches;

pub use account::{Account, Start};
pub use archives::EntryCost;
pub use decompression::decompression_bytes_per_s;
pub use elf::{ElfCost, ElfError, Initializer, SectionCost, explain_elf, explain_elf_bytes};
pub use explanation::{AreaCost, Explanation, ReadKind, ReadMark, Totals};
pub use file_cost::FileCost;
pub use findings::{
    ExplainedFile, Findings, FindingsJson, Linker, Origin, explain_programs, explained_page, facts,
    is_meant, symbol_order, tables, write_summary,
};
pub use geometry::{executable_pages, geometry, note_executables};
pub use image_map::{Block, BlockKind, ImageMap, MappedFile};
pub use page_use::PageUse;
pub use predicted::recorded_events;
pub use repeats::{CacheSizes, Reason, RepeatSum, RepeatedBlock, Repeats};
pub use touches::Touch;
