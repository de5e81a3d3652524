//! Pairs of images: each cause is found where it is, and each updater says what it transfers.

mod causes;
mod images;
mod tools;
