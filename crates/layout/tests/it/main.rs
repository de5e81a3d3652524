//! Plans and orders as a whole: the documented file, the laws for random trees, plans, profiles,
//! sort files, groups and budgets.

mod assignments;
mod document;
mod groups;
mod laws;
mod orders;
mod plans;
mod profiles;
mod sort;
mod stable;
mod trees;
