//! `coldpress tree`.

pub(crate) mod args;
mod json;

use std::io::Write;

use anyhow::bail;
use coldpress_format::Body;
use coldpress_image::image_path::resolve_as_listed;
use coldpress_image::{Image, Visited, Walker};
use coldpress_report::failure::sentence;
use coldpress_report::text::{base_name, escaped, image_path, plural, quoted_bytes};
use coldpress_session::exit::Exit;
use coldpress_session::failure;
use coldpress_session::ui::Ui;

use super::ls::row::size_bytes;
use crate::image_file::open_image_at;
use crate::verbs::tree::args::TreeArgs;

use json::JsonTree;

/// What prints a tree, path by path.
trait Print {
    /// * `is_last`: whether nothing follows in the same directory.
    fn path(&mut self, visited: &Visited, is_last: bool) -> anyhow::Result<()>;

    fn end(&mut self, counts: Counts) -> anyhow::Result<()>;
}

/// How many there are below the top.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    directories: u64,
    others: u64,
}

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
    Ok(Exit::Wrong)
}

fn show(image: &Image, path: &[u8], args: &TreeArgs, out: &mut impl Write) -> anyhow::Result<()> {
    let Some(found) = resolve_as_listed(image, path)? else {
        bail!("the image has no such file");
    };
    let mut walker = Walker::below(image, &found.path, found.at)?;
    if args.json {
        return print(&mut walker, args.depth, &mut JsonTree::new(out));
    }
    let mut tree = TextTree {
        out,
        sizes: args.sizes,
        is_over: Vec::new(),
    };
    print(&mut walker, args.depth, &mut tree)
}

/// Prints what is there, and ends the tree also where damage ends it.
fn print(
    walker: &mut Walker,
    depth_max: Option<usize>,
    printer: &mut impl Print,
) -> anyhow::Result<()> {
    let mut counts = Counts::default();
    let damage = loop {
        match walker.next_path() {
            Ok(Some(_)) => {}
            Ok(None) => break None,
            Err(error) => break Some(error),
        }
        let is_last = walker.is_last();
        let visited = walker.visited();
        printer.path(&visited, is_last)?;
        if visited.depth > 0 {
            match visited.inode.body {
                Body::Directory(_) => counts.directories += 1,
                _ => counts.others += 1,
            }
        }
        if depth_max.is_some_and(|max| visited.depth >= max) {
            walker.skip();
        }
    };
    printer.end(counts)?;
    damage.map_or(Ok(()), |error| Err(error.into()))
}

/// The tree as tree(1) draws it.
struct TextTree<'a, W> {
    out: &'a mut W,
    sizes: bool,
    /// For each level above: whether its directory has nothing more.
    is_over: Vec<bool>,
}

impl<W: Write> Print for TextTree<'_, W> {
    fn path(&mut self, visited: &Visited, is_last: bool) -> anyhow::Result<()> {
        let name = match visited.depth {
            0 => visited.path,
            _ => base_name(visited.path),
        };
        self.is_over.truncate(visited.depth.saturating_sub(1));
        for is_over in &self.is_over {
            self.out
                .write_all(if *is_over { "    " } else { "│   " }.as_bytes())?;
        }
        if visited.depth > 0 {
            self.out
                .write_all(if is_last { "└── " } else { "├── " }.as_bytes())?;
            self.is_over.push(is_last);
        }
        if self.sizes {
            write!(self.out, "[{:>11}]  ", size_bytes(&visited.inode.body))?;
        }
        match &visited.inode.body {
            Body::Symlink(target) => {
                writeln!(self.out, "{} -> {}", escaped(name), escaped(target))?;
            }
            _ => writeln!(self.out, "{}", escaped(name))?,
        }
        Ok(())
    }

    fn end(&mut self, counts: Counts) -> anyhow::Result<()> {
        let directories = plural(counts.directories, "directory", "directories");
        let files = plural(counts.others, "file", "files");
        writeln!(self.out, "\n{directories}, {files}")?;
        Ok(())
    }
}
