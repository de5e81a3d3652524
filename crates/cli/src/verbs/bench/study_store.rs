//! Where the samples of a study go while it is made: into the history, and into a file at its end.

use anyhow::Context as _;
use coldpress_bench::{Report, report_html};
use coldpress_history::{Error, History, Run, Study, StudyId, write_json};
use coldpress_report::text::{plural, quoted};
use coldpress_session::state;
use coldpress_session::ui::Ui;
use coldpress_writer::Output;

use crate::flags::study::StudyArgs;
use crate::steps;

pub(super) struct StudyStore {
    history: Option<(History, StudyId)>,
    samples: Option<Output>,
}

impl StudyStore {
    /// A wrong place is told here, before the first run.
    ///
    pub(super) fn begin(study: &Study, args: &StudyArgs) -> anyhow::Result<Self> {
        let samples = args.samples.as_deref().map(Output::create).transpose()?;
        let is_wanted = !args.no_store && state::path()?.is_some();
        let history = is_wanted.then(|| begin(study)).transpose()?;
        Ok(Self { history, samples })
    }

    /// Keeps a run that is over.
    pub(super) fn append(&mut self, run: &Run) -> Result<(), Error> {
        match &mut self.history {
            Some((history, id)) => history.append(*id, run),
            None => Ok(()),
        }
    }

    /// States how the study ended, writes the file, and says where the samples are.
    pub(super) fn finish(self, study: &Study, ui: &Ui) -> anyhow::Result<()> {
        let runs = plural(study.runs.len() as u64, "run", "runs");
        if let Some((mut history, id)) = self.history {
            history.finish(id, study.state)?;
            ui.say(&format!("{runs} kept: `coldpress history show {id}`"));
        }
        if let Some(output) = self.samples {
            let path = output.path().to_owned();
            let mut json = Vec::new();
            write_json(&[study], &mut json)
                .with_context(|| format!("cannot write {}", quoted(&path)))?;
            steps::write_small(output, &json)?;
            ui.say(&format!("samples: {}", path.display()));
        }
        Ok(())
    }
}

/// The place of the report, if one is wanted: a wrong one is told before the first run.
pub(super) fn create_report(args: &StudyArgs) -> Result<Option<Output>, coldpress_writer::Error> {
    args.report.as_deref().map(Output::create).transpose()
}

/// The page of one study.
pub(super) fn write_report(
    study: &Study,
    notes: &[(String, String)],
    output: Output,
) -> anyhow::Result<()> {
    let report = Report {
        title: study.title.clone(),
        studies: vec![study.clone()],
        notes: notes.to_vec(),
        ..Report::default()
    };
    let mut html = Vec::new();
    report_html(&report, &mut html)?;
    steps::write_small(output, &html)
}

fn begin(study: &Study) -> anyhow::Result<(History, StudyId)> {
    let mut history = state::open()?;
    let id = history.begin(study)?;
    Ok((history, id))
}
