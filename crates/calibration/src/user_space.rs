//! The reader of images without root: this process, which decompresses at other speeds than the
//! kernel.

use std::panic::resume_unwind;
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, bail};
use coldpress_format::{Body, File};
use coldpress_host::{Elapsed, Pass, ReaderFigures, Rounds, Sample, Stopwatch};
use coldpress_image::{Error, Image};
use coldpress_session::clock;
use coldpress_session::ui::Ui;

/// The block size at which samples are read by several threads as well.
const TOGETHER_BLOCK_BYTES: u32 = 128 << 10;

/// Measures how fast this process reads the samples.
///
/// * `threads`: of the passes with several.
/// * `time`: about what it takes.
///
/// # Errors
///
/// If a sample cannot be read, or the user interrupts.
pub fn measure(
    samples: &[Sample<'_>],
    threads: u32,
    time: Duration,
    ui: &Ui,
) -> anyhow::Result<ReaderFigures> {
    let opened: Vec<Opened> = samples
        .iter()
        .map(Opened::new)
        .collect::<anyhow::Result<_>>()?;
    let mut passes = Vec::new();
    let figures = |passes: &[Pass]| {
        let figures = ReaderFigures::of(samples, passes, false, clock::now_unix_ms());
        figures.context("no sample is stored as it is")
    };
    let is_disturbed = |passes: &[Pass]| {
        figures(passes).is_ok_and(|figures| !figures.disturbed(samples).is_empty())
    };
    let mut rounds = Rounds::of(time);
    while rounds.begin(|| is_disturbed(&passes)) {
        for (index, opened) in opened.iter().enumerate() {
            if ui.interrupt.is_pending() {
                bail!("interrupted");
            }
            let is_together = threads > 1 && opened.block_bytes == TOGETHER_BLOCK_BYTES;
            let counts = [Some(1), is_together.then_some(threads)];
            for threads in counts.into_iter().flatten() {
                let (elapsed, blocks) = opened.read_all(threads)?;
                passes.push(Pass {
                    sample: index,
                    threads,
                    wall_s: elapsed.wall_s / blocks,
                    on_processor_s: elapsed.on_processor_s / blocks,
                });
            }
        }
    }
    figures(&passes)
}

/// A sample and the file in it.
struct Opened {
    image: Image,
    data: File,
    block_bytes: u32,
}

impl Opened {
    fn new(sample: &Sample<'_>) -> anyhow::Result<Self> {
        let image = Image::new(Box::new(sample.image.try_clone()?))?;
        let path = format!("/{}", Sample::DATA);
        let Some((_, inode)) = image.find(path.as_bytes())? else {
            bail!("a sample has no `{path}`");
        };
        let Body::File(data) = inode.body else {
            bail!("`{path}` of a sample is no regular file");
        };
        Ok(Self {
            image,
            data,
            block_bytes: sample.block_bytes,
        })
    }

    /// How long it took to read all blocks, and how many there are.
    fn read_all(&self, threads: u32) -> Result<(Elapsed, f64), Error> {
        let blocks = self.data.size_bytes / u64::from(self.block_bytes.max(1));
        let watch = Stopwatch::start();
        if threads <= 1 {
            self.read(0, 1, blocks)?;
        } else {
            thread::scope(|scope| {
                let readers: Vec<_> = (0..threads)
                    .map(|first| scope.spawn(move || self.read(first.into(), threads, blocks)))
                    .collect();
                let mut ends = readers
                    .into_iter()
                    .map(|reader| reader.join().unwrap_or_else(|panic| resume_unwind(panic)));
                ends.try_for_each(|end| end)
            })?;
        }
        #[expect(clippy::cast_precision_loss, reason = "some thousands")]
        Ok((watch.elapsed(), blocks.max(1) as f64))
    }

    fn read(&self, first: u64, threads: u32, blocks: u64) -> Result<(), Error> {
        let mut bytes = vec![0; self.block_bytes as usize];
        let mut block = first;
        while block < blocks {
            let start = block * u64::from(self.block_bytes);
            self.image.read_at(&self.data, start, &mut bytes)?;
            block += u64::from(threads);
        }
        Ok(())
    }
}
