//! Plans and orders as a whole: the documented file, the laws for random trees and plans.

mod document;
mod laws;
mod orders;
mod plans;
mod trees;
