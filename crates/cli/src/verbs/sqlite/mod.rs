//! `coldpress sqlite`: databases looked at, and rewritten.

pub(crate) mod args;

use std::io::Write as _;

use coldpress_files::sqlite::{Integrity, Row, Settings, Survey, rewrite};
use coldpress_host::Janitor;
use coldpress_report::text::fields;
use coldpress_session::exit::Exit;
use coldpress_session::failure::unless_stdout_closed;
use coldpress_session::ui::Ui;

use crate::verbs::sqlite::args::SqliteArgs;

pub(super) fn run(args: &SqliteArgs, ui: &Ui) -> anyhow::Result<Exit> {
    let settings = Settings::new(args.page_size, args.chunk, args.keep)?;
    if let [alone] = args.files.as_slice() {
        Survey::without_check(alone)?;
    }
    let janitor = args.fix.then(Janitor::start).transpose()?;
    let mut is_wrong = false;
    let mut rows = Vec::new();
    for path in &args.files {
        let looked = match &janitor {
            Some(janitor) => rewrite(path, &settings, janitor, ui).map(Row::rewritten),
            None => Survey::of(path, ui).map(Row::from),
        };
        match looked {
            Ok(row) => {
                is_wrong |= row.survey.integrity != Integrity::Sound;
                rows.push(row);
            }
            Err(error) if ui.interrupt.is_pending() => return Err(error),
            Err(error) => {
                ui.fail(&error);
                is_wrong = true;
            }
        }
    }
    let printed = if args.json {
        ui.json(&rows)
    } else {
        print(&rows, ui)
    };
    unless_stdout_closed(printed)?;
    Ok(Exit::partial_if(is_wrong))
}

fn print(rows: &[Row], ui: &Ui) -> anyhow::Result<()> {
    let mut out = ui.out();
    for (index, row) in rows.iter().enumerate() {
        if index > 0 {
            writeln!(out)?;
        }
        write!(out, "{}", fields(&row.survey.lines()))?;
    }
    out.flush()?;
    for row in rows {
        if let Some(sentence) = row.sentence() {
            ui.say(&sentence);
        }
    }
    Ok(())
}
