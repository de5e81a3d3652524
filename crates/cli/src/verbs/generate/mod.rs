//! `coldpress man` and `coldpress completions`: what packages ship beside the binary.

pub(crate) mod args;

use std::fs;
use std::io::Write as _;

use anyhow::Context as _;
use clap::{Command, CommandFactory as _};
use clap_mangen::Man;
use coldpress_report::text::{escaped_path, quoted};
use coldpress_session::exit::Exit;
use coldpress_session::ui::Ui;

use crate::verbs::Cli;
use crate::verbs::generate::args::{CompletionsArgs, ManArgs};

pub(super) fn man(args: &ManArgs, ui: &Ui) -> anyhow::Result<Exit> {
    let directory = &args.directory;
    fs::create_dir_all(directory)
        .with_context(|| format!("cannot create {}", quoted(directory)))?;
    let mut top = Cli::command();
    // Flags of all verbs are on each page, and each verb knows its full name.
    top.build();
    let pages = pages("coldpress".to_owned(), &top);
    for page in &pages {
        let path = directory.join(format!("{}.1", page.get_name()));
        let mut text = Vec::new();
        Man::new(page.clone()).render(&mut text)?;
        fs::write(&path, text).with_context(|| format!("cannot write {}", quoted(&path)))?;
    }
    let (directory, count) = (escaped_path(directory), pages.len());
    ui.say(&format!("{directory}: {count} pages"));
    Ok(Exit::Done)
}

/// A command, under the name of its page, and the verbs below it, to which its page refers.
fn pages(name: String, command: &Command) -> Vec<Command> {
    let verbs = command.get_subcommands().filter(|verb| !verb.is_hide_set());
    let below = verbs.flat_map(|verb| pages(format!("{name}-{}", verb.get_name()), verb));
    let below: Vec<Command> = below.collect();
    let page = command.clone().name(name);
    std::iter::once(page).chain(below).collect()
}

pub(super) fn completions(args: &CompletionsArgs, ui: &Ui) -> anyhow::Result<Exit> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "coldpress", &mut script);
    let mut out = ui.out();
    out.write_all(&script)?;
    out.flush()?;
    Ok(Exit::Done)
}
