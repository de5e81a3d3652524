//! `coldpress bench build`: making and unpacking of images, by tool and setting.

pub(crate) mod args;
mod resolve;

use std::io::Write as _;
use std::num::NonZeroU64;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow};
use coldpress_bench::build_study::{
    BUILD_LEGEND, BuildStudy, Matrix, Progress, Survey, Watch, build_rows, build_table,
    read_source, run_builds, unpack_rows, unpack_table,
};
use coldpress_bench::{Error, machine_facts};
use coldpress_history::{Kind, Measured, Origin, State, Study};
use coldpress_host::{Janitor, Scratch};
use coldpress_report::failure::hint;
use coldpress_report::text::{escaped, quoted, wrapped};
use coldpress_session::clock::now_unix_ms;
use coldpress_session::exit::Exit;
use coldpress_session::failure::unless_stdout_closed;
use coldpress_session::ui::Ui;
use serde_json::json;

use super::study_store::{StudyStore, create_report, write_report};
use crate::resolve::check_source;
use crate::study::seed;
use crate::verbs::bench::build::args::BenchBuildArgs;
use resolve::{Tools, check_places, lists};

pub(super) fn run(args: &BenchBuildArgs, ui: &Ui) -> anyhow::Result<Exit> {
    check_source(&args.source, false)?;
    let source = absolute(&args.source)?;
    check_places(args)?;
    let keep = args.keep.as_deref().map(absolute).transpose()?;
    let mut lists = lists(args)?;
    let _hold = ui.interrupt.hold();
    let janitor = Janitor::start()?;
    let tools = Tools::look_up(&mut lists, args, ui)?;
    let matrix = matrix(&lists.matrix(), ui)?;
    let report = create_report(&args.study)?;
    let scratch = Scratch::create(&args.work_dir, &janitor)?;
    let survey = read(&source, ui)?;
    let job = BuildStudy {
        matrix,
        source,
        survey,
        work: scratch.path().to_owned(),
        keep,
        coldpress: tools.coldpress.clone(),
        turns: args.runs.get(),
        seed: args.study.seed.unwrap_or_else(seed),
        timeout_s: args.timeout.map_or(0, NonZeroU64::get),
    };
    let mut study = study(&job, &tools, args)?;
    let mut kept = StudyStore::begin(&study, &args.study)?;
    let ended = measure(&job, &janitor, &mut study, &mut kept, ui);
    study.state = match &ended {
        Ok(()) => State::Done,
        Err(Error::Stopped) => State::Interrupted,
        Err(_) => State::Failed,
    };
    kept.finish(&study, ui)?;
    ended.map_err(explain)?;
    if let Some(output) = report {
        write_report(&study, &[], output)?;
    }
    unless_stdout_closed(tell(&study, &job.matrix, args, ui))?;
    let failed = study.runs.iter().any(|run| run.excluded.is_some());
    Ok(Exit::partial_if(failed || tools.misses_one_asked_for))
}

fn explain(error: Error) -> anyhow::Error {
    match error {
        Error::DiskFull { .. } => hint(error, "set `--work-dir` to a directory on a larger disk"),
        error => error.into(),
    }
}

/// Who takes part, and a word about who does not.
fn matrix(matrix: &Matrix, ui: &Ui) -> anyhow::Result<Matrix> {
    for why in &matrix.left_out {
        ui.say(&format!("left out: {why}"));
    }
    if matrix.builds.is_empty() {
        let error = anyhow!("none of the tools makes any of these images");
        return Err(hint(
            error,
            "`--levels default` is a level of every compressor",
        ));
    }
    Ok(matrix.clone())
}

/// Brings the source into memory.
fn read(source: &Path, ui: &Ui) -> anyhow::Result<Survey> {
    let step = ui.step("reading", 0);
    let survey = read_source(source, &mut |_| ui.interrupt.poll())?;
    step.finish("");
    Ok(survey)
}

/// The study before its first run.
fn study(job: &BuildStudy, tools: &Tools, args: &BenchBuildArgs) -> anyhow::Result<Study> {
    let mut facts = machine_facts(tools.others());
    let work_dir = absolute(&args.work_dir)?;
    let source = escaped(args.source.as_os_str().as_bytes());
    facts.extend(
        [
            ("source", source.clone()),
            ("content_bytes", job.survey.content_bytes.to_string()),
            ("entries", job.survey.names.to_string()),
            ("work_dir", escaped(work_dir.as_os_str().as_bytes())),
            ("turns", job.turns.to_string()),
            ("seed", job.seed.to_string()),
            ("cache", "warm: the source was read before".to_owned()),
            ("peak_memory", "largest resident set of the tool".to_owned()),
        ]
        .map(|(name, value)| (name.to_owned(), value)),
    );
    if let Some(limit_s) = args.timeout {
        facts.insert("time_limit".to_owned(), format!("{limit_s} s"));
    }
    Ok(Study {
        kind: Kind::Build,
        title: format!("bench build {source}"),
        began_unix_ms: now_unix_ms(),
        origin: Origin::Measured,
        state: State::Running,
        facts,
        contestants: job.matrix.contestants(),
        runs: Vec::new(),
    })
}

/// Makes all runs, with a progress bar, and says which of them do not count.
fn measure(
    job: &BuildStudy,
    janitor: &Janitor,
    study: &mut Study,
    kept: &mut StudyStore,
    ui: &Ui,
) -> Result<(), Error> {
    let names: Vec<String> = study
        .contestants
        .iter()
        .map(|one| one.name.clone())
        .collect();
    let total = u64::from(job.turns) * job.matrix.contestant_count() as u64;
    let bar = ui.count("measuring", total);
    let mut shown = None;
    let mut progress = |progress: Progress| {
        if shown != Some(progress) {
            let (turn, turns) = (progress.turn + 1, progress.turns);
            bar.relabel(format!(
                "turn {turn} of {turns}: {}",
                names[progress.contestant]
            ));
            bar.set(progress.done);
            shown = Some(progress);
        }
        ui.interrupt.poll()
    };
    let watch = Watch {
        progress: &mut progress,
        ended: &mut |run| {
            if let Some(why) = &run.excluded {
                ui.error(&format!(
                    "{}, turn {}: {why}",
                    names[run.contestant],
                    run.turn + 1
                ));
            }
            kept.append(run)
        },
    };
    let told = run_builds(job, janitor, &mut study.runs, watch)?;
    bar.finish("");
    for warning in told {
        ui.warn(&warning);
    }
    Ok(())
}

/// The results on standard output.
fn tell(study: &Study, matrix: &Matrix, args: &BenchBuildArgs, ui: &Ui) -> anyhow::Result<()> {
    let (builds, unpacks) = (build_rows(study), unpack_rows(study));
    if args.study.json {
        let left_out = &matrix.left_out;
        let summary = json!({ "builds": builds, "unpacks": unpacks, "left_out": left_out });
        return ui.json(&Measured { study, summary });
    }
    let mut out = ui.out();
    writeln!(out, "{}", build_table(&builds))?;
    if !unpacks.is_empty() {
        writeln!(out, "\n{}", unpack_table(&unpacks, matrix))?;
    }
    writeln!(out, "\n{}", wrapped(BUILD_LEGEND, out.width()))?;
    out.flush()?;
    Ok(())
}

fn absolute(path: &Path) -> anyhow::Result<PathBuf> {
    path.canonicalize()
        .with_context(|| format!("cannot find {}", quoted(path)))
}
