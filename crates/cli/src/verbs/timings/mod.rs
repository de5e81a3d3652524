//! `coldpress timings`.

pub(crate) mod args;

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::path::Path;

use anyhow::{Context as _, anyhow};
use coldpress_history::{
    Change, History, ListedChange, Origin, TaskList, change_list, parse_task_list,
};
use coldpress_report::failure::{hint, sentence};
use coldpress_report::text::{escaped, quoted};
use coldpress_session::clock::now_unix_ms;
use coldpress_session::exit::Exit;
use coldpress_session::state;
use coldpress_session::ui::Ui;

use crate::verbs::timings::args::TimingsArgs;

/// More is read of no file: one byte above what a listing may have.
const READ_MAX_BYTES: u64 = (8 << 20) + 1;

pub(super) fn run(args: &TimingsArgs, ui: &Ui) -> anyhow::Result<Exit> {
    let rows = match &args.import {
        Some(path) => vec![import(path, ui)?],
        None => chosen(args)?,
    };
    if args.json {
        ui.json(&rows)?;
        return Ok(Exit::Done);
    }
    let mut out = ui.out();
    if args.changes {
        out.write_all(change_list(&rows).as_bytes())?;
        out.flush()?;
        return Ok(Exit::Done);
    }
    for row in &rows {
        ui.say(&row.headline());
    }
    let listing = TaskList {
        labels: args.verbose,
        brief: args.all,
    };
    let changes: Vec<Change> = rows.into_iter().map(|row| row.change).collect();
    out.write_all(listing.text(&changes).as_bytes())?;
    out.flush()?;
    Ok(Exit::Done)
}

/// The changes that are asked for.
fn chosen(args: &TimingsArgs) -> anyhow::Result<Vec<ListedChange>> {
    let history = state::open()?;
    let verb = args.startup.as_deref().or(args.last.as_deref());
    let mut ids = match args.id {
        Some(id) => vec![id],
        None => history.change_ids(verb)?,
    };
    if ids.is_empty() {
        return Err(nothing(verb));
    }
    let is_everything = args.changes || args.all;
    if !is_everything {
        ids.truncate(1);
    }
    let mut rows = Vec::with_capacity(ids.len());
    for id in ids {
        match history.change(id)? {
            Some(change) => rows.push(ListedChange {
                id: Some(id),
                change: if args.startup.is_some() {
                    change.as_activity()
                } else {
                    change
                },
            }),
            None if args.id.is_some() => {
                let error = anyhow!("there is no change {id}");
                return Err(hint(error, "`coldpress timings --changes` lists them"));
            }
            // Others may remove what is too old meanwhile.
            None => {}
        }
    }
    Ok(rows)
}

fn nothing(verb: Option<&str>) -> anyhow::Error {
    let error = match verb {
        Some(verb) => anyhow!("no change of `{}` is kept", escaped(verb.as_bytes())),
        None => anyhow!("no change is kept"),
    };
    hint(
        error,
        "builds, extractions, presses, recordings and checks are kept from now on",
    )
}

/// Reads a listing and keeps it.
fn import(path: &Path, ui: &Ui) -> anyhow::Result<ListedChange> {
    let bytes = read(path).with_context(|| format!("cannot read {}", quoted(path)))?;
    let origin = Origin::Published {
        citation: format!("snap debug timings, from {}", quoted(path)),
    };
    let change = parse_task_list(&bytes, origin, now_unix_ms())
        .with_context(|| format!("cannot import {}", quoted(path)))?;
    let keep = |mut history: History| anyhow::Ok(history.begin_change(&change)?);
    let id = match state::path()? {
        None => None,
        Some(_) => match state::open().and_then(keep) {
            Ok(id) => Some(id),
            Err(error) => {
                ui.warn(&format!("it is not kept: {}", sentence(&error)));
                None
            }
        },
    };
    Ok(ListedChange { id, change })
}

fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if path == Path::new("-") {
        io::stdin().take(READ_MAX_BYTES).read_to_end(&mut bytes)?;
    } else {
        File::open(path)?
            .take(READ_MAX_BYTES)
            .read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}
