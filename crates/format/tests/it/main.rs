//! Bytes of each record, its errors, and the document that describes it.

mod corrupt;
mod format_doc;
mod golden;
mod hostile;
mod round_trip;
mod samples;
