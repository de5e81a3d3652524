//! What samples hold, as a tar archive in memory: nothing of it is seen on a disk.

use std::fs::File;
use std::io::{self, Write};

use coldpress_host::Sample;
use coldpress_image::{PlainEntry, write_tar_end, write_tar_entry};

/// The permission bits of all files.
const MODE: u16 = 0o644;
/// Their time, so that images are the same each time.
const TIME_S: u32 = 0;

/// Writes an archive with the data and with empty files of all names.
///
/// # Errors
///
/// If there is no memory for it.
pub(crate) fn write(data: &[u8], mut to: &File) -> io::Result<()> {
    let data = PlainEntry::File(data);
    write_tar_entry(&mut to, Sample::DATA.as_bytes(), MODE, TIME_S, data)?;
    let mut names = Vec::new();
    for name in Sample::names() {
        let empty = PlainEntry::File(b"");
        write_tar_entry(&mut names, name.as_bytes(), MODE, TIME_S, empty)?;
    }
    write_tar_end(&mut names)?;
    to.write_all(&names)
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use coldpress_host::{memory_file, path_of_open};

    use super::*;

    #[test]
    fn tar_lists_what_was_written() {
        let archive = memory_file().unwrap();
        write(&[7; 1000], &archive).unwrap();
        let path = path_of_open(&archive);
        assert!(coldpress_writer::is_tar(&path).unwrap());
        assert_eq!(archive.metadata().unwrap().len() % 512, 0);
        let mut tar = Command::new("tar");
        tar.arg("-t").stdin(Stdio::from(File::open(&path).unwrap()));
        let Ok(output) = tar.output() else {
            return;
        };
        assert!(output.status.success(), "{output:?}");
        let listed = String::from_utf8(output.stdout).unwrap();
        let names: Vec<&str> = listed.lines().collect();
        assert_eq!(names.first(), Some(&"data"));
        assert_eq!(names.last(), Some(&"names/63/63"));
        assert_eq!(names.len(), 1 + Sample::names().count());
    }
}
