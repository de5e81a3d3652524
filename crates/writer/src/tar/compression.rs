//! Compressed archives, recognized by their first bytes whatever their names are.

use std::io::{self, BufRead, Read};

use bzip2::bufread::MultiBzDecoder;
use flate2::bufread::GzDecoder;
use liblzma::bufread::XzDecoder;
use liblzma::stream::{CONCATENATED, Stream};
use lz4_flex::frame::FrameDecoder;
use zstd_safe::{DCtx, DParameter, InBuffer, OutBuffer, get_error_name};

/// Bytes that tell every compression from the others.
pub(crate) const MAGIC_BYTES: usize = 10;
/// Memory of the xz decoder. `xz -9` needs 65 MiB, its largest usual dictionary 192 MiB.
const XZ_MEMORY_BYTES: u64 = 256 << 20;
/// The window of the zstd decoder, 128 MiB: what `zstd --long` makes and `zstd -d` accepts.
const ZSTD_WINDOW_LOG: u32 = 27;

/// How an archive is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Compression {
    Gzip,
    Bzip2,
    Xz,
    Zstd,
    Lz4,
}

impl Compression {
    /// The compression of what begins with these bytes.
    pub(crate) fn of(head: &[u8]) -> Option<Self> {
        Some(match head {
            [0x1f, 0x8b, 8, ..] => Self::Gzip,
            // Four letters could be a name in an archive: what follows are digits of pi, or of its
            // root where no block follows.
            [
                b'B',
                b'Z',
                b'h',
                b'1'..=b'9',
                0x31,
                0x41,
                0x59,
                0x26,
                0x53,
                0x59,
            ]
            | [
                b'B',
                b'Z',
                b'h',
                b'1'..=b'9',
                0x17,
                0x72,
                0x45,
                0x38,
                0x50,
                0x90,
            ] => Self::Bzip2,
            [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Self::Xz,
            // The second is a skippable frame, with which parallel compressors begin.
            [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Self::Zstd,
            [0x04, 0x22, 0x4d, 0x18, ..] => Self::Lz4,
            _ => return None,
        })
    }

    /// What is in a compressed stream, all its members one after the other.
    ///
    /// Reading ends with [`io::ErrorKind::UnexpectedEof`] if the stream does.
    pub(crate) fn decoder<'a>(
        self,
        compressed: impl BufRead + Send + 'a,
    ) -> io::Result<Box<dyn Read + Send + 'a>> {
        Ok(match self {
            Self::Gzip => Box::new(Gzip(Some(GzDecoder::new(compressed)))),
            Self::Bzip2 => Box::new(MultiBzDecoder::new(compressed)),
            Self::Xz => {
                let stream = Stream::new_stream_decoder(XZ_MEMORY_BYTES, CONCATENATED)?;
                Box::new(XzDecoder::new_stream(compressed, stream))
            }
            Self::Zstd => Box::new(Zstd::new(compressed)?),
            Self::Lz4 => Box::new(Lz4 {
                frames: FrameDecoder::new(Counted {
                    inner: compressed,
                    read_bytes: 0,
                    has_ended: false,
                }),
                frame_end: 0,
            }),
        })
    }
}

/// The members of a gzip stream, and the zeros by which tapes fill it up.
struct Gzip<R>(Option<GzDecoder<R>>);

impl<R: BufRead> Read for Gzip<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while let Some(member) = &mut self.0 {
            let len = member.read(buffer)?;
            if len > 0 || buffer.is_empty() {
                return Ok(len);
            }
            let Some(mut rest) = self.0.take().map(GzDecoder::into_inner) else {
                break;
            };
            match rest.fill_buf()? {
                [] => break,
                [0, ..] => return skip_zeros(&mut rest),
                _ => self.0 = Some(GzDecoder::new(rest)),
            }
        }
        Ok(0)
    }
}

/// Reads the rest of a stream; returns 0 if all of it is zeros.
pub(crate) fn skip_zeros(rest: &mut impl BufRead) -> io::Result<usize> {
    loop {
        let bytes = rest.fill_buf()?;
        if bytes.is_empty() {
            return Ok(0);
        }
        if bytes.iter().any(|byte| *byte != 0) {
            let error = "something else follows the compressed data";
            return Err(io::Error::new(io::ErrorKind::InvalidData, error));
        }
        let len = bytes.len();
        rest.consume(len);
    }
}

/// The frames of a zstd stream.
struct Zstd<R> {
    compressed: R,
    context: DCtx<'static>,
    /// Whether a frame has begun and not ended.
    is_inside: bool,
}

impl<R: BufRead> Zstd<R> {
    fn new(compressed: R) -> io::Result<Self> {
        let mut context = DCtx::try_create().ok_or(io::ErrorKind::OutOfMemory)?;
        context
            .set_parameter(DParameter::WindowLogMax(ZSTD_WINDOW_LOG))
            .map_err(|code| io::Error::other(get_error_name(code)))?;
        Ok(Self {
            compressed,
            context,
            is_inside: false,
        })
    }
}

impl<R: BufRead> Read for Zstd<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut output = OutBuffer::around(buffer);
        while output.pos() == 0 {
            let bytes = self.compressed.fill_buf()?;
            let has_ended = bytes.is_empty();
            if has_ended && !self.is_inside {
                break;
            }
            let mut input = InBuffer::around(bytes);
            let hint = self.context.decompress_stream(&mut output, &mut input);
            let hint = hint
                .map_err(|code| io::Error::new(io::ErrorKind::InvalidData, get_error_name(code)))?;
            self.is_inside = hint != 0;
            let len = input.pos();
            self.compressed.consume(len);
            if has_ended && self.is_inside && output.pos() == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
        Ok(output.pos())
    }
}

/// The frames of an lz4 stream.
struct Lz4<R: Read> {
    frames: FrameDecoder<Counted<R>>,
    /// Where the last whole frame ends.
    frame_end: u64,
}

/// A stream that knows how much of it was read, and whether it has ended.
struct Counted<R> {
    inner: R,
    read_bytes: u64,
    has_ended: bool,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let len = self.inner.read(buffer)?;
        self.read_bytes += len as u64;
        self.has_ended |= len == 0 && !buffer.is_empty();
        Ok(len)
    }
}

impl<R: Read> Read for Lz4<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        // The decoder tells neither the end of a frame nor that of a stream within a frame from the
        // end of all.
        loop {
            let len = self.frames.read(buffer)?;
            if len > 0 || buffer.is_empty() {
                return Ok(len);
            }
            let compressed = self.frames.get_ref();
            if !compressed.has_ended {
                self.frame_end = compressed.read_bytes;
            } else if compressed.read_bytes == self.frame_end {
                return Ok(0);
            } else {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
    }
}
