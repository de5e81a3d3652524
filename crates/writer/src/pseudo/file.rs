//! Pseudo files: lines of definitions, and after them the data of their `R` files.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read as _, Seek as _};
use std::path::Path;
use std::sync::Arc;

use super::parse::{self, Lookup};
use super::{Action, DataFile, Object, Pseudo};
use crate::description::{LINE_MAX_BYTES, Malformed, SourceLine, is_space};
use crate::error::{self, Error};

/// The line that ends the definitions; the data begins after one more line, `#`.
const MARKER: &[u8] = b"# START OF DATA - DO NOT MODIFY";
const AFTER_MARKER: &[u8; 2] = b"#\n";

/// Reads the definitions of `file` and finds its data, which is copied only if `file` is not a
/// regular file.
pub(super) fn read(
    pseudo: &mut Pseudo,
    file: File,
    path: &Path,
    lookup: &Lookup,
) -> Result<(), Error> {
    let read = |error| error::source("read", path)(error);
    let metadata = file.metadata().map_err(read)?;
    let start_bytes = if metadata.is_file() {
        (&file).stream_position().map_err(read)?
    } else {
        0
    };
    let first = pseudo.definitions.len();
    let mut lines = Lines::new(BufReader::new(&file), path);
    let has_data = definitions(pseudo, &mut lines, lookup)?;
    let ranges = pseudo.definitions[first..].iter().filter_map(|definition| {
        let Action::Add {
            object:
                Object::Data {
                    offset_bytes,
                    len_bytes,
                    ..
                },
            ..
        } = definition.action
        else {
            return None;
        };
        Some((definition, offset_bytes.saturating_add(len_bytes)))
    });
    let Some((last, end_bytes)) = ranges.max_by_key(|(_, end_bytes)| *end_bytes) else {
        return Ok(());
    };
    let place = last.place.clone();
    let cut_short = |rule| Error::Definition {
        place,
        path: path.to_path_buf(),
        rule,
    };
    if !has_data {
        return Err(cut_short(
            "has no line `# START OF DATA - DO NOT MODIFY`, after which the data of `R` stands",
        ));
    }
    let data = if metadata.is_file() {
        let start_bytes = start_bytes + lines.read_bytes;
        DataFile {
            path: path.to_path_buf(),
            len_bytes: metadata.len().saturating_sub(start_bytes),
            start_bytes,
            file: Arc::new(file),
        }
    } else {
        let scratch = &pseudo.scratch;
        let mut copy = tempfile::tempfile_in(scratch).map_err(error::source("write", scratch))?;
        let len_bytes = io::copy(&mut lines.reader, &mut copy).map_err(read)?;
        DataFile {
            path: path.to_path_buf(),
            file: Arc::new(copy),
            start_bytes: 0,
            len_bytes,
        }
    };
    if end_bytes > data.len_bytes {
        return Err(cut_short("ends before the data of this definition does"));
    }
    pseudo.data.push(data);
    Ok(())
}

/// Reads up to the data; returns whether there is any.
fn definitions<R: BufRead>(
    pseudo: &mut Pseudo,
    lines: &mut Lines<R>,
    lookup: &Lookup,
) -> Result<bool, Error> {
    let data = Some(pseudo.data.len());
    let mut line = Vec::new();
    while let Some(place) = lines.next(&mut line)? {
        let text = line.iter().position(|&byte| !is_space(byte));
        match text.map(|start| &line[start..]) {
            Some(MARKER) => return lines.skip_after_marker(&place).map(|()| true),
            None | Some([b'#', ..]) => {}
            // The whole line, so that columns count from its first byte.
            Some(_) => {
                let definition = parse::definition(&line, &place, data, lookup)?;
                pseudo.definitions.push(definition);
            }
        }
    }
    Ok(false)
}

/// Lines, joined where one ends with a `\` that no `\` precedes.
#[derive(Debug)]
pub(super) struct Lines<R> {
    reader: R,
    path: Arc<Path>,
    /// Bytes that the lines so far took.
    read_bytes: u64,
    /// Lines so far, as an editor counts them.
    number: u64,
}

impl<R: BufRead> Lines<R> {
    pub(super) fn new(reader: R, path: &Path) -> Self {
        Self {
            reader,
            path: path.into(),
            read_bytes: 0,
            number: 0,
        }
    }

    /// Puts the next line into `line`; `None` at the end.
    pub(super) fn next(&mut self, line: &mut Vec<u8>) -> Result<Option<SourceLine>, Error> {
        line.clear();
        let place = SourceLine::File {
            path: self.path.clone(),
            line: self.number + 1,
        };
        let mut is_end = true;
        loop {
            let before = line.len();
            let limit = (LINE_MAX_BYTES + 1 - before) as u64;
            let mut reader = self.reader.by_ref().take(limit);
            let read_bytes = reader
                .read_until(b'\n', line)
                .map_err(error::source("read", &self.path))?;
            if read_bytes == 0 {
                return Ok((!is_end).then_some(place));
            }
            is_end = false;
            self.read_bytes += read_bytes as u64;
            self.number += 1;
            if line.last() == Some(&b'\n') {
                line.pop();
            } else if line.len() > LINE_MAX_BYTES {
                return Err(Error::Malformed(Malformed {
                    place,
                    column: LINE_MAX_BYTES + 1,
                    found: std::mem::take(line).split_off(LINE_MAX_BYTES),
                    expected: "the end of the line: lines are at most 1048576 bytes long",
                }));
            }
            let part = &line[before..];
            if !part.ends_with(b"\\") || part.ends_with(b"\\\\") {
                return Ok(Some(place));
            }
            line.pop();
        }
    }

    fn skip_after_marker(&mut self, place: &SourceLine) -> Result<(), Error> {
        let mut found = Vec::new();
        let reader = self.reader.by_ref();
        let taken = reader.take(2).read_to_end(&mut found);
        taken.map_err(error::source("read", &self.path))?;
        self.read_bytes += found.len() as u64;
        if found == AFTER_MARKER {
            return Ok(());
        }
        Err(Error::Malformed(Malformed {
            place: place.clone(),
            column: MARKER.len() + 1,
            found,
            expected: "a line `#` and then the data, as unsquashfs writes it",
        }))
    }
}
