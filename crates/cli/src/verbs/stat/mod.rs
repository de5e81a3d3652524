//! `coldpress stat`.

pub(crate) mod args;

use std::io::Write as _;

use anyhow::bail;
use coldpress_describe::Stat;
use coldpress_image::Image;
use coldpress_image::image_path::resolve;
use coldpress_report::failure::sentence;
use coldpress_report::text::{image_path, quoted_bytes};
use coldpress_session::exit::Exit;
use coldpress_session::failure;
use coldpress_session::ui::{Stdout, Ui};

use crate::image_file::open_image_at;
use crate::verbs::stat::args::StatArgs;

pub(super) fn run(args: &StatArgs, ui: &Ui) -> anyhow::Result<Exit> {
    let image = open_image_at(&args.image, &args.place)?;
    let mut printer = Printer {
        out: ui.out(),
        json: args.json,
        blocks: args.blocks,
        count: 0,
    };
    let mut wrong = false;
    for typed in &args.paths {
        let path = image_path(typed);
        if let Err(error) = printer.path(&image, &path, args.follow) {
            if failure::stdout_failure(&error).is_some() {
                return Err(error);
            }
            printer.out.flush()?;
            let error = error.context(format!("cannot look at {}", quoted_bytes(&path)));
            ui.error(&sentence(&error));
            wrong = true;
        }
    }
    printer.finish()?;
    Ok(Exit::partial_if(wrong))
}

/// Prints what is known of paths.
struct Printer {
    out: Stdout,
    json: bool,
    blocks: bool,
    /// Paths printed so far.
    count: u64,
}

impl Printer {
    fn path(&mut self, image: &Image, path: &[u8], follow: bool) -> anyhow::Result<()> {
        let Some(found) = resolve(image, path, follow)? else {
            bail!("the image has no such file");
        };
        let stat = Stat::of(image, &found, self.blocks)?;
        let is_first = self.count == 0;
        self.count += 1;
        if self.json {
            self.out.write_all(if is_first { b"[\n" } else { b",\n" })?;
            serde_json::to_writer_pretty(&mut self.out, &stat).map_err(std::io::Error::from)?;
            return Ok(());
        }
        if !is_first {
            self.out.write_all(b"\n")?;
        }
        Ok(stat.write(&mut self.out)?)
    }

    fn finish(mut self) -> anyhow::Result<()> {
        if self.json {
            let end: &[u8] = if self.count == 0 { b"[]\n" } else { b"\n]\n" };
            self.out.write_all(end)?;
        }
        self.out.flush()?;
        Ok(())
    }
}
