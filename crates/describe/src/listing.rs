//! Files as lines or as a JSON array, each written as it is found.

use std::io::{self, Write};

use crate::file::FileFacts;
use coldpress_report::text::{escaped, iso_utc, permissions};

/// Writes what is known of files, as `coldpress ls` and `coldpress find` do.
#[derive(Debug)]
pub struct Listing<W> {
    /// Where to.
    pub out: W,
    /// As a JSON array instead of lines.
    pub json: bool,
    /// With metadata, as `ls -l`.
    pub long: bool,
    /// Paths instead of names.
    pub full_paths: bool,
    /// Files written so far.
    pub count: u64,
}

impl<W: Write> Listing<W> {
    /// Writes a file.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn write(&mut self, file: &FileFacts) -> io::Result<()> {
        if self.json {
            self.out
                .write_all(if self.count == 0 { b"[\n  " } else { b",\n  " })?;
            serde_json::to_writer(&mut self.out, file)?;
        } else {
            let line = self.line(file);
            self.out.write_all(line.as_bytes())?;
        }
        self.count += 1;
        Ok(())
    }

    /// Ends the output.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn finish(mut self) -> io::Result<()> {
        if self.json {
            self.out
                .write_all(if self.count == 0 { b"[]\n" } else { b"\n]\n" })?;
        }
        self.out.flush()?;
        Ok(())
    }

    fn line(&self, file: &FileFacts) -> String {
        let name = escaped(if self.full_paths {
            &file.path_bytes
        } else {
            file.name()
        });
        if !self.long {
            return format!("{name}\n");
        }
        let size = match file.device {
            Some((major, minor)) => format!("{major},{minor}"),
            None => file.size.to_string(),
        };
        let target = match &file.target_bytes {
            Some(target) => format!(" -> {}", escaped(target)),
            None => String::new(),
        };
        // Columns wide enough for most: aligning all would need the last row before the first.
        format!(
            "{letter}{mode} {links:>3} {uid:>5} {gid:>5} {size:>10} {time} {name}{target}\n",
            letter = file.letter,
            mode = permissions(file.mode_bits),
            links = file.links,
            uid = file.uid,
            gid = file.gid,
            time = iso_utc(file.mtime),
        )
    }
}
