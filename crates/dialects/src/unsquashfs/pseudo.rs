//! An image as pseudo definitions with their data, which mksquashfs makes the same image of.
//!
//! ```text
//! etc/passwd R 1580702706 644 0 0 1720 0 0     length, first byte in the data, whether it has holes
//! ...
//! #
//! # START OF DATA - DO NOT MODIFY
//! #
//! root:x:0:0:...
//! ```

use std::fmt;
use std::io::Write;
use std::ops::ControlFlow;

use anyhow::{Context as _, bail};
use coldpress_format::{Body, InodeRef};
use coldpress_image::{Image, Visited, walk_chosen, write_content};
use coldpress_report::text::quoted_bytes;
use coldpress_writer::{Progress, Xattrs};

use super::cursor::Verdict;
use super::first_names::FirstNames;
use super::image::read_limits;
use super::request::Request;
use super::selection::Selection;
use super::{definition, xattrs};
use crate::Warn;

/// What stands between the definitions and the data.
const MARKER: &[u8] = b"#\n# START OF DATA - DO NOT MODIFY\n#\n";

/// A dump under way: definitions first, then contents.
pub struct PseudoDump<'a> {
    image: &'a Image,
    request: &'a Request,
    warn: Warn<'a>,
    xattrs: Xattrs,
    names: FirstNames,
    /// The files whose data is to follow, each with the place of its path.
    files: Vec<(InodeRef, usize)>,
    data_bytes: u64,
    is_wrong: bool,
}

impl fmt::Debug for PseudoDump<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("PseudoDump")
            .field("files", &self.files.len())
            .finish_non_exhaustive()
    }
}

impl<'a> PseudoDump<'a> {
    /// A dump that has written nothing.
    ///
    /// * `warn`: takes what is left out.
    ///
    /// # Errors
    ///
    /// If an expression for names of attributes is none.
    pub fn new(image: &'a Image, request: &'a Request, warn: Warn<'a>) -> anyhow::Result<Self> {
        Ok(Self {
            image,
            request,
            warn,
            xattrs: xattrs::kept(&request.xattrs)?,
            names: FirstNames::default(),
            files: Vec::new(),
            data_bytes: 0,
            is_wrong: false,
        })
    }

    /// Writes the definitions of the paths that are selected, and the line behind them.
    ///
    /// # Errors
    ///
    /// If the image is damaged, `out` cannot be written, or a path has no place in a definition and
    /// all errors are to be strict; otherwise such a path is left out.
    pub fn write_definitions(
        &mut self,
        selection: &Selection,
        out: &mut dyn Write,
    ) -> anyhow::Result<()> {
        let mut cursor = selection.cursor();
        walk_chosen(self.image, &mut |visited| -> anyhow::Result<bool> {
            let verdict = cursor.visit(visited);
            let is_written = verdict != Verdict::Leave && self.definitions(visited, out)?;
            Ok(is_written && verdict == Verdict::Enter)
        })?;
        out.write_all(MARKER)?;
        Ok(())
    }

    /// Writes the contents of all files. Returns whether nothing was left out.
    ///
    /// * `advance`: is told how far it is, and breaks to end it.
    ///
    /// # Errors
    ///
    /// If the image is damaged, `out` cannot be written, or `advance` breaks.
    pub fn write_contents(
        mut self,
        out: &mut dyn Write,
        advance: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> anyhow::Result<bool> {
        self.data(out, advance)?;
        out.flush()?;
        Ok(!self.is_wrong)
    }

    /// Writes the definitions of a path; `false` if there can be none.
    fn definitions(&mut self, visited: &Visited, out: &mut dyn Write) -> anyhow::Result<bool> {
        let Some(name) = definition::name(visited.path) else {
            let reason = "its name holds a line break";
            self.leave(&quoted_bytes(visited.path), reason)?;
            return Ok(false);
        };
        let inode = visited.inode;
        if let Body::Symlink(target) = &inode.body
            && !definition::is_writable_target(target)
        {
            let reason = "its target begins with white space, ends with a backslash or holds a \
                          line break";
            self.leave(&quoted_bytes(visited.path), reason)?;
            return Ok(false);
        }
        let (place, is_again) = self.names.note(visited);
        if is_again {
            let first = definition::name(&self.names.path(place)).unwrap_or_default();
            out.write_all(&[&name, b" L ".as_slice(), &first, b"\n"].concat())?;
            return Ok(true);
        }
        let owner = self.image.owner(inode)?;
        let time_s = self.request.time_s.unwrap_or(inode.mtime_s);
        let line = definition::line(&name, inode, time_s, owner, self.data_bytes);
        out.write_all(&line)?;
        if let Body::File(file) = &inode.body {
            self.files.push((visited.at, place));
            self.data_bytes = self.data_bytes.saturating_add(file.size_bytes);
        }
        self.xattrs(visited, &name, out)?;
        Ok(true)
    }

    fn xattrs(
        &mut self,
        visited: &Visited,
        name: &[u8],
        out: &mut dyn Write,
    ) -> anyhow::Result<()> {
        if !self.request.xattrs.restored {
            return Ok(());
        }
        for (key, value) in self.image.xattrs(visited.inode)?.iter() {
            if !self.xattrs.keeps(key) {
                continue;
            }
            if let Some(text) = definition::xattr(key, value) {
                out.write_all(&[name, b" x ", &text, b"\n"].concat())?;
            } else {
                let (key, path) = (quoted_bytes(key), quoted_bytes(visited.path));
                let reason = "it is empty, or its name holds a `=` or a line break";
                self.leave(&format!("the attribute {key} of {path}"), reason)?;
            }
        }
        Ok(())
    }

    /// Writes the contents of all files.
    fn data(
        &mut self,
        out: &mut dyn Write,
        advance: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> anyhow::Result<()> {
        let limits = read_limits(self.request)?;
        let mut progress = Progress {
            done_bytes: 0,
            total_bytes: self.data_bytes,
        };
        for (at, place) in &self.files {
            let inode = self.image.inode(*at)?;
            let Body::File(file) = &inode.body else {
                continue;
            };
            let written: anyhow::Result<()> =
                write_content(self.image, file, 0..u64::MAX, &limits, out);
            written.with_context(|| {
                let path = self.names.path(*place);
                format!("cannot write {}", quoted_bytes(&path))
            })?;
            progress.done_bytes = progress.done_bytes.saturating_add(file.size_bytes);
            if advance(progress).is_break() {
                bail!("interrupted");
            }
        }
        Ok(())
    }

    /// Tells what is left out.
    fn leave(&mut self, what: &str, reason: &str) -> anyhow::Result<()> {
        let text = format!("{what} cannot be a definition: {reason}");
        if self.request.errors.strict {
            bail!("{text}");
        }
        (self.warn)(&format!("{text}; it is left out"));
        self.is_wrong = true;
        Ok(())
    }
}
