//! Tests against the running Linux. Most need root and skip without it.

mod calibrate;
mod cleanup;
mod defrag;
mod disk;
mod extents;
mod launching;
mod ready;
mod recording;
mod stage;
mod throttle;
