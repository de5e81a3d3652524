//! A new archive, from its first byte to its last.

use std::io::Write;
use std::ops::ControlFlow;

use coldpress_image::ReadAt;

use super::arrange::{Arrangement, Placed};
use super::end::end_records;
use super::{Entry, Verified, Zip};
use crate::bytes::{Sink, same_bytes};
use crate::error::{Corrupt, Error, Rule, entry_part};

impl Zip {
    /// Writes the archive as it was arranged; returns its length.
    ///
    /// * `poll`: is told how many bytes are written, and may end it.
    ///
    /// # Errors
    ///
    /// If the old archive cannot be read, an entry to be decompressed is damaged, or `out` refuses.
    ///
    /// # Cost
    ///
    /// One pass over `out`; up to 1 MiB and the directory in memory.
    pub fn write(
        &self,
        source: &dyn ReadAt,
        arrangement: &Arrangement,
        out: &mut dyn Write,
        poll: &mut dyn FnMut(u64) -> ControlFlow<()>,
    ) -> Result<u64, Error> {
        let mut sink = Sink { out, at: 0, poll };
        let records: Vec<u8> = arrangement.records(self).flatten().collect();
        let entries = self.entries.len() as u64;
        let (front, back) = (arrangement.front.as_ref(), arrangement.back.as_ref());
        if let Some(directory) = front {
            sink.put(&arrangement.readahead_bytes().to_le_bytes())?;
            sink.put(&records)?;
            sink.put(&end_records(sink.at, directory, entries, &[], false))?;
        } else {
            sink.copy(source, 0..self.prefix_bytes)?;
        }
        for placed in &arrangement.placed {
            if let Some(entry) = self.entries.get(placed.index) {
                put_entry(&mut sink, source, entry, placed)?;
            }
        }
        if back.is_some() {
            sink.put(&records)?;
        }
        if let Some(directory) = back.or(front) {
            let (comment, is_zip64) = (&self.end.comment, self.end.is_zip64);
            sink.put(&end_records(sink.at, directory, entries, comment, is_zip64))?;
        }
        sink.copy(source, self.end.range.end..self.size_bytes)?;
        sink.out.flush().map_err(Error::Write)?;
        Ok(sink.at)
    }

    /// Compares the contents of an archive with those of the one that it was made of.
    ///
    /// # Errors
    ///
    /// [`Corrupt`] with the first entry that differs.
    pub fn compare(
        &self,
        source: &dyn ReadAt,
        new: &Self,
        new_source: &dyn ReadAt,
    ) -> Result<(), Error> {
        let (found, expected) = (new.entries.len() as u64, self.entries.len() as u64);
        if found != expected {
            let (field, elsewhere) = ("entries", "in the old one");
            let rule = Rule::Disagrees {
                field,
                found,
                expected,
                elsewhere,
            };
            return Err(Corrupt::new("directory", new.end.directory.start, rule).into());
        }
        for (old, new) in self.entries.iter().zip(&new.entries) {
            let fail = |field, found, expected| {
                let elsewhere = "in the old archive";
                let rule = Rule::Disagrees {
                    field,
                    found,
                    expected,
                    elsewhere,
                };
                Err(Corrupt::new(entry_part(&new.name), new.range.start, rule).into())
            };
            if old.name != new.name {
                return fail("names", 1, 0);
            }
            let sums = (new.crc32.into(), old.crc32.into());
            if sums.0 != sums.1 || old.content_bytes != new.content_bytes {
                return fail("CRC", sums.0, sums.1);
            }
            let is_same = match old.content(source).read(&mut |_| Ok(())) {
                Ok(Verified::Whole) => {
                    new.content(new_source).read(&mut |_| Ok(()))? == Verified::Whole
                }
                // What cannot be read, or is damaged, was copied.
                _ => same_bytes((source, old.data()), (new_source, new.data()))?,
            };
            if !is_same {
                return fail("packed bytes", new.packed_bytes, old.packed_bytes);
            }
        }
        Ok(())
    }
}

fn put_entry(
    sink: &mut Sink<'_>,
    source: &dyn ReadAt,
    entry: &Entry,
    placed: &Placed,
) -> Result<(), Error> {
    let Some(header) = &placed.header else {
        return sink.copy(source, entry.range.clone());
    };
    sink.put(&header.bytes)?;
    if header.is_stored {
        entry.content(source).read(&mut |bytes| sink.put(bytes))?;
        return Ok(());
    }
    sink.copy(source, entry.data_start..entry.range.end)
}
