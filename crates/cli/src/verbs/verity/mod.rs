//! `coldpress verity`.

pub(crate) mod args;

use std::fs::File;
use std::io::{self, Read as _};

use anyhow::{Context as _, anyhow};
use coldpress_image::open_file;
use coldpress_report::text::quoted;
use coldpress_session::exit::Exit;
use coldpress_session::ui::Ui;
use coldpress_verity::{Tree, workers};
use coldpress_writer::Output;

use crate::flags::verity::TreeForm;
use crate::image_file;
use crate::steps;
use crate::verbs::verity::args::VerityArgs;

pub(super) fn run(args: &VerityArgs, ui: &Ui) -> anyhow::Result<Exit> {
    let path = &args.image;
    let cannot = || format!("cannot make the hash tree of {}", quoted(path));
    let _hold = ui.interrupt.hold();
    image_file::open_image(path)?;
    let file = open_file(path)
        .map_err(|error| anyhow!(error).context(format!("cannot open {}", quoted(path))))?;
    let files = steps::tree_files(args.verity, &args.hash_tree, path, &[])?;
    let report = match args.verity {
        TreeForm::Sidecar => {
            let settings = args.hash_tree.settings();
            let report = steps::hashing("hashing", ui, |advance| {
                files.write((&file, path), &settings, &workers(), advance)
            });
            let report = report.with_context(cannot)?;
            files.commit()?;
            report
        }
        TreeForm::Append => {
            let output = Output::create(path)?;
            // A tree that was appended before is left out.
            let appended = Tree::of_image(&file).with_context(cannot)?;
            let end = appended.map(|(_, end)| end);
            copy(&file, end.unwrap_or(u64::MAX), output.file()).with_context(cannot)?;
            let report = steps::protect(files, &args.hash_tree, &output, ui)?;
            steps::commit(output, ui)?;
            report
        }
    };
    if args.json {
        ui.json(&report)?;
    } else {
        steps::print_tree(&report, ui)?;
    }
    Ok(Exit::Done)
}

/// Copies at most the first `len` bytes of a file, and its permissions.
fn copy(from: &File, len: u64, mut to: &File) -> io::Result<()> {
    io::copy(&mut from.take(len), &mut to)?;
    to.set_permissions(from.metadata()?.permissions())
}
