//! What programs tell people: names, units, tables and errors as text.
//!
//! Names are bytes and may hold anything; numbers have units; errors are one sentence and say what
//! to do. All of this is the same in messages, in tables and in reports.
//!
//! * [`text`]: names, times, modes, and what a shell takes for one word.
//! * [`units`]: numbers with their units.
//! * [`Table`]: rows and columns, as [text](Table::text) for a terminal.
//! * [`typed`]: sizes and shares as people type them.
//! * [`LocalTime`]: times in the zone of the machine.
//! * [`failure`]: errors as sentences, with hints.
//! * [`systemd`]: words in units of systemd.
//!
//! Pure: it prints nothing.

pub mod failure;
mod local_time;
pub mod systemd;
mod table;
pub mod text;
pub mod typed;
pub mod units;

pub use local_time::LocalTime;
pub use table::Table;
