//! `coldpress find`.

pub(crate) mod args;
mod tests_of;

use std::io::Write as _;

use anyhow::bail;
use coldpress_describe::{FileFacts, Listing, Tests};
use coldpress_image::image_path::{Found, resolve_as_listed};
use coldpress_image::{Image, Visited, Walker};
use coldpress_report::failure::sentence;
use coldpress_report::text::{image_path, quoted_bytes};
use coldpress_session::exit::Exit;
use coldpress_session::failure;
use coldpress_session::ui::{Stdout, Ui};

use crate::image_file::open_image_at;
use crate::verbs::find::args::FindArgs;

use tests_of::tests;

pub(super) fn run(args: &FindArgs, ui: &Ui) -> anyhow::Result<Exit> {
    let tests = tests(&args.tests)?;
    let image = open_image_at(&args.image, &args.place)?;
    let mut paths: Vec<Vec<u8>> = args.paths.iter().map(|path| image_path(path)).collect();
    if paths.is_empty() {
        paths.push(b"/".to_vec());
    }
    let mut search = Search {
        image: &image,
        tests,
        needs_rows: args.long || args.json,
        is_raw: args.null,
        listing: Listing {
            out: ui.out(),
            json: args.json,
            long: args.long,
            full_paths: true,
            count: 0,
        },
    };
    let mut wrong = false;
    for path in &paths {
        if let Err(error) = search.below(path) {
            if failure::stdout_failure(&error).is_some() {
                return Err(error);
            }
            let error = error.context(format!("cannot search {}", quoted_bytes(path)));
            ui.error(&sentence(&error));
            wrong = true;
        }
    }
    search.listing.finish()?;
    Ok(Exit::partial_if(wrong))
}

/// A search under way.
struct Search<'a> {
    image: &'a Image,
    tests: Tests,
    /// Whether more is printed than paths.
    needs_rows: bool,
    /// Whether paths are printed as they are, with a zero byte behind.
    is_raw: bool,
    listing: Listing<Stdout>,
}

impl Search<'_> {
    fn below(&mut self, path: &[u8]) -> anyhow::Result<()> {
        let Some(found) = resolve_as_listed(self.image, path)? else {
            bail!("the image has no such file");
        };
        let mut walker = Walker::below(self.image, &found.path, found.at)?;
        while let Some(visited) = walker.next_path()? {
            if self.tests.hold(self.image, &visited)? {
                self.print(&visited)?;
            }
            if self.tests.is_deepest(visited.depth) {
                walker.skip();
            }
        }
        Ok(())
    }

    fn print(&mut self, visited: &Visited) -> anyhow::Result<()> {
        if self.needs_rows {
            let found = Found {
                path: visited.path.to_vec(),
                at: visited.at,
                inode: visited.inode.clone(),
            };
            let file = FileFacts::new(self.image, &found, self.listing.json)?;
            return Ok(self.listing.write(&file)?);
        }
        if self.is_raw {
            self.listing.out.write_all(visited.path)?;
            self.listing.out.write_all(b"\0")?;
            return Ok(());
        }
        writeln!(
            self.listing.out,
            "{}",
            coldpress_report::text::escaped(visited.path)
        )?;
        Ok(())
    }
}
