//! `coldpress extract`.

use std::time::Instant;

use anyhow::anyhow;
use coldpress_bench::format_units;
use coldpress_image::{Error, ExtractOptions, Extracted};
use serde::Serialize;

use crate::args::ExtractArgs;
use crate::exit::Exit;
use crate::failure::hint;
use crate::text::{image_path, plural, quoted, quoted_bytes};
use crate::ui::Ui;
use crate::{failure, resolve, steps};

/// What was extracted, for `--json`.
#[derive(Debug, Serialize)]
struct Report {
    directory: String,
    files: u64,
    directories: u64,
    symlinks: u64,
    devices: u64,
    fifos: u64,
    sockets: u64,
    hard_links: u64,
    bytes: u64,
    not_restored: Vec<String>,
    left_out: Vec<String>,
    time_s: f64,
}

pub(super) fn run(args: &ExtractArgs, ui: &Ui) -> anyhow::Result<Exit> {
    let started = Instant::now();
    let image = steps::open_image(&args.image)?;
    let _hold = ui.interrupt.hold();
    let options = ExtractOptions {
        paths: args.paths.iter().map(|path| image_path(path)).collect(),
        xattrs: !args.no_xattrs,
        overwrite: args.force,
        threads: resolve::threads(args.threads),
        memory_bytes: resolve::memory_bytes(args.memory),
        ..ExtractOptions::default()
    };
    // What the image decompresses to is not known before; a spinner turns.
    let step = ui.step("extracting", 0);
    let mut extracted = coldpress_image::extract(&image, &args.directory, &options, &mut |_| {
        ui.interrupt.poll()
    })
    .map_err(explained)?;
    step.finish("");
    let not_restored: Vec<String> = extracted
        .not_restored
        .iter()
        .map(|not_restored| failure::without_os_number(&not_restored.to_string()))
        .collect();
    let left_out: Vec<String> = extracted
        .left_out
        .drain(..)
        .map(|error| failure::sentence(&anyhow!(error)))
        .collect();
    for sentence in not_restored.iter().chain(&left_out) {
        ui.error(sentence);
    }
    if args.json {
        ui.json(&report(args, &extracted, not_restored, left_out, started))?;
    } else {
        ui.say(&summary_line(args, &extracted, started));
    }
    Ok(Exit::wrong_if(!extracted.is_whole()))
}

/// Adds what to do.
fn explained(error: Error) -> anyhow::Error {
    match error {
        Error::NotEmpty { path } => {
            let error = anyhow!("{} is not empty", quoted(&path));
            hint(
                error,
                "name another directory, or add to this one with `--force`",
            )
        }
        Error::NotFound { path } => {
            let error = anyhow!("the image has no {}", quoted_bytes(&path));
            hint(
                error,
                "`coldpress ls -R IMAGE` lists what it has; links are not followed here",
            )
        }
        error => anyhow!(error),
    }
}

fn report(
    args: &ExtractArgs,
    extracted: &Extracted,
    not_restored: Vec<String>,
    left_out: Vec<String>,
    started: Instant,
) -> Report {
    Report {
        directory: args.directory.display().to_string(),
        files: extracted.files,
        directories: extracted.directories,
        symlinks: extracted.symlinks,
        devices: extracted.devices,
        fifos: extracted.fifos,
        sockets: extracted.sockets,
        hard_links: extracted.hard_links,
        bytes: extracted.bytes,
        not_restored,
        left_out,
        time_s: started.elapsed().as_secs_f64(),
    }
}

/// `out: 20,517 files, 4 directories, 911 MiB; 2.51 s; 2 things not restored`
fn summary_line(args: &ExtractArgs, extracted: &Extracted, started: Instant) -> String {
    let files = plural(extracted.files, "file", "files");
    let directories = plural(extracted.directories, "directory", "directories");
    let bytes = format_units::bytes(extracted.bytes);
    let seconds = format_units::seconds(started.elapsed().as_secs_f64());
    let not_restored = match extracted.not_restored.len() as u64 {
        0 => String::new(),
        count => format!("; {} not restored", plural(count, "thing", "things")),
    };
    let directory = args.directory.display();
    format!("{directory}: {files}, {directories}, {bytes}; {seconds}{not_restored}")
}
