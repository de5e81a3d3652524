//! `coldpress history export`.

use std::io::Write;

use coldpress_history::{Study, StudyId, write_csv, write_json, write_parquet};
use coldpress_report::text::{plural, quoted};
use coldpress_session::exit::Exit;
use coldpress_session::state;
use coldpress_session::ui::Ui;
use coldpress_writer::Output;

use crate::steps;
use crate::verbs::history::args::{ExportArgs, ExportFormat};

pub(super) fn run(args: &ExportArgs, ui: &Ui) -> anyhow::Result<Exit> {
    let history = state::open()?;
    let ids = if args.ids.is_empty() {
        history.list()?.iter().map(|listed| listed.id).collect()
    } else {
        args.ids.clone()
    };
    let studies: Vec<(StudyId, Study)> = ids
        .into_iter()
        .map(|id| Ok((id, super::find(&history, id)?)))
        .collect::<anyhow::Result<_>>()?;
    let output = args.output.as_deref().map(Output::create).transpose()?;
    let mut bytes = Vec::new();
    write(&studies, args.format, &mut bytes)?;
    if let Some(output) = output {
        let path = quoted(output.path());
        steps::write_small(output, &bytes)?;
        ui.say(&format!(
            "{path}: {}",
            plural(studies.len() as u64, "study", "studies")
        ));
    } else {
        let mut out = ui.out();
        out.write_all(&bytes)?;
        out.flush()?;
    }
    Ok(Exit::Done)
}

fn write(
    studies: &[(StudyId, Study)],
    format: ExportFormat,
    out: &mut (impl Write + Send),
) -> Result<(), coldpress_history::Error> {
    match format {
        ExportFormat::Csv => write_csv(studies, out),
        ExportFormat::Json => {
            let studies: Vec<&Study> = studies.iter().map(|(_, study)| study).collect();
            write_json(&studies, out)
        }
        ExportFormat::Parquet => write_parquet(studies, out),
    }
}
