//! `coldpress mount` through the kernel: the same tree as any other reader's, for images of every
//! writer and compressor, and a mount that ends as it should.

mod damage;
mod end;
mod gifts;
mod options;
mod prefetch;
mod read_only;
mod squashfuse;
mod stage;
mod start_pack;
mod tree;
mod users;
