//! What images of a directory would be by sampling, and what they are.
//!
//! ```text
//! sampling DIRECTORY [--build] [--threads N] [--builds SHARE] CANDIDATE...
//! ```
//!
//! A CANDIDATE is compressor, level (`-` for the default), block size in KiB and tails (`none`,
//! `small`, `all`), as in `zstd:15:128:small`. Prints one line for each, tab-separated: what was
//! predicted, and with `--build` what the image is that was built; the time of the sampling goes
//! to standard error.

use std::error::Error;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::Instant;

use coldpress_codec::Settings;
use coldpress_format::{BlockSize, Compressor};
use coldpress_layout::{Group, Plan, Tails, order};
use coldpress_writer::{
    Estimate, Input, MetadataLayout, Options, SampleMeans, SampleOptions, Sampling, Source,
    SourceOptions, Summary, Uncompressed, gather, write,
};
use rustix::time::{ClockId, clock_gettime};

/// What is asked for.
struct Request {
    directory: PathBuf,
    candidates: Vec<(String, Options)>,
    builds: f64,
    threads: NonZeroUsize,
    is_built: bool,
}

fn main() -> Result<(), Box<dyn Error>> {
    let request = request(std::env::args().skip(1))?;
    let source = source(&request)?;
    let candidates: Vec<Options> = request
        .candidates
        .iter()
        .map(|(_, options)| options.clone())
        .collect();
    let started = Instant::now();
    let options = SampleOptions {
        candidates: &candidates,
        plan: &Plan::default(),
        builds: request.builds,
        means: SampleMeans {
            threads: request.threads,
            clock: &|| seconds(ClockId::ThreadCPUTime),
        },
    };
    let process_s = seconds(ClockId::ProcessCPUTime);
    let sampling = Sampling::run(&source, &options, &mut |_| ControlFlow::Continue(()))?;
    say_time(started, seconds(ClockId::ProcessCPUTime) - process_s);
    for ((name, options), estimate) in request.candidates.iter().zip(&sampling.estimates) {
        let built = request.is_built.then(|| build(&source, options));
        say(name, estimate, request.threads, built.transpose()?);
    }
    Ok(())
}

fn request(mut words: impl Iterator<Item = String>) -> Result<Request, Box<dyn Error>> {
    let usage = "usage: sampling DIRECTORY [--build] [--threads N] [--builds SHARE] CANDIDATE...";
    let mut request = Request {
        directory: words.next().ok_or(usage)?.into(),
        candidates: Vec::new(),
        builds: Sampling::BUILDS,
        threads: std::thread::available_parallelism()?,
        is_built: false,
    };
    while let Some(word) = words.next() {
        match word.as_str() {
            "--build" => request.is_built = true,
            "--threads" => request.threads = words.next().ok_or(usage)?.parse()?,
            "--builds" => request.builds = words.next().ok_or(usage)?.parse()?,
            _ => request.candidates.push((word.clone(), candidate(&word)?)),
        }
    }
    for (_, options) in &mut request.candidates {
        options.threads = request.threads;
    }
    Ok(request)
}

fn candidate(word: &str) -> Result<Options, Box<dyn Error>> {
    let parts: Vec<&str> = word.split(':').collect();
    let [compressor, level, kib, tails] = parts[..] else {
        return Err(format!("`{word}` is not COMPRESSOR:LEVEL:KIB:TAILS").into());
    };
    let level = (level != "-").then(|| level.parse()).transpose()?;
    let compression = match Compressor::from_name(compressor) {
        Some(compressor) => Some(Settings::new(compressor, level)?),
        None if compressor == "none" => None,
        None => return Err(format!("there is no compressor `{compressor}`").into()),
    };
    Ok(Options {
        compression,
        uncompressed: Uncompressed::default(),
        block_size: BlockSize::new(kib.parse::<u32>()? << 10)?,
        threads: NonZeroUsize::MIN,
        memory_bytes: 256 << 20,
        modification_time_s: 0,
        tails: match tails {
            "none" => Tails::None,
            "small" => Tails::Small,
            "all" => Tails::All,
            _ => return Err(format!("`{tails}` is not none, small or all").into()),
        },
        group: Group::None,
        exportable: true,
        metadata: MetadataLayout::Dense,
        offset_bytes: 0,
        is_padded: true,
        deduplicated: true,
        without_xattrs: false,
    })
}

fn source(request: &Request) -> Result<Source, coldpress_writer::Error> {
    let go_on = &mut |_| ControlFlow::Continue(());
    let inputs = Input::from_paths(std::slice::from_ref(&request.directory))?;
    let mut source = gather(&inputs, &SourceOptions::default(), go_on)?;
    let go_on = &mut |_| ControlFlow::Continue(());
    source.find_duplicates(None, request.threads, go_on)?;
    Ok(source)
}

/// Builds an image; returns what it is, and the processor time in s.
fn build(source: &Source, options: &Options) -> Result<(Summary, f64, f64), Box<dyn Error>> {
    let file = tempfile::tempfile()?;
    let (order, _) = order(
        &source.tree,
        &Plan::default(),
        options.block_size,
        options.tails,
    );
    let (started, process_s) = (Instant::now(), seconds(ClockId::ProcessCPUTime));
    let go_on = &mut |_| ControlFlow::Continue(());
    let summary = write(source, &order, &file, options, go_on)?;
    let cpu_s = seconds(ClockId::ProcessCPUTime) - process_s;
    Ok((summary, started.elapsed().as_secs_f64(), cpu_s))
}

fn seconds(clock: ClockId) -> f64 {
    let time = clock_gettime(clock);
    #[expect(clippy::cast_precision_loss, reason = "processes do not run for years")]
    let seconds = time.tv_sec as f64 + time.tv_nsec as f64 / 1e9;
    seconds
}

#[expect(clippy::print_stderr, reason = "a program of its own")]
fn say_time(started: Instant, cpu_s: f64) {
    let wall_s = started.elapsed().as_secs_f64();
    eprintln!("sampled in {wall_s:.2} s, {cpu_s:.2} s of processor time");
}

#[expect(clippy::print_stdout, reason = "a program of its own")]
#[expect(clippy::cast_precision_loss, reason = "three digits are shown of it")]
fn say(name: &str, estimate: &Estimate, threads: NonZeroUsize, built: Option<(Summary, f64, f64)>) {
    let predicted = estimate.image_bytes;
    let error = 100.0 * estimate.error_bytes as f64 / predicted as f64;
    let (cpu_s, build_s) = (
        estimate.compress_s + estimate.read_s,
        estimate.build_s(threads),
    );
    let decompress_s = estimate.decompress_s;
    let memory_mib = estimate.memory_bytes >> 20;
    print!(
        "{name}\t{predicted}\t{error:.2}%\t{cpu_s:.2}\t{build_s:.2}\t{decompress_s:.2}\t{memory_mib}"
    );
    if let Some((summary, wall_s, cpu_s)) = built {
        let image_bytes = summary.image_bytes;
        let difference = 100.0 * (predicted as f64 / image_bytes as f64 - 1.0);
        let tables = 100.0 * (estimate.table_bytes as f64 / summary.table_bytes as f64 - 1.0);
        print!("\t{image_bytes}\t{difference:+.3}%\t{tables:+.2}%\t{cpu_s:.2}\t{wall_s:.2}");
    }
    println!();
}
