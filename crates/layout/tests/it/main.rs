//! Plans and orders as a whole: the documented file, the laws for random trees, plans, profiles and
//! sort files.

mod document;
mod laws;
mod orders;
mod plans;
mod profiles;
mod sort;
mod trees;
