//! Hostile input for every verb: an error that says where, or a right result, within bounds of time
//! and memory, and nothing outside of where it may write.
//!
//! The images are those of `coldpress-nasty`, and each test bears the name of the defect that was
//! published of another reader, where it has one. None is mounted: the kernel that runs the tests
//! has no second one.

mod bounded;
mod images;
mod planted;
mod texts;
mod verbs;
