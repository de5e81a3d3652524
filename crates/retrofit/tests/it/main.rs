//! Files that hold an image are read, rebuilt, and refused with a place.

mod app_image;
mod damaged;
mod iso;
mod zsync;
