//! `coldpress tree`.

pub(crate) mod args;

use std::io::Write;

use anyhow::bail;
use coldpress_describe::{tree_json, tree_text};
use coldpress_image::image_path::resolve_as_listed;
use coldpress_image::{Image, Walker};
use coldpress_report::failure::sentence;
use coldpress_report::text::{image_path, quoted_bytes};
use coldpress_session::exit::Exit;
use coldpress_session::failure;
use coldpress_session::ui::Ui;

use crate::image_file::open_image_at;
use crate::verbs::tree::args::TreeArgs;

pub(super) fn run(args: &TreeArgs, ui: &Ui) -> anyhow::Result<Exit> {
    let image = open_image_at(&args.image, &args.place)?;
    let path = image_path(&args.path);
    let mut out = ui.out();
    let shown = show(&image, &path, args, &mut out);
    let Err(error) = shown else {
        out.flush()?;
        return Ok(Exit::Done);
    };
    if failure::stdout_failure(&error).is_some() {
        return Err(error);
    }
    out.flush()?;
    let error = error.context(format!("cannot show {}", quoted_bytes(&path)));
    ui.error(&sentence(&error));
    Ok(Exit::Partial)
}

fn show(image: &Image, path: &[u8], args: &TreeArgs, out: &mut impl Write) -> anyhow::Result<()> {
    let Some(found) = resolve_as_listed(image, path)? else {
        bail!("the image has no such file");
    };
    let mut walker = Walker::below(image, &found.path, found.at)?;
    if args.json {
        return tree_json(&mut walker, args.depth, out);
    }
    tree_text(&mut walker, args.depth, args.sizes, out)
}
