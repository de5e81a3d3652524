//! Standard output that knows when nobody reads it any more.

use std::io::{self, BufWriter, Write};

use crate::failure::StdoutClosed;

/// Bytes collected before they are written; a pipe holds as much.
const BUFFER_BYTES: usize = 64 << 10;

/// Standard output, buffered.
///
/// Rust ignores SIGPIPE, so a closed pipe is an error here; it is marked as
/// [`StdoutClosed`], which ends the command with success.
#[derive(Debug)]
pub(crate) struct Stdout {
    buffer: BufWriter<Pipe>,
}

impl Stdout {
    pub(super) fn new() -> Self {
        Self {
            buffer: BufWriter::with_capacity(BUFFER_BYTES, Pipe(io::stdout())),
        }
    }
}

impl Write for Stdout {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.buffer.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.buffer.flush()
    }
}

/// Standard output, with a closed pipe marked.
#[derive(Debug)]
struct Pipe(io::Stdout);

impl Write for Pipe {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes).map_err(marked)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush().map_err(marked)
    }
}

fn marked(error: io::Error) -> io::Error {
    if error.kind() == io::ErrorKind::BrokenPipe {
        io::Error::new(io::ErrorKind::BrokenPipe, StdoutClosed)
    } else {
        error
    }
}
