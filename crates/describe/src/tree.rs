//! A tree as text or JSON.

mod json;

use std::io::Write;

use coldpress_format::Body;
use coldpress_image::{Image, Visited, Walker};
use coldpress_report::text::{base_name, escaped, plural};

use crate::file::size_bytes;
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

/// Writes what a walker finds as tree(1) draws it.
///
/// * `depth_max`: levels below the top, if there is a limit.
/// * `sizes`: whether the size of each file is shown.
///
/// # Errors
///
/// If the image is damaged, what was found before it is written; or if it cannot be written.
pub fn tree_text(
    walker: &mut Walker<&Image>,
    depth_max: Option<usize>,
    sizes: bool,
    out: &mut impl Write,
) -> anyhow::Result<()> {
    let mut tree = TextTree {
        out,
        sizes,
        is_over: Vec::new(),
    };
    print(walker, depth_max, &mut tree)
}

/// The same as one JSON document.
///
/// # Errors
///
/// As [`tree_text`].
pub fn tree_json(
    walker: &mut Walker<&Image>,
    depth_max: Option<usize>,
    out: &mut impl Write,
) -> anyhow::Result<()> {
    print(walker, depth_max, &mut JsonTree::new(out))
}

/// Prints what is there, and ends the tree also where damage ends it.
fn print(
    walker: &mut Walker<&Image>,
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
