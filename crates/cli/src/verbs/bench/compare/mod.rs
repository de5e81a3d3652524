//! `coldpress bench compare`.

pub(crate) mod args;

use std::collections::BTreeSet;
use std::fs;
use std::io::Write as _;
use std::path::Path;

use anyhow::{Context as _, anyhow, bail};
use coldpress_bench::{Comparison, Condition, Difference, differences, unmatched};
use coldpress_history::{Study, StudyId, read_studies};
use coldpress_report::failure::hint;
use coldpress_report::text::{escaped, quoted};
use coldpress_session::exit::Exit;
use coldpress_session::ui::Ui;
use coldpress_session::{failure, state};
use coldpress_writer::Output;

use crate::steps;
use crate::verbs::bench::compare::args::CompareArgs;

pub(super) fn run(args: &CompareArgs, ui: &Ui) -> anyhow::Result<Exit> {
    let (base, new) = (open(&args.base)?, open(&args.new)?);
    let differences = differences(&base, &new);
    if differences.is_empty() {
        let error = anyhow!("the two studies have no figure of a contestant in common");
        return Err(hint(error, contestants(&base, &new)));
    }
    let comparison = Comparison::new([&base, &new], &differences, &args.fail_if)
        .map_err(|condition| about_nothing(condition, &differences))?;
    let create = |path: &Option<_>| path.as_deref().map(Output::create).transpose();
    let (junit, markdown) = (create(&args.junit)?, create(&args.markdown)?);
    for doubt in comparison.doubts(&unmatched(&base, &new)) {
        ui.warn(&doubt);
    }
    if let Some(output) = junit {
        steps::write_small(output, &comparison.junit()?)?;
    }
    if let Some(output) = markdown {
        steps::write_small(output, comparison.markdown().as_bytes())?;
    }
    // The judgement stands, whether somebody reads the table or not.
    failure::unless_stdout_closed(print(&comparison, args.json, ui))?;
    let failed: Vec<_> = comparison
        .judgements
        .iter()
        .filter(|it| it.holds == Some(true))
        .collect();
    for judgement in &failed {
        ui.error(&judgement.sentence());
    }
    Ok(Exit::partial_if(!failed.is_empty()))
}

fn about_nothing(condition: &Condition, differences: &[Difference]) -> anyhow::Error {
    let figures = differences.iter().map(|it| escaped(it.figure.as_bytes()));
    let figures: BTreeSet<String> = figures.collect();
    let figures: Vec<String> = figures.into_iter().collect();
    let error = anyhow!("the condition `{condition}` names no figure that both studies have");
    hint(error, format!("they have {}", figures.join(", ")))
}

fn print(comparison: &Comparison<'_>, json: bool, ui: &Ui) -> anyhow::Result<()> {
    if json {
        return ui.json(comparison);
    }
    let mut out = ui.out();
    writeln!(out, "{}", comparison.table())?;
    out.flush()?;
    Ok(())
}

/// The study of this number, or the only one in this file.
fn open(named: &Path) -> anyhow::Result<Study> {
    if let Some(id) = named.to_str().and_then(|text| text.parse::<StudyId>().ok()) {
        let found = state::open()?.study(id)?;
        return found.ok_or_else(|| {
            let error = anyhow!("there is no study {id} in the history");
            hint(
                error,
                "`coldpress history` lists the studies; `./NUMBER` is a file of that name",
            )
        });
    }
    let bytes = fs::read(named).with_context(|| format!("cannot read {}", quoted(named)))?;
    let mut studies =
        read_studies(&bytes).with_context(|| format!("cannot use {}", quoted(named)))?;
    match (studies.pop(), studies.len()) {
        (Some(study), 0) => Ok(study),
        (None, _) => bail!("there is no study in {}", quoted(named)),
        (_, others) => {
            let error = anyhow!(
                "there are {} studies in {}, must be one",
                others + 1,
                quoted(named)
            );
            Err(hint(
                error,
                "`coldpress history export ID --format json` writes one",
            ))
        }
    }
}

/// Both lists of contestants, for whom nothing is to be compared.
fn contestants(base: &Study, new: &Study) -> String {
    let names = |study: &Study| -> String {
        let names: Vec<_> = study
            .contestants
            .iter()
            .map(|it| escaped(it.name.as_bytes()))
            .collect();
        names.join(", ")
    };
    format!(
        "the contestants are {} in the one, {} in the other",
        names(base),
        names(new)
    )
}
