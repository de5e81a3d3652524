//! What is told of a prediction, on the terminal and as JSON.

use std::io::Write as _;

use coldpress_cost::{Causes, Prediction, Reader};
use coldpress_host::Readahead;
use coldpress_report::text::{escaped, escaped_path, fields, plural};
use coldpress_report::units::{bytes, seconds};
use coldpress_session::ui::Ui;
use serde::Serialize;

use super::{Predicted, Warm};

/// Prints sums, and the time by cause.
pub(super) fn print(predicted: &Predicted, ui: &Ui) -> anyhow::Result<()> {
    let mut out = ui.out();
    write!(out, "{}", fields(&sums(predicted)))?;
    writeln!(out)?;
    let causes = causes(&predicted.prediction.by_cause);
    let all_s: f64 = causes.iter().map(|(_, time_s)| time_s).sum();
    let share = |time_s: f64| {
        if all_s > 0.0 {
            100.0 * time_s / all_s
        } else {
            0.0
        }
    };
    for (cause, time_s) in causes {
        let takes = seconds(time_s);
        writeln!(out, "{cause:<24}{takes:>10}  {:>3.0} %", share(time_s))?;
    }
    if predicted.by_readahead.len() > 1 {
        writeln!(out)?;
        for (readahead, prediction) in predicted.by_readahead {
            let name = format!("readahead {readahead}");
            let takes = seconds(prediction.time_s);
            let reads = plural(prediction.reads, "read", "reads");
            let read = bytes(prediction.read_bytes);
            writeln!(out, "{name:<24}{takes:>10}  {reads}, {read}")?;
        }
    }
    out.flush()?;
    Ok(())
}

fn sums(predicted: &Predicted) -> Vec<(&'static str, String)> {
    let prediction = predicted.prediction;
    let Prediction {
        reads,
        read_bytes,
        metadata_reads,
        metadata_bytes,
        hash_reads,
        hash_bytes,
        ..
    } = *prediction;
    let counted =
        |count, of_bytes| format!("{}, {}", plural(count, "read", "reads"), bytes(of_bytes));
    let of_hashes = (hash_reads > 0).then(|| ("of hash tree", counted(hash_reads, hash_bytes)));
    let device = escaped(predicted.target.name.as_bytes());
    let measured = if predicted.target.is_calibrated {
        "as calibrated"
    } else {
        "not calibrated"
    };
    let sums = vec![
        (
            "start",
            format!(
                "{}, device {device} ({measured}), by {}",
                seconds(prediction.time_s),
                reader(&predicted.reader)
            ),
        ),
        ("read", counted(reads, read_bytes)),
        ("of metadata", counted(metadata_reads, metadata_bytes)),
    ];
    let rest = vec![
        ("decompressed", bytes(prediction.decompressed_bytes)),
        (
            "in memory",
            format!("{} of pages of files", bytes(prediction.page_cache_bytes)),
        ),
        (
            "limit",
            prediction.limit(&predicted.target.medium).name().to_owned(),
        ),
        ("itself", warm(predicted)),
    ];
    sums.into_iter().chain(of_hashes).chain(rest).collect()
}

fn warm(predicted: &Predicted) -> String {
    let takes = seconds(predicted.sequence.compute_s);
    match predicted.warm {
        Warm::Said => format!("the program takes {takes} when it reads nothing, as given"),
        Warm::Recording => {
            format!(
                "the program takes about {takes} when it reads nothing, according to its recording"
            )
        }
        Warm::Unknown => "the program's own time is not known; `--warm` states it".to_owned(),
    }
}

fn reader(reader: &Reader) -> &'static str {
    match reader {
        Reader::Kernel { .. } => "the kernel's SquashFS",
        Reader::Fuse { .. } => "a mount in user space",
        Reader::Erofs => "a file system like EROFS",
        Reader::Unpacked => "a file system that compresses nothing",
    }
}

/// What the time of all threads is spent on.
fn causes(causes: &Causes) -> Vec<(&'static str, f64)> {
    vec![
        ("waiting for data", causes.data_wait_s),
        ("waiting for metadata", causes.metadata_wait_s),
        ("fragment blocks again", causes.fragments_again_s),
        ("metadata again", causes.metadata_again_s),
        ("decompressing", causes.decompress_s),
        ("requests to user space", causes.request_s),
        ("the program itself", causes.compute_s),
    ]
}

/// All of it.
#[derive(Serialize)]
pub(super) struct Document<'a> {
    image: String,
    trace: Option<String>,
    profile: Option<String>,
    device: &'a str,
    is_calibrated: bool,
    reader: &'static str,
    warm_s: Option<f64>,
    limit: &'static str,
    #[serde(flatten)]
    prediction: &'a Prediction,
    /// For each readahead that was asked for.
    by_readahead: Vec<ByReadahead>,
    missing: Vec<String>,
}

/// What a readahead makes of the start.
#[derive(Serialize)]
struct ByReadahead {
    readahead: String,
    time_s: f64,
    reads: u64,
    read_bytes: u64,
}

impl ByReadahead {
    fn new((readahead, prediction): &(Readahead, Prediction)) -> Self {
        Self {
            readahead: readahead.to_string(),
            time_s: prediction.time_s,
            reads: prediction.reads,
            read_bytes: prediction.read_bytes,
        }
    }
}

impl<'a> Document<'a> {
    pub(super) fn new(predicted: &'a Predicted) -> Self {
        let Predicted {
            args,
            target,
            reader: by,
            sequence,
            warm,
            prediction,
            by_readahead,
        } = predicted;
        Self {
            image: escaped_path(&args.image),
            trace: args.trace.as_deref().map(escaped_path),
            profile: args.profile.as_deref().map(escaped_path),
            device: &target.name,
            is_calibrated: target.is_calibrated,
            reader: reader(by),
            warm_s: (*warm != Warm::Unknown).then_some(sequence.compute_s),
            limit: prediction.limit(&target.medium).name(),
            prediction,
            by_readahead: by_readahead.iter().map(ByReadahead::new).collect(),
            missing: prediction
                .missing
                .iter()
                .map(|path| escaped(path))
                .collect(),
        }
    }
}
