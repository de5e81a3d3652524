//! What samples hold, as a tar archive in memory: nothing of it is seen on a disk.

use std::fs::File;
use std::io::{self, Write};

use coldpress_host::Sample;

/// Unit of an archive.
const BLOCK_BYTES: usize = 512;

/// Writes an archive with the data and with empty files of all names.
///
/// # Errors
///
/// If there is no memory for it.
pub(super) fn write(data: &[u8], mut to: &File) -> io::Result<()> {
    to.write_all(&header(Sample::DATA, data.len()))?;
    to.write_all(data)?;
    let past = data.len() % BLOCK_BYTES;
    let padding = if past == 0 { 0 } else { BLOCK_BYTES - past };
    to.write_all(&vec![0; padding])?;
    let names: Vec<u8> = Sample::names().flat_map(|name| header(&name, 0)).collect();
    to.write_all(&names)?;
    to.write_all(&[0; 2 * BLOCK_BYTES])
}

/// The header of a regular file (POSIX.1-1988, ustar). Its time is 1970, so that images are the same each time.
fn header(name: &str, size_bytes: usize) -> Vec<u8> {
    let mut header = Vec::with_capacity(BLOCK_BYTES);
    let mut field = |text: &str, len: usize| {
        header.extend(text.bytes().chain(std::iter::repeat(0)).take(len));
    };
    field(name, 100);
    field("0000644", 8);
    field("0000000", 8);
    field("0000000", 8);
    field(&format!("{size_bytes:011o}"), 12);
    field("00000000000", 12);
    // While it is added up, the checksum is blanks.
    field("        ", 8);
    field("0", 1);
    field("", 100);
    field("ustar", 6);
    field("00", 2);
    field("", BLOCK_BYTES - 265);
    let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
    let checksum = format!("{sum:06o}\0 ");
    for (to, from) in header.iter_mut().skip(148).zip(checksum.bytes()) {
        *to = from;
    }
    header
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
        assert!(coldpress_build::is_tar(&path).unwrap());
        assert_eq!(archive.metadata().unwrap().len() % BLOCK_BYTES as u64, 0);
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
