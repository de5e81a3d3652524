//! Standard output whose errors are told from those of other files.

use std::io::{self, BufWriter, Write};

use crate::failure::StdoutFailed;

/// Bytes collected before they are written; a pipe holds as much.
const BUFFER_BYTES: usize = 64 << 10;

/// Standard output, buffered.
///
/// Its errors are marked as [`StdoutFailed`]. Rust ignores SIGPIPE, so a closed pipe is one of
/// them; it ends the command with success.
#[derive(Debug)]
pub struct Stdout {
    buffer: BufWriter<Pipe>,
}

impl Stdout {
    pub(super) fn new() -> Self {
        Self {
            buffer: BufWriter::with_capacity(BUFFER_BYTES, Pipe(io::stdout())),
        }
    }

    /// Characters of a line of the terminal; `None` if it is none, for whom lines are not broken.
    pub fn width(&self) -> Option<usize> {
        let size = rustix::termios::tcgetwinsize(io::stdout()).ok()?;
        Some(usize::from(size.ws_col)).filter(|width| *width > 0)
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

/// Standard output, with its errors marked.
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
    io::Error::new(error.kind(), StdoutFailed(error))
}
