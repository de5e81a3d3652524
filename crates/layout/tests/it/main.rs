//! Plans and orders as a whole: the documented file, the laws for random trees, plans and
//! sort files.

mod document;
mod laws;
mod orders;
mod plans;
mod sort;
mod trees;
