//! `coldpress cat`.

pub(crate) mod args;

use std::io::Write;
use std::ops::Range;

use coldpress_format::Body;
use coldpress_image::image_path::resolve;
use coldpress_image::{Image, ReadLimits, write_content};
use coldpress_report::failure::sentence;
use coldpress_report::text::{image_path, quoted_bytes};
use coldpress_session::exit::Exit;
use coldpress_session::failure;
use coldpress_session::ui::{Stdout, Ui};

use crate::image_file::open_image_at;
use crate::resolve as settings;
use crate::verbs::cat::args::CatArgs;

/// What is printed of a file, and what reading it may take.
struct Printing<'a> {
    image: &'a Image,
    range: Range<u64>,
    limits: ReadLimits,
    out: Stdout,
}

pub(super) fn run(args: &CatArgs, ui: &Ui) -> anyhow::Result<Exit> {
    let image = open_image_at(&args.image, &args.place)?;
    let len_bytes = args.length.unwrap_or(u64::MAX);
    let mut printing = Printing {
        image: &image,
        range: args.skip..args.skip.saturating_add(len_bytes),
        limits: settings::read_limits(&args.reading),
        out: ui.out(),
    };
    let mut wrong = false;
    for typed in &args.paths {
        let path = image_path(typed);
        if let Err(error) = printing.path(&path) {
            if failure::stdout_failure(&error).is_some() {
                return Err(error);
            }
            // What was read of it before the damage stands before the message.
            printing.out.flush()?;
            ui.error(&sentence(
                &error.context(format!("cannot print {}", quoted_bytes(&path))),
            ));
            wrong = true;
        }
    }
    printing.out.flush()?;
    Ok(Exit::partial_if(wrong))
}

impl Printing<'_> {
    fn path(&mut self, path: &[u8]) -> anyhow::Result<()> {
        let Some(found) = resolve(self.image, path, true)? else {
            anyhow::bail!("the image has no such file");
        };
        match &found.inode.body {
            Body::File(file) => write_content(
                self.image,
                file,
                self.range.clone(),
                &self.limits,
                &mut self.out,
            ),
            Body::Directory(_) => anyhow::bail!("it is a directory"),
            _ => anyhow::bail!("it is not a regular file"),
        }
    }
}
