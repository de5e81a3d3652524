//! Rows as lines or as a JSON array, each printed as it is found.

use std::io::Write;

use coldpress_report::text::{escaped, iso_utc, permissions};
use coldpress_session::ui::Stdout;

use super::row::Row;

/// Prints rows.
#[derive(Debug)]
pub(in crate::verbs) struct Printer {
    pub(in crate::verbs) out: Stdout,
    pub(in crate::verbs) json: bool,
    pub(in crate::verbs) long: bool,
    pub(in crate::verbs) full_paths: bool,
    /// Rows printed so far.
    pub(in crate::verbs) count: u64,
}

impl Printer {
    /// Prints a row.
    pub(in crate::verbs) fn print(&mut self, row: &Row) -> anyhow::Result<()> {
        if self.json {
            self.out
                .write_all(if self.count == 0 { b"[\n  " } else { b",\n  " })?;
            serde_json::to_writer(&mut self.out, row).map_err(std::io::Error::from)?;
        } else {
            let line = self.line(row);
            self.out.write_all(line.as_bytes())?;
        }
        self.count += 1;
        Ok(())
    }

    /// Ends the output.
    pub(in crate::verbs) fn finish(mut self) -> anyhow::Result<()> {
        if self.json {
            self.out
                .write_all(if self.count == 0 { b"[]\n" } else { b"\n]\n" })?;
        }
        self.out.flush()?;
        Ok(())
    }

    fn line(&self, row: &Row) -> String {
        let name = escaped(if self.full_paths {
            &row.path_bytes
        } else {
            row.name()
        });
        if !self.long {
            return format!("{name}\n");
        }
        let size = match row.device {
            Some((major, minor)) => format!("{major},{minor}"),
            None => row.size.to_string(),
        };
        let target = match &row.target_bytes {
            Some(target) => format!(" -> {}", escaped(target)),
            None => String::new(),
        };
        // Columns wide enough for most: aligning all would need the last row before the first.
        format!(
            "{letter}{mode} {links:>3} {uid:>5} {gid:>5} {size:>10} {time} {name}{target}\n",
            letter = row.letter,
            mode = permissions(row.mode_bits),
            links = row.links,
            uid = row.uid,
            gid = row.gid,
            time = iso_utc(row.mtime),
        )
    }
}
