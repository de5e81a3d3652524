//! xz: one LZMA2 block in an xz stream with a CRC32.
//!
//! What the kernel can read is narrower than the format: its decoder allocates one dictionary at
//! mount time, of the larger of block size and 8 KiB, refuses streams with a larger one, and knows
//! no check but CRC32 (docs/format.md, "Compressor options").

use liblzma::stream::{Action, Check, Error, Filters, LzmaOptions, Status, Stream};

use crate::best::Best;
use crate::error::Defect;
use crate::tuning::{Filter, MIN_DICTIONARY_BYTES, XzTuning};

/// `LZMA_PRESET_EXTREME` of liblzma's `container.h`.
const PRESET_EXTREME: u32 = 1 << 31;

/// What the decoder needs besides the dictionary, rounded up: states, buffers and the margins that
/// liblzma puts around a dictionary.
const DECODER_OVERHEAD_BYTES: u64 = 256 << 10;

pub(crate) struct Encoder {
    /// What is tried for each block: no filter first, which is kept if a filter gains nothing.
    chains: Vec<(Option<Filter>, LzmaOptions)>,
    /// The largest dictionary that readers have memory for.
    dictionary_bytes: u32,
    /// Whether a block has a smaller dictionary if it is smaller.
    is_fitted: bool,
    best: Best,
}

impl Encoder {
    pub(crate) fn new(
        level: i32,
        tuning: XzTuning,
        dictionary_bytes: u32,
    ) -> Result<Self, &'static str> {
        let extreme = if tuning.extreme { PRESET_EXTREME } else { 0 };
        let chain = |filter| {
            let mut options =
                LzmaOptions::new_preset(level.unsigned_abs() | extreme).map_err(text)?;
            let (lc, lp, pb) = tuning.coding_bits(filter);
            options
                .literal_context_bits(lc.into())
                .literal_position_bits(lp.into())
                .position_bits(pb.into());
            Ok((filter, options))
        };
        Ok(Self {
            chains: std::iter::once(None)
                .chain(tuning.filters.iter().map(Some))
                .map(chain)
                .collect::<Result<_, _>>()?,
            dictionary_bytes,
            is_fitted: true,
            best: Best::default(),
        })
    }

    /// The same with the largest dictionary for every block, as other tools have it.
    pub(crate) fn with_one_dictionary(self) -> Self {
        Self {
            is_fitted: false,
            ..self
        }
    }

    /// The size of the stream put in `output`, or `None` if it does not fit.
    pub(crate) fn compress(
        &mut self,
        input: &[u8],
        output: &mut [u8],
    ) -> Result<Option<usize>, &'static str> {
        let fitted_bytes = dictionary_bytes(input.len());
        let dictionary_bytes = if self.is_fitted {
            self.dictionary_bytes.min(fitted_bytes)
        } else {
            self.dictionary_bytes
        };
        self.best
            .of(&mut self.chains, output, |(filter, options), room| {
                options.dict_size(dictionary_bytes);
                encode(&chain(*filter, options), input, room)
            })
    }
}

/// A stream per block: liblzma's safe interface cannot restart one, and restarting was measured to
/// gain nothing.
fn encode(
    filters: &Filters,
    input: &[u8],
    output: &mut [u8],
) -> Result<Option<usize>, &'static str> {
    let mut stream = Stream::new_stream_encoder(filters, Check::Crc32).map_err(text)?;
    match stream
        .process(input, output, Action::Finish)
        .map_err(text)?
    {
        Status::StreamEnd => Ok(usize::try_from(stream.total_out()).ok()),
        Status::Ok | Status::MemNeeded | Status::GetCheck => Ok(None),
    }
}

fn chain(filter: Option<Filter>, options: &LzmaOptions) -> Filters {
    let mut filters = Filters::new();
    match filter {
        None => &mut filters,
        Some(Filter::X86) => filters.x86(),
        Some(Filter::PowerPc) => filters.powerpc(),
        Some(Filter::Ia64) => filters.ia64(),
        Some(Filter::Arm) => filters.arm(),
        Some(Filter::ArmThumb) => filters.arm_thumb(),
        Some(Filter::Sparc) => filters.sparc(),
        Some(Filter::Arm64) => filters.arm64(),
        Some(Filter::RiscV) => filters.riscv(),
    }
    .lzma2(options);
    filters
}

/// The dictionary for a block of `input_bytes`: it holds the whole block, and no more.
///
/// A block never exceeds the block size (or 8 KiB, for metadata), so neither does this. The hash
/// table is sized by the dictionary: with that of a 1 MiB block, every 8 KiB of metadata would
/// begin with clearing megabytes.
fn dictionary_bytes(input_bytes: usize) -> u32 {
    u32::try_from(input_bytes.next_power_of_two())
        .unwrap_or(u32::MAX)
        .max(MIN_DICTIONARY_BYTES)
}

/// What a stream of one block holds between its headers and its index.
///
/// Tools that hand a whole block to liblzma get its sizes in the block header, which streaming ones
/// leave out; the compressed data is the same. `None` of what is no such stream.
///
/// Source: The .xz File Format, sections 2.1, 3.1 and 4.
pub(crate) fn compressed_data(stream: &[u8]) -> Option<&[u8]> {
    const HEADER_BYTES: usize = 12;
    const FOOTER_BYTES: usize = 12;
    let block_header_bytes = (usize::from(*stream.get(HEADER_BYTES)?) + 1) * 4;
    let footer = stream.last_chunk::<FOOTER_BYTES>()?;
    let [_, _, _, _, b0, b1, b2, b3, ..] = *footer;
    let index_bytes = (u64::from(u32::from_le_bytes([b0, b1, b2, b3])) + 1) * 4;
    let index_bytes = usize::try_from(index_bytes).ok()?;
    let end = stream
        .len()
        .checked_sub(FOOTER_BYTES)?
        .checked_sub(index_bytes)?;
    stream.get(HEADER_BYTES + block_header_bytes..end)
}

pub(crate) struct Decoder {
    memory_limit_bytes: u64,
}

impl Decoder {
    pub(crate) fn new(window_bytes: u32) -> Self {
        Self {
            memory_limit_bytes: u64::from(window_bytes) + DECODER_OVERHEAD_BYTES,
        }
    }

    pub(crate) fn decompress(&mut self, input: &[u8], output: &mut [u8]) -> Result<usize, Defect> {
        let damaged = |error| Defect::Damaged(text(error));
        let mut stream = Stream::new_stream_decoder(self.memory_limit_bytes, 0).map_err(damaged)?;
        let (mut read, mut written) = (0, 0);
        // The call that fills the output does not look at the end of the stream behind it; the
        // next one does. A call that gets nowhere ends the loop as `MemNeeded`.
        loop {
            let status = stream
                .process(&input[read..], &mut output[written..], Action::Finish)
                .map_err(damaged)?;
            read = length(stream.total_in());
            written = length(stream.total_out());
            match status {
                Status::StreamEnd => return Ok(written),
                Status::Ok | Status::GetCheck => {}
                Status::MemNeeded if read == input.len() => {
                    return Err(Defect::Damaged("it is cut short"));
                }
                Status::MemNeeded => return Err(Defect::TooLong),
            }
        }
    }
}

/// A count of bytes in a slice, which therefore fits.
fn length(count_bytes: u64) -> usize {
    usize::try_from(count_bytes).unwrap_or(usize::MAX)
}

fn text(error: Error) -> &'static str {
    match error {
        Error::Data => "data or checksum is wrong",
        Error::Options => "it uses options that are not supported",
        Error::Format => "it does not begin as an xz stream",
        Error::MemLimit => "its dictionary is larger than a block of the image",
        Error::Mem => "there is not enough memory",
        Error::Program => "the library was called out of turn",
        Error::NoCheck => "it has no checksum",
        Error::UnsupportedCheck => "its checksum is of an unknown kind",
    }
}
