//! A file system made for tests: two trees, one file in a directory, and a boot record.

use coldpress_iso::{Error, Iso, SECTOR_BYTES, size_field};

pub(crate) const PRIMARY: usize = 16;
pub(crate) const JOLIET: usize = 18;
pub(crate) const ROOT: usize = 20;
pub(crate) const LIVE: usize = 21;
pub(crate) const JOLIET_ROOT: usize = 22;
pub(crate) const JOLIET_LIVE: usize = 23;
pub(crate) const CATALOG: usize = 24;
pub(crate) const DATA: usize = 26;
pub(crate) const SECTORS: usize = 30;
pub(crate) const FILE_BYTES: u32 = 3000;
const SECTOR: usize = 2048;

/// A directory record.
pub(crate) fn record(
    name: &[u8],
    block: usize,
    size_bytes: u32,
    flags: u8,
    extra: &[u8],
) -> Vec<u8> {
    let mut record = vec![0; 33];
    record[2..10].copy_from_slice(&size_field(u32::try_from(block).unwrap()));
    record[10..18].copy_from_slice(&size_field(size_bytes));
    record[25] = flags;
    record[32] = u8::try_from(name.len()).unwrap();
    record.extend_from_slice(name);
    if record.len() % 2 == 1 {
        record.push(0);
    }
    record.extend_from_slice(extra);
    record[0] = u8::try_from(record.len()).unwrap();
    record
}

/// An entry of Rock Ridge.
pub(crate) fn entry(signature: &[u8], content: &[u8]) -> Vec<u8> {
    let len = u8::try_from(4 + content.len()).unwrap();
    [signature, &[len, 1], content].concat()
}

/// Where the record of a file begins that comes after those of its directory and the one above.
pub(crate) const FIRST_RECORD: usize = 34 + 34;

pub(crate) struct Made(pub(crate) Vec<u8>);

impl Made {
    pub(crate) fn put(&mut self, sector: usize, at: usize, bytes: &[u8]) {
        let at = sector * SECTOR + at;
        self.0[at..at + bytes.len()].copy_from_slice(bytes);
    }

    /// Puts records into a sector, behind those of the directory itself and the one above.
    pub(crate) fn directory(&mut self, sector: usize, own: &[u8], records: &[Vec<u8>]) {
        self.put(sector, 0, &[0; SECTOR]);
        let own = record(&[0], sector, 2048, 2, own);
        let parent = record(&[1], sector, 2048, 2, &[]);
        let all = [own, parent, records.concat()].concat();
        self.put(sector, 0, &all);
    }

    pub(crate) fn read(&self) -> Result<Option<Iso>, Error> {
        let bytes = &self.0;
        Iso::read(
            &mut |start, part: &mut [u8]| {
                let start = usize::try_from(start).unwrap();
                part.copy_from_slice(&bytes[start..start + part.len()]);
                Ok(())
            },
            bytes.len() as u64,
        )
    }
}

fn descriptor(kind: u8, root: usize) -> Vec<u8> {
    let mut sector = vec![0; SECTOR];
    sector[0] = kind;
    sector[1..7].copy_from_slice(b"CD001\x01");
    sector[80..88].copy_from_slice(&size_field(u32::try_from(SECTORS).unwrap()));
    sector[128..132].copy_from_slice(&[0, 8, 8, 0]);
    sector[156..190].copy_from_slice(&record(&[0], root, 2048, 2, &[]));
    sector[830..846].copy_from_slice(b"2026112401020300");
    sector
}

fn utf16(name: &str) -> Vec<u8> {
    name.encode_utf16().flat_map(u16::to_be_bytes).collect()
}

/// `live/filesystem.squashfs` in the trees of Rock Ridge and Joliet, and a catalogue with one
/// image.
pub(crate) fn made() -> Made {
    let mut made = Made(vec![0; SECTORS * SECTOR]);
    made.put(PRIMARY, 0, &descriptor(1, ROOT));
    let mut boot = vec![0; SECTOR];
    boot[..30].copy_from_slice(b"\0CD001\x01EL TORITO SPECIFICATION");
    boot[71..75].copy_from_slice(&u32::try_from(CATALOG).unwrap().to_le_bytes());
    made.put(17, 0, &boot);
    let mut joliet = descriptor(2, JOLIET_ROOT);
    joliet[88..91].copy_from_slice(b"%/E");
    made.put(JOLIET, 0, &joliet);
    made.put(19, 0, b"\xffCD001\x01");
    let named = |name: &[u8]| entry(b"NM", &[&[0], name].concat());
    let live = record(b"LIVE", LIVE, 2048, 2, &named(b"live"));
    made.directory(ROOT, b"SP\x07\x01\xbe\xef\0", &[live]);
    let name = named(b"filesystem.squashfs");
    let file = record(b"FILESYST.SQU;1", DATA, FILE_BYTES, 0, &name);
    made.directory(LIVE, &[], &[file]);
    let live = record(&utf16("live"), JOLIET_LIVE, 2048, 2, &[]);
    made.directory(JOLIET_ROOT, &[], &[live]);
    let file = record(&utf16("filesystem.squashfs;1"), DATA, FILE_BYTES, 0, &[]);
    made.directory(JOLIET_LIVE, &[], &[file]);
    made.put(CATALOG, 32, b"\x88\0\0\0\0\0\x04\0\x19");
    assert_eq!(made.0.len() as u64, SECTORS as u64 * SECTOR_BYTES);
    made
}
