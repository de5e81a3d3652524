//! `coldpress cat`.

use std::io::Write;

use coldpress_format::Body;
use coldpress_image::Image;

use crate::args::CatArgs;
use crate::exit::Exit;
use crate::image_path::resolve;
use crate::text::{image_path, quoted_bytes};
use crate::ui::Ui;
use crate::{contents, failure, steps};

pub(super) fn run(args: &CatArgs, ui: &Ui) -> anyhow::Result<Exit> {
    let image = steps::open_image(&args.image)?;
    let mut out = ui.out();
    let mut wrong = false;
    for typed in &args.paths {
        let path = image_path(typed);
        if let Err(error) = print(&image, &path, &mut out) {
            if failure::stdout_failure(&error).is_some() {
                return Err(error);
            }
            // What was read of it before the damage stands before the message.
            out.flush()?;
            ui.error(&failure::sentence(
                &error.context(format!("cannot print {}", quoted_bytes(&path))),
            ));
            wrong = true;
        }
    }
    out.flush()?;
    Ok(Exit::wrong_if(wrong))
}

fn print(image: &Image, path: &[u8], out: &mut impl Write) -> anyhow::Result<()> {
    let Some(found) = resolve(image, path, true)? else {
        anyhow::bail!("the image has no such file");
    };
    match &found.inode.body {
        Body::File(file) => contents::write(image, file, out),
        Body::Directory(_) => anyhow::bail!("it is a directory"),
        _ => anyhow::bail!("it is not a regular file"),
    }
}
