//! `coldpress cat`.

use std::io::Write;

use coldpress_format::{Body, File};
use coldpress_image::{FileBlock, Image};

use crate::args::CatArgs;
use crate::exit::Exit;
use crate::failure;
use crate::image_path::resolve;
use crate::steps;
use crate::text::{image_path, quoted_bytes};
use crate::ui::Ui;

/// Zeros written at once for a hole.
static ZEROS: [u8; 64 << 10] = [0; 64 << 10];

pub(super) fn run(args: &CatArgs, ui: &Ui) -> anyhow::Result<Exit> {
    let image = steps::open_image_at(&args.image, &args.place)?;
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
        Body::File(file) => print_file(image, file, out),
        Body::Directory(_) => anyhow::bail!("it is a directory"),
        _ => anyhow::bail!("it is not a regular file"),
    }
}

fn print_file(image: &Image, file: &File, out: &mut impl Write) -> anyhow::Result<()> {
    image.for_each_block(file, &mut |block| match block {
        FileBlock::Data(bytes) => Ok(out.write_all(bytes)?),
        FileBlock::Hole(mut len) => {
            while len > 0 {
                let part = usize::try_from(len).map_or(ZEROS.len(), |len| len.min(ZEROS.len()));
                out.write_all(&ZEROS[..part])?;
                len -= part as u64;
            }
            anyhow::Ok(())
        }
    })
}
