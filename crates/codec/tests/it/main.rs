//! The codec crate from outside: every compressor at every level, hostile streams, the limits that
//! the kernel sets, and the ordered map.

mod hostile;
mod limits;
mod lzo;
mod ordered;
mod recipes;
mod round_trip;
mod samples;
