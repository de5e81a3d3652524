//! `coldpress jar`: archives looked at, and ordered.

pub(crate) mod args;

use std::io::Write as _;
use std::path::{Path, PathBuf};

use coldpress_archive::Storing;
use coldpress_files::archives::{Asked, Checked, Job, Opened, Uses, check_all, log, rows, text};
use coldpress_session::exit::Exit;
use coldpress_session::failure::unless_stdout_closed;
use coldpress_session::ui::Ui;

use crate::resolve;
use crate::verbs::jar::args::{JarArgs, JarLsArgs, JarOrderArgs, JarVerb, UsesArgs};

pub(super) fn run(args: &JarArgs, ui: &Ui) -> anyhow::Result<Exit> {
    match &args.verb {
        JarVerb::Order(args) => order(args, ui),
        JarVerb::Ls(args) => ls(args, ui),
        JarVerb::Log(args) => {
            let opened = Opened::read(&args.input)?;
            let hot = uses(args)?.of(&opened, args.known_as.as_deref(), ui)?;
            print(&log(&opened, &hot), ui)
        }
        JarVerb::Check(args) => {
            let (found, is_wrong) = check_all(&args.files, ui)?;
            if args.json {
                unless_stdout_closed(ui.json(&found))?;
            } else {
                print(
                    found
                        .iter()
                        .map(Checked::text)
                        .collect::<String>()
                        .as_bytes(),
                    ui,
                )?;
            }
            Ok(Exit::partial_if(is_wrong))
        }
    }
}

fn order(args: &JarOrderArgs, ui: &Ui) -> anyhow::Result<Exit> {
    let input = &args.uses.input;
    let uses = uses(&args.uses)?;
    let outputs = [&args.output, &args.trace_out];
    let outputs = outputs.into_iter().flatten().map(PathBuf::as_path);
    let outputs: Vec<&Path> = outputs.collect();
    resolve::check_outputs(&outputs, std::slice::from_ref(input))?;
    let job = Job {
        input,
        output: args.output.as_deref(),
        known_as: args.uses.known_as.as_deref(),
        asked: Asked {
            layout: args.layout,
            storing: args.store.unwrap_or(Storing::Nothing),
            align_bytes: args.align.unwrap_or(0),
            takes_signed: args.checks.signed,
        },
        verifies: args.checks.verify,
        trace_out: args.trace_out.as_deref(),
    };
    let ordered = job.run(&uses, ui)?;
    if args.json {
        unless_stdout_closed(ui.json(&ordered))?;
    }
    ui.say(&ordered.sentence());
    ordered.prediction().iter().for_each(|text| ui.say(text));
    Ok(Exit::Done)
}

fn uses(args: &UsesArgs) -> anyhow::Result<Uses> {
    Uses::read(args.log.as_deref(), args.trace.as_deref())
}

fn ls(args: &JarLsArgs, ui: &Ui) -> anyhow::Result<Exit> {
    let opened = Opened::read(&args.uses.input)?;
    let uses = uses(&args.uses)?;
    let hot = uses.of_any(&opened, args.uses.known_as.as_deref(), ui)?;
    let rows = rows(&opened, &hot);
    if args.json {
        unless_stdout_closed(ui.json(&rows))?;
        return Ok(Exit::Done);
    }
    print(text(&rows).as_bytes(), ui)
}

fn print(bytes: &[u8], ui: &Ui) -> anyhow::Result<Exit> {
    let mut out = ui.out();
    let written = out.write_all(bytes).and_then(|()| out.flush());
    unless_stdout_closed(written.map_err(Into::into))?;
    Ok(Exit::Done)
}
