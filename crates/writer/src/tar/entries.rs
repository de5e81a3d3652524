//! Entries of an archive: headers joined with the extended ones in front of them.

use super::defect::TarDefect;
use super::entry::{Entry, EntryKind};
use super::header::{Block, Dialect, Header};
use super::pax::Extensions;
use super::sparse::{Lines, Map};
use super::stream::Stream;
use crate::error::Error;

/// An extended header has less than a page for each of its values in practice; the largest that
/// Linux could fill is a list of xattrs of 64 KiB.
const EXTENDED_MAX_BYTES: u64 = 1 << 20;
const ZEROS: Block = [0; 512];

/// An archive that is read entry by entry.
pub(crate) struct Entries<'a> {
    pub(crate) stream: Stream<'a>,
    /// Whether zero blocks do not end the archive.
    ignore_zeros: bool,
    /// What headers for all that follows say.
    global: Extensions,
    /// Whether a pax header was met: then hard links may have data.
    is_pax: bool,
    /// Bytes of the entry's data that are not read yet.
    data_left_bytes: u64,
    /// What is odd but no error: where, and what.
    pub(crate) oddities: Vec<(u64, String)>,
}

impl<'a> Entries<'a> {
    pub(crate) fn new(stream: Stream<'a>, ignore_zeros: bool) -> Self {
        Self {
            stream,
            ignore_zeros,
            global: Extensions::default(),
            is_pax: false,
            data_left_bytes: 0,
            oddities: Vec::new(),
        }
    }

    /// The next entry; `None` at the end of the archive.
    pub(crate) fn next(&mut self) -> Result<Option<Entry>, Error> {
        self.pass_data()?;
        let mut local = None;
        let (mut long_path, mut long_link) = (None, None);
        loop {
            let Some((at_bytes, block)) = self.header_block()? else {
                return Ok(None);
            };
            let header = self.located(at_bytes, Header::new(&block));
            let header = match header {
                Err(_) if at_bytes == 0 => {
                    return Err(self.stream.error(at_bytes, TarDefect::NotTar));
                }
                header => header?,
            };
            match header.kind() {
                b'x' | b'X' => {
                    let records = self.extended(at_bytes, header, "a pax header")?;
                    let extensions = local.insert(self.global.clone());
                    self.is_pax = true;
                    self.located(at_bytes, extensions.add(&records))?;
                }
                b'g' => {
                    let records = self.extended(at_bytes, header, "a global pax header")?;
                    let mut global = self.global.clone();
                    self.is_pax = true;
                    self.located(at_bytes, global.add_global(&records))?;
                    self.global = global;
                }
                b'L' => long_path = Some(self.long(at_bytes, header, "a long name")?),
                b'K' => long_link = Some(self.long(at_bytes, header, "a long link")?),
                // The name of the volume.
                b'V' => {}
                b'M' => return Err(self.stream.error(at_bytes, TarDefect::Volume)),
                _ => {
                    let mut extensions = local.unwrap_or_else(|| self.global.clone());
                    extensions.path = extensions.path.or(long_path);
                    extensions.link = extensions.link.or(long_link);
                    return self.entry(at_bytes, header, extensions).map(Some);
                }
            }
        }
    }

    /// Where the data of the entry that was read last lies: in the archive itself.
    pub(crate) fn data_position(&self) -> u64 {
        self.stream.position()
    }

    /// Hands the data of the entry that was read last to `take`, in pieces.
    pub(super) fn data(
        &mut self,
        take: &mut dyn FnMut(&[u8]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let len = std::mem::take(&mut self.data_left_bytes);
        self.stream.pass_content(len, take)
    }

    /// Bytes of the data of the entry that was read last that are not read yet.
    pub(super) fn data_left_bytes(&self) -> u64 {
        self.data_left_bytes
    }

    /// Passes over what is left of the entry that was read last.
    fn pass_data(&mut self) -> Result<(), Error> {
        let len = std::mem::take(&mut self.data_left_bytes);
        self.stream.skip(len, "a file")?;
        self.stream.align()
    }

    /// The next block that is a header, and where it is; `None` at the end of the archive.
    fn header_block(&mut self) -> Result<Option<(u64, Block)>, Error> {
        loop {
            let at_bytes = self.stream.position();
            let Some(block) = self.stream.block()? else {
                if at_bytes == 0 {
                    return Err(self.stream.error(0, TarDefect::Empty));
                }
                return Ok(None);
            };
            if block != ZEROS {
                return Ok(Some((at_bytes, block)));
            }
            if self.ignore_zeros {
                continue;
            }
            // Two such blocks end an archive.
            if self.stream.block()?.is_some_and(|block| block != ZEROS) {
                let text = "the archive ends with one block of zeros; what follows is ignored";
                self.oddities.push((at_bytes, text.to_owned()));
            }
            return Ok(None);
        }
    }

    /// The content of an extended header.
    fn extended(
        &mut self,
        at_bytes: u64,
        header: Header,
        what: &'static str,
    ) -> Result<Vec<u8>, Error> {
        let size_bytes = self.located(at_bytes, header.size_bytes())?;
        if size_bytes > EXTENDED_MAX_BYTES {
            let defect = TarDefect::TooLarge {
                what,
                found_bytes: size_bytes,
                limit_bytes: EXTENDED_MAX_BYTES,
            };
            return Err(self.stream.error(at_bytes, defect));
        }
        let mut content = vec![0; usize::try_from(size_bytes).expect("at most 1 MiB")];
        self.stream.read_exact(&mut content, what)?;
        self.stream.align()?;
        Ok(content)
    }

    /// A name that is too long for its header, ended by a zero byte.
    fn long(
        &mut self,
        at_bytes: u64,
        header: Header,
        what: &'static str,
    ) -> Result<Vec<u8>, Error> {
        let mut name = self.extended(at_bytes, header, what)?;
        let end = name.iter().position(|byte| *byte == 0);
        name.truncate(end.unwrap_or(name.len()));
        Ok(name)
    }

    fn entry(
        &mut self,
        at_bytes: u64,
        header: Header,
        mut extensions: Extensions,
    ) -> Result<Entry, Error> {
        let mut path = extensions.path.take().unwrap_or_else(|| header.path());
        if let Some(name) = extensions.sparse.name.take() {
            path = name;
        }
        let kind = self.kind(at_bytes, header, &mut extensions, &path)?;
        let field = |pax: Option<i64>, field: &dyn Fn() -> Result<i64, TarDefect>| {
            pax.map_or_else(field, Ok)
        };
        let number = (|| {
            Ok((
                header.mode()?,
                field(extensions.uid, &|| header.uid())?,
                field(extensions.gid, &|| header.gid())?,
                field(extensions.mtime_s, &|| header.mtime_s())?,
            ))
        })();
        let (mode, uid, gid, mtime_s) = self.located(at_bytes, number)?;
        Ok(Entry {
            at_bytes,
            path,
            kind,
            mode,
            uid,
            gid,
            mtime_s,
            xattrs: extensions.xattrs().into_iter().collect(),
            acls: extensions.acls,
        })
    }

    fn kind(
        &mut self,
        at_bytes: u64,
        header: Header,
        extensions: &mut Extensions,
        path: &[u8],
    ) -> Result<EntryKind, Error> {
        let link = extensions.link.take();
        let target = || link.unwrap_or_else(|| header.link().to_vec());
        let device = || {
            let (major, minor) = match (extensions.major, extensions.minor) {
                (Some(major), Some(minor)) => (major, minor),
                _ => header.device()?,
            };
            Ok((major, minor))
        };
        Ok(match header.kind() {
            b'1' => {
                // Before pax, writers put the size of the file here, and no data behind it.
                if self.is_pax && header.dialect == Dialect::Ustar {
                    self.data_left_bytes = self.size_bytes(at_bytes, header, extensions)?;
                }
                EntryKind::HardLink { target: target() }
            }
            b'2' => EntryKind::Symlink { target: target() },
            b'3' => {
                let (major, minor) = self.located(at_bytes, device())?;
                EntryKind::CharDevice { major, minor }
            }
            b'4' => {
                let (major, minor) = self.located(at_bytes, device())?;
                EntryKind::BlockDevice { major, minor }
            }
            b'5' => EntryKind::Directory,
            b'6' => EntryKind::Fifo,
            kind => {
                self.data_left_bytes = self.size_bytes(at_bytes, header, extensions)?;
                match kind {
                    // With a list of its names as data.
                    b'D' => EntryKind::Directory,
                    // So did v7, which had no type for it.
                    0 | b'0' | b'7' if path.ends_with(b"/") => EntryKind::Directory,
                    0 | b'0' | b'7' => self.file(at_bytes, extensions, path)?,
                    b'S' if header.dialect == Dialect::Gnu => {
                        self.gnu_sparse(at_bytes, header, path)?
                    }
                    unknown => EntryKind::Unknown(unknown),
                }
            }
        })
    }

    fn size_bytes(
        &self,
        at_bytes: u64,
        header: Header,
        extensions: &Extensions,
    ) -> Result<u64, Error> {
        match extensions.size_bytes {
            Some(size_bytes) => Ok(size_bytes),
            None => self.located(at_bytes, header.size_bytes()),
        }
    }

    /// A regular file, which may be sparse by what pax headers say.
    fn file(
        &mut self,
        at_bytes: u64,
        extensions: &mut Extensions,
        path: &[u8],
    ) -> Result<EntryKind, Error> {
        let sparse = std::mem::take(&mut extensions.sparse);
        let map = match (sparse.major, sparse.map) {
            (Some(1), _) if sparse.minor == Some(0) => self.map_in_data(path)?,
            (None | Some(0), Some(numbers)) => {
                let mut map = Map::default();
                self.sparse(at_bytes, path, map.push_numbers(&numbers))?;
                map
            }
            (None | Some(0), None) => {
                let size_bytes = self.data_left_bytes;
                return Ok(EntryKind::File {
                    size_bytes,
                    segments: None,
                });
            }
            _ => {
                let unknown = Err("it is of a format other than 0.0, 0.1 and 1.0");
                self.sparse(at_bytes, path, unknown)?
            }
        };
        let size_bytes = sparse.real_size_bytes.ok_or("the file's length is missing");
        let size_bytes = self.sparse(at_bytes, path, size_bytes)?;
        let segments = map.finish(size_bytes, self.data_left_bytes);
        let segments = self.sparse(at_bytes, path, segments)?;
        Ok(EntryKind::File {
            size_bytes,
            segments: Some(segments),
        })
    }

    /// The map in the first blocks of the data.
    fn map_in_data(&mut self, path: &[u8]) -> Result<Map, Error> {
        let mut lines = Lines::default();
        while !lines.is_complete() {
            let at_bytes = self.stream.position();
            let left = self.data_left_bytes.checked_sub(ZEROS.len() as u64);
            let left = left.ok_or("the data ends before it does");
            self.data_left_bytes = self.sparse(at_bytes, path, left)?;
            let mut block = ZEROS;
            self.stream.read_exact(&mut block, "a map")?;
            self.sparse(at_bytes, path, lines.push(&block))?;
        }
        Ok(lines.map)
    }

    /// A sparse file of GNU tar's own format: the map is in the header and in blocks behind it.
    fn gnu_sparse(
        &mut self,
        at_bytes: u64,
        header: Header,
        path: &[u8],
    ) -> Result<EntryKind, Error> {
        let mut map = Map::default();
        self.sparse(at_bytes, path, map.push_fields(header.sparse_pairs()))?;
        let mut is_extended = header.is_extended();
        while is_extended {
            let at_bytes = self.stream.position();
            let mut block = ZEROS;
            self.stream.read_exact(&mut block, "a map")?;
            // 21 pairs.
            let (pairs, rest) = block.split_at(504);
            self.sparse(at_bytes, path, map.push_fields(pairs))?;
            is_extended = rest[0] != 0;
        }
        let size_bytes = self.located(at_bytes, header.real_size_bytes())?;
        let segments = map.finish(size_bytes, self.data_left_bytes);
        let segments = self.sparse(at_bytes, path, segments)?;
        Ok(EntryKind::File {
            size_bytes,
            segments: Some(segments),
        })
    }

    fn sparse<T>(
        &self,
        at_bytes: u64,
        path: &[u8],
        result: Result<T, &'static str>,
    ) -> Result<T, Error> {
        let defect = |rule| TarDefect::SparseMap {
            path: path.escape_ascii().to_string(),
            rule,
        };
        self.located(at_bytes, result.map_err(defect))
    }

    fn located<T>(&self, at_bytes: u64, result: Result<T, TarDefect>) -> Result<T, Error> {
        result.map_err(|defect| self.stream.error(at_bytes, defect))
    }
}
