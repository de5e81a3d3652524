//! The history as its users and their accidents meet it.

mod exports;
mod imports;
mod studies;
mod writers;
