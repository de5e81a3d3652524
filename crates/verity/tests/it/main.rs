//! Trees as they are written, read and verified, and as veritysetup does the same.

mod damage;
mod sample;
mod vectors;
mod veritysetup;
