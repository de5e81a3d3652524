//! asar, the archives of Electron: a header of JSON, then the files one after another.
//!
//! ```text
//! byte 0   u32 4, u32 length of what follows up to the data
//! byte 8   u32 length of what follows, u32 length of the JSON, the JSON, zeros to a multiple of 4
//! then     the data; the JSON states positions from here on
//! ```
//!
//! Source: `@electron/asar`, `src/disk.ts` and `src/pickle.ts`.

mod json;

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::io::Write;
use std::ops::{ControlFlow, Range};

use coldpress_image::ReadAt;
use coldpress_report::text::quoted_bytes;

use crate::bytes::{Sink, same_bytes, size_of, up_to, whole};
use crate::error::{Corrupt, Error, Rule, entry_part};
use crate::field::number32;
use crate::placement::{Piece, Placement};
use json::Json;

/// The largest header that is read: a hundred times that of a large application.
const HEADER_BYTES_MAX: u32 = 256 << 20;
/// Bytes before the JSON.
const HEAD_BYTES: usize = 16;

/// An archive of Electron.
#[derive(Clone, Debug)]
pub struct Asar {
    /// The files in it, in the order of the header.
    pub files: Vec<AsarFile>,
    /// Bytes of the file.
    pub size_bytes: u64,
    data_start: u64,
    header: Json,
}

/// A file in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AsarFile {
    /// Its path, without a slash at the beginning.
    pub name: Vec<u8>,
    /// Its bytes in the archive.
    pub range: Range<u64>,
}

impl Asar {
    /// Reads the header; `None` if it is no asar archive.
    ///
    /// # Errors
    ///
    /// If the header is damaged, or files lie on each other.
    ///
    /// # Cost
    ///
    /// Memory in proportion to the header, of at most 256 MiB.
    pub fn read(source: &dyn ReadAt) -> Result<Option<Self>, Error> {
        let size_bytes = size_of(source)?;
        let head = up_to(source, 0, HEAD_BYTES)?;
        let field = |at| number32(&head, at);
        // Nothing else begins so: lengths that are in each other, and an object.
        let is_asar = head.len() == HEAD_BYTES
            && field(0) == 4
            && field(4).checked_sub(field(8)) == Some(4)
            && field(8)
                .checked_sub(field(12))
                .is_some_and(|rest| (4..8).contains(&rest));
        if !is_asar {
            return Ok(None);
        }
        let json_bytes = field(12);
        if json_bytes > HEADER_BYTES_MAX {
            return Err(too_long(json_bytes.into()).into());
        }
        let len = usize::try_from(json_bytes).unwrap_or(usize::MAX);
        let start = HEAD_BYTES as u64;
        if u64::from(json_bytes) > size_bytes - start {
            let (needed, room) = (json_bytes.into(), size_bytes - start);
            return Err(Corrupt::new("header", 12, Rule::CutOff { needed, room }).into());
        }
        let text = whole(source, start, len, "header")?;
        let mut header: Json =
            serde_json::from_slice(&text).map_err(|error| bad_json(error.to_string()))?;
        let data_start = 8 + u64::from(field(4));
        let mut files = Vec::new();
        walk(&mut header, &mut Vec::new(), &mut |path, node| {
            let place = node.get("offset").and_then(Json::text);
            let place = place.and_then(|text| text.parse::<u64>().ok());
            let size_bytes = node.get("size").and_then(Json::number);
            let (Some(place), Some(size_bytes)) = (place, size_bytes) else {
                let what = quoted_bytes(path);
                return Err(bad_json(format!("{what} states no position or no length")));
            };
            let start = data_start.saturating_add(place);
            files.push(AsarFile {
                name: path.to_vec(),
                range: start..start.saturating_add(size_bytes),
            });
            Ok(())
        })?;
        let asar = Self {
            files,
            size_bytes,
            data_start,
            header,
        };
        asar.check_apart()?;
        Ok(Some(asar))
    }

    /// Files lie in the archive, and apart or exactly on each other.
    fn check_apart(&self) -> Result<(), Corrupt> {
        let mut files: Vec<&AsarFile> = self.files.iter().collect();
        files.sort_by_key(|file| (file.range.start, file.range.end));
        for file in &files {
            if file.range.end > self.size_bytes {
                let needed = file.range.end - file.range.start;
                let room = self.size_bytes.saturating_sub(file.range.start);
                let rule = Rule::CutOff { needed, room };
                return Err(Corrupt::new(entry_part(&file.name), file.range.start, rule));
            }
        }
        files.retain(|file| !file.range.is_empty());
        for pair in files.windows(2) {
            if let [file, next] = pair
                && file.range.end > next.range.start
                && file.range != next.range
            {
                let (end, start) = (file.range.end, next.range.start);
                let other = entry_part(&next.name);
                let rule = Rule::Overlap { end, other, start };
                return Err(Corrupt::new(entry_part(&file.name), file.range.start, rule));
            }
        }
        Ok(())
    }

    /// Whether another archive has the same files with the same contents.
    ///
    /// # Errors
    ///
    /// If one of them cannot be read.
    pub fn is_same(
        &self,
        source: &dyn ReadAt,
        new: &Self,
        new_source: &dyn ReadAt,
    ) -> Result<bool, Error> {
        let mut is_same = self.files.len() == new.files.len();
        for (old, new) in self.files.iter().zip(&new.files) {
            let old_bytes = (source, old.range.clone());
            is_same &=
                old.name == new.name && same_bytes(old_bytes, (new_source, new.range.clone()))?;
        }
        Ok(is_same)
    }

    /// Writes the archive with these files first; returns what moved where, and its length.
    ///
    /// * `hot`: places in [`Asar::files`], in the order of the start.
    ///
    /// # Errors
    ///
    /// If the old archive cannot be read, or `out` refuses.
    pub fn write(
        &self,
        source: &dyn ReadAt,
        hot: &[usize],
        out: &mut dyn Write,
        poll: &mut dyn FnMut(u64) -> ControlFlow<()>,
    ) -> Result<(Placement, u64), Error> {
        let mut cold: Vec<&AsarFile> = self.files.iter().collect();
        cold.sort_by_key(|file| file.range.start);
        let hot = hot.iter().filter_map(|&index| self.files.get(index));
        let order = hot.map(|file| (file, true));
        let order = order.chain(cold.into_iter().map(|file| (file, false)));
        let mut pieces: Vec<Piece> = Vec::new();
        let mut places: HashMap<Range<u64>, u64> = HashMap::new();
        let mut at = 0;
        for (file, is_hot) in order {
            if let Entry::Vacant(place) = places.entry(file.range.clone()) {
                place.insert(at);
                let new = at..at + (file.range.end - file.range.start);
                at = new.end;
                let old = file.range.clone();
                pieces.push(Piece { old, new, is_hot });
            }
        }
        let mut header = self.header.clone();
        let mut files = self.files.iter();
        walk(&mut header, &mut Vec::new(), &mut |_, node| {
            let place = files.next().and_then(|file| places.get(&file.range));
            node.set(
                "offset",
                Json::Text(place.copied().unwrap_or_default().to_string()),
            );
            Ok(())
        })?;
        let text = serde_json::to_vec(&header).map_err(|error| bad_json(error.to_string()))?;
        let found = text.len() as u64;
        let len = u32::try_from(found)
            .ok()
            .filter(|len| *len <= HEADER_BYTES_MAX);
        let len = len.ok_or_else(|| too_long(found))?;
        let padded = len.next_multiple_of(4);
        let mut sink = Sink { out, at: 0, poll };
        for field in [4, padded + 8, padded + 4, len] {
            sink.put(&field.to_le_bytes())?;
        }
        sink.put(&text)?;
        sink.put(&vec![0; usize::try_from(padded - len).unwrap_or_default()])?;
        let data_start = sink.at;
        for piece in &pieces {
            sink.copy(source, piece.old.clone())?;
        }
        let pieces = pieces.into_iter().map(|piece| Piece {
            new: data_start + piece.new.start..data_start + piece.new.end,
            ..piece
        });
        let head = Piece {
            old: 0..self.data_start,
            new: 0..data_start,
            is_hot: true,
        };
        Ok((Placement::new(pieces.chain([head]).collect()), sink.at))
    }
}

fn bad_json(why: String) -> Error {
    Corrupt::new("header", HEAD_BYTES as u64, Rule::Json { why }).into()
}

fn too_long(found: u64) -> Corrupt {
    let (field, limit) = ("header bytes", HEADER_BYTES_MAX.into());
    Corrupt::new(
        "header",
        12,
        Rule::TooMuch {
            field,
            found,
            limit,
        },
    )
}

/// Is given the path and the node of a file.
type Visit<'a> = dyn FnMut(&[u8], &mut Json) -> Result<(), Error> + 'a;

/// Visits the files whose bytes are in the archive, in the order of the header.
fn walk(node: &mut Json, path: &mut Vec<u8>, visit: &mut Visit<'_>) -> Result<(), Error> {
    let Some(Json::Object(members)) = node.get_mut("files") else {
        let is_elsewhere = node.get("unpacked") == Some(&Json::Bool(true));
        if is_elsewhere || node.get("link").is_some() {
            return Ok(());
        }
        return visit(path, node);
    };
    for (name, member) in members {
        let len = path.len();
        if len > 0 {
            path.push(b'/');
        }
        path.extend(name.as_bytes());
        walk(member, path, visit)?;
        path.truncate(len);
    }
    Ok(())
}
