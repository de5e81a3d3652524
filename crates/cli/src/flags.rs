//! Flags of several verbs: one file for each, with the type and the parser of its value.
//!
//! A flag means the same in every verb that has it. Parsing opens nothing; [`crate::resolve`] turns
//! flags into settings.

pub(crate) mod command;
pub(crate) mod container;
pub(crate) mod device;
pub(crate) mod exclude;
pub(crate) mod guest;
pub(crate) mod image;
pub(crate) mod place;
pub(crate) mod profile;
pub(crate) mod pseudo_files;
pub(crate) mod readahead;
pub(crate) mod reading;
pub(crate) mod recorder;
pub(crate) mod runs;
pub(crate) mod source;
pub(crate) mod stable;
pub(crate) mod start_pack;
pub(crate) mod study;
pub(crate) mod tar;
pub(crate) mod verity;
