//! `unsquashfs` and `sqfscat` as users and other projects call them.
//!
//! The binary is called by those names, through symbolic links. What it prints and restores is
//! compared with what the installed unsquashfs does with the same command line, and where 4.5.1 and
//! 4.7 differ, with texts of the latter.

mod behavior;
mod bench;
mod lines;
mod listings;
mod pseudo;
