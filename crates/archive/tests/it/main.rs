//! Archives read and written again: made ones, random ones, broken ones, and by other tools.

mod asar;
mod hostile;
mod interop;
mod jimage;
mod made;
mod ordered;
mod random;
