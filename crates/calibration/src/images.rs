//! Sample images of the same content, by compressor and block size, in memory.

use std::fs::File;
use std::ops::ControlFlow;

use anyhow::Context as _;
use coldpress_codec::Settings;
use coldpress_format::{BlockSize, Compressor};
use coldpress_host::{Sample, memory, memory_file, path_of_open, threads};
use coldpress_layout::{Group, Plan, Tails};
use coldpress_session::ui::Ui;
use coldpress_writer::{
    Input, MetadataLayout, Options, SourceOptions, TarDefaults, TarInput, TarOrigin, Uncompressed,
};

use crate::{archive, content};

/// Small, common and large blocks; the time of others lies between.
const BLOCK_BYTES: [u32; 3] = [16 << 10, 128 << 10, 1 << 20];

/// An image.
#[derive(Debug)]
pub struct SampleImage {
    compressor: Option<Compressor>,
    block_size: BlockSize,
    data_bytes: u64,
    ratio: f64,
    file: File,
}

impl SampleImage {
    /// It as it is measured.
    pub fn sample(&self) -> Sample<'_> {
        Sample {
            compressor: self.compressor.map(Compressor::name),
            block_bytes: self.block_size.bytes(),
            data_bytes: self.data_bytes,
            ratio: self.ratio,
            image: &self.file,
        }
    }
}

/// Makes an image for each block size that is stored as it is, and one for each of the compressors.
///
/// * `pieces`: MiB of data.
///
/// # Errors
///
/// If there is no memory for them, or the user interrupts.
pub fn make(
    compressors: &[Compressor],
    pieces: usize,
    ui: &Ui,
) -> anyhow::Result<Vec<SampleImage>> {
    let kinds: Vec<Option<Compressor>> = std::iter::once(None)
        .chain(compressors.iter().copied().map(Some))
        .collect();
    let step = ui
        .count("preparing", (kinds.len() * BLOCK_BYTES.len()) as u64)
        .about("images of programs and texts, in memory");
    let mut poll = || ui.interrupt.poll();
    let data = content::pieces(pieces, &mut poll).context("cannot read data for samples")?;
    let tar = memory_file()?;
    archive::write(&data, &tar).context("cannot keep data for samples in memory")?;
    let data_bytes = data.len() as u64;
    drop(data);
    let mut images = Vec::new();
    for compressor in kinds {
        for block_bytes in BLOCK_BYTES {
            let block_size = BlockSize::new(block_bytes)?;
            let (file, stored_bytes) = write(&tar, compressor, block_size, &mut poll)?;
            #[expect(clippy::cast_precision_loss, reason = "some MiB")]
            let ratio = stored_bytes as f64 / data_bytes as f64;
            images.push(SampleImage {
                compressor,
                block_size,
                data_bytes,
                ratio,
                file,
            });
            step.set(images.len() as u64);
        }
    }
    step.finish("");
    Ok(images)
}

/// Writes an image; returns it and the bytes of its data area.
fn write(
    tar: &File,
    compressor: Option<Compressor>,
    block_size: BlockSize,
    poll: &mut dyn FnMut() -> ControlFlow<()>,
) -> anyhow::Result<(File, u64)> {
    let input = Input::Tar(TarInput {
        origin: TarOrigin::File(path_of_open(tar)),
        // Nothing is: an archive that is not compressed stays where it is.
        spool_directory: std::env::temp_dir(),
        ignore_zeros: false,
        defaults: TarDefaults::default(),
    });
    let source = coldpress_writer::gather(&[input], &SourceOptions::default(), &mut |_| poll())?;
    let tails = Tails::None;
    let (order, _) = coldpress_layout::order(&source.tree, &Plan::default(), block_size, tails);
    let options = Options {
        // The levels of mksquashfs, at which most images are made.
        compression: compressor
            .map(|compressor| Settings::new(compressor, None))
            .transpose()?,
        uncompressed: Uncompressed::default(),
        block_size,
        threads: threads(None),
        memory_bytes: memory::default_bytes(),
        modification_time_s: 0,
        tails,
        group: Group::None,
        exportable: false,
        metadata: MetadataLayout::Dense,
        offset_bytes: 0,
        is_padded: true,
        deduplicated: false,
        without_xattrs: false,
    };
    let file = memory_file()?;
    let written = coldpress_writer::write(&source, &order, &file, &options, &mut |_| poll());
    let summary = written.context("cannot make a sample image in memory")?;
    Ok((file, summary.stored_bytes))
}
