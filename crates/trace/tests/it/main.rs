//! Traces as a whole: the documented file, random traces, hostile text.

mod document;
mod import;
mod random;
