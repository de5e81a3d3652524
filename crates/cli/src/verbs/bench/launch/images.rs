//! The images that are made, each once.

use std::env;
use std::fs;

use anyhow::Context as _;
use coldpress_bench::build_study::{BuildStudy, Matrix, Watch, read_source, run_builds, version};
use coldpress_host::{Janitor, Scratch};
use coldpress_report::text::quoted;
use coldpress_session::ui::Ui;

use super::contestants::{Image, file_name};
use crate::verbs::bench::launch::args::BenchLaunchArgs;

/// What was made.
pub(super) struct Made {
    pub(super) images: Vec<Image>,
    pub(super) versions: Vec<(&'static str, String)>,
    /// What was not, and why.
    pub(super) missing: Vec<String>,
}

/// Makes every image of a matrix by the machinery of `bench build`: each tool is a program of its
/// own, timed alike.
///
/// # Errors
///
/// If the source cannot be read, the disk is full, or the user interrupts.
pub(super) fn make(
    args: &BenchLaunchArgs,
    matrix: &Matrix,
    scratch: &Scratch,
    janitor: &Janitor,
    ui: &Ui,
) -> anyhow::Result<Made> {
    let mut made = Made {
        images: Vec::new(),
        versions: Vec::new(),
        missing: Vec::new(),
    };
    if matrix.builds.is_empty() {
        return Ok(made);
    }
    let source = args.source.canonicalize();
    let source = source.with_context(|| format!("cannot read {}", quoted(&args.source)))?;
    let coldpress = env::current_exe().context("cannot find this program")?;
    let step = ui.step("reading", 0);
    let survey = read_source(&source, &mut |_| ui.interrupt.poll())?;
    step.finish("");
    let [work, keep] = ["work", "images"].map(|name| scratch.path().join(name));
    for directory in [&work, &keep] {
        fs::create_dir(directory)
            .with_context(|| format!("cannot create {}", quoted(directory)))?;
    }
    let job = BuildStudy {
        matrix: matrix.clone(),
        source,
        survey,
        work,
        keep: Some(keep.clone()),
        coldpress,
        turns: 1,
        seed: 0,
        timeout_s: 0,
    };
    let bar = ui.count("making images", matrix.builds.len() as u64);
    let mut progress = |progress: coldpress_bench::build_study::Progress| {
        bar.set(progress.done);
        ui.interrupt.poll()
    };
    let mut runs = Vec::new();
    let watch = Watch {
        progress: &mut progress,
        ended: &mut |_| Ok(()),
    };
    let told = run_builds(&job, janitor, &mut runs, watch)?;
    bar.finish("");
    for warning in &told {
        ui.warn(warning);
    }
    runs.sort_by_key(|run| run.contestant);
    for (run, contestant) in runs.iter().filter_map(|run| {
        let contestants = matrix.contestants();
        Some((run, contestants.get(run.contestant)?.clone()))
    }) {
        let name = matrix.images[matrix.builds[run.contestant].image].to_string();
        if let Some(why) = &run.excluded {
            made.missing.push(format!("{name}: {why}"));
            continue;
        }
        let mut figures = contestant.figures;
        // What else was measured is of the making, and no figure of the image.
        figures.extend(
            run.figures
                .get("build_s")
                .map(|time| ("build_s".to_owned(), *time)),
        );
        let file = file_name(matrix, run.contestant).unwrap_or_default();
        made.images.push(Image {
            name,
            path: keep.join(file),
            facts: contestant.facts,
            figures,
        });
    }
    made.versions = versions(&job, ui)?;
    Ok(made)
}

fn versions(job: &BuildStudy, ui: &Ui) -> anyhow::Result<Vec<(&'static str, String)>> {
    let mut versions: Vec<(&'static str, String)> = Vec::new();
    for image in &job.matrix.images {
        let tool = image.maker.name();
        if tool == "coldpress" || versions.iter().any(|(known, _)| *known == tool) {
            continue;
        }
        let mut stop = || ui.interrupt.is_pending();
        if let Some(version) = version(tool, &job.coldpress, &mut stop)? {
            versions.push((tool, version));
        }
    }
    Ok(versions)
}
