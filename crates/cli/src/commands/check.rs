//! `coldpress check`.

use std::io::Write as _;
use std::time::Instant;

use coldpress_bench::format_units;
use coldpress_image::{Error, Image};
use serde::Serialize;

use crate::args::CheckArgs;
use crate::exit::Exit;
use crate::image_file;
use crate::text::plural;
use crate::ui::Ui;

/// The result for `--json`.
#[derive(Debug, Serialize)]
struct Report {
    image: String,
    sound: bool,
    problems: Vec<String>,
}

pub(super) fn run(args: &CheckArgs, ui: &Ui) -> anyhow::Result<Exit> {
    let started = Instant::now();
    let bytes = image_file::open_bytes(&args.image, &args.place)?;
    let (problems, size_bytes) = match Image::new(Box::new(bytes)) {
        Ok(image) => (problems(&image, ui)?, Some(image.superblock().bytes_used)),
        // Too damaged to be opened is a finding, too; a file that never was an image is not.
        Err(Error::Corrupt(corrupt))
            if image_file::why_no_image(&corrupt, &args.place).is_none() =>
        {
            (vec![corrupt.to_string()], None)
        }
        Err(error) => return Err(image_file::not_opened(&args.image, &args.place, error)),
    };
    let sound = problems.is_empty();
    let count = problems.len() as u64;
    if args.json {
        ui.json(&Report {
            image: args.image.display().to_string(),
            sound,
            problems,
        })?;
    } else {
        let mut out = ui.out();
        for problem in &problems {
            writeln!(out, "{problem}")?;
        }
        out.flush()?;
    }
    let verdict = if sound {
        "sound".to_owned()
    } else {
        plural(count, "problem", "problems")
    };
    let seconds = format_units::seconds(started.elapsed().as_secs_f64());
    let checked = size_bytes.map_or_else(String::new, |size_bytes| {
        format!("; {} in {seconds}", format_units::bytes(size_bytes))
    });
    ui.say(&format!("{}: {verdict}{checked}", args.image.display()));
    Ok(Exit::wrong_if(!sound))
}

fn problems(image: &Image, ui: &Ui) -> anyhow::Result<Vec<String>> {
    let step = ui.step("checking", image.superblock().bytes_used);
    let problems = coldpress_image::check(image, &mut |done_bytes| {
        step.set(done_bytes);
        ui.interrupt.poll()
    })?;
    step.finish("");
    Ok(problems.iter().map(ToString::to_string).collect())
}
