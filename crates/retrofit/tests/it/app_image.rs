//! AppImages made for tests, and what is read of them.

use coldpress_retrofit::{AppImage, Section};

/// A whole image of SquashFS 4.0.
const IMAGE: &[u8] = include_bytes!("../../../image/tests/it/small-image");
/// Names and contents of the sections, in the order of the file.
const SECTIONS: [(&str, &[u8]); 5] = [
    (".text", &[0x90; 5000]),
    (".digest_md5", &[1; 16]),
    (".upd_info", &[0; 1024]),
    (".sha256_sig", &[0; 1024]),
    (".sig_key", &[0; 8192]),
];
const UPDATE: &[u8] = b"zsync|https://example.org/App.AppImage.zsync";

/// A program that states sections, where its parts are, and the image after it.
pub(crate) struct Made {
    pub(crate) bytes: Vec<u8>,
    /// First byte of each section, as in [`SECTIONS`].
    pub(crate) sections: Vec<usize>,
    /// First byte of the section headers: one that is empty, those of the sections, that of the
    /// names.
    pub(crate) headers: usize,
    /// Where the image begins.
    pub(crate) image: usize,
}

impl Made {
    pub(crate) fn put(&mut self, at: usize, bytes: &[u8]) {
        self.bytes[at..at + bytes.len()].copy_from_slice(bytes);
    }

    /// Byte of the file at which the header of a section has its place; the size comes next.
    pub(crate) fn header(&self, section: usize) -> usize {
        self.headers + (section + 1) * 64 + 24
    }

    pub(crate) fn open(&self) -> Result<Option<AppImage>, coldpress_retrofit::Error> {
        AppImage::open(&self.bytes)
    }
}

pub(crate) fn made() -> Made {
    let mut bytes = vec![0; 64];
    bytes[..11].copy_from_slice(b"\x7fELF\x02\x01\x01\0AI\x02");
    let mut names = vec![0];
    let mut headers = vec![0; 64];
    let mut sections = Vec::new();
    let mut header = |name: &[u8], names: &mut Vec<u8>, start: usize, len: usize| {
        let mut header = vec![0; 64];
        header[..4].copy_from_slice(&u32::try_from(names.len()).unwrap().to_le_bytes());
        header[24..32].copy_from_slice(&(start as u64).to_le_bytes());
        header[32..40].copy_from_slice(&(len as u64).to_le_bytes());
        names.extend_from_slice(name);
        names.push(0);
        headers.extend_from_slice(&header);
    };
    for (name, content) in SECTIONS {
        sections.push(bytes.len());
        header(name.as_bytes(), &mut names, bytes.len(), content.len());
        bytes.extend_from_slice(content);
    }
    let names_len = names.len() + ".shstrtab\0".len();
    header(b".shstrtab", &mut names, bytes.len(), names_len);
    bytes.extend_from_slice(&names);
    let start = bytes.len();
    bytes.extend_from_slice(&headers);
    bytes[40..48].copy_from_slice(&(start as u64).to_le_bytes());
    bytes[58..64].copy_from_slice(&[64, 0, 7, 0, 6, 0]);
    let image = bytes.len();
    bytes.extend_from_slice(IMAGE);
    let mut made = Made {
        bytes,
        sections,
        headers: start,
        image,
    };
    made.put(made.sections[2], UPDATE);
    made
}

#[test]
fn what_there_is_of_an_app_image() {
    let made = made();
    let read = made.open().unwrap().unwrap();
    assert_eq!(read.image().start, made.image as u64);
    assert_eq!(read.update_information(), Some(UPDATE));
    assert!(!read.is_signed());
    assert_eq!(read.content(Section::Key), None);
    let place = read.sections().place(Section::Key).unwrap();
    assert_eq!(
        place,
        made.sections[4] as u64..made.sections[4] as u64 + 8192
    );
}

#[test]
fn only_signature_and_digest_of_the_program_change() {
    let mut made = made();
    made.put(made.sections[3], b"-----BEGIN PGP SIGNATURE-----");
    made.put(made.sections[4], b"-----BEGIN PGP PUBLIC KEY BLOCK-----");
    let read = made.open().unwrap().unwrap();
    assert!(read.is_signed());
    let mut expected = made.bytes[..made.image].to_vec();
    expected[made.sections[1]..][..16].fill(0);
    expected[made.sections[3]..][..1024 + 8192].fill(0);
    assert_eq!(read.head(), expected);
}

#[test]
fn a_digest_does_not_depend_on_what_it_leaves_out() {
    let mut made = made();
    let read = made.open().unwrap().unwrap();
    let (place, digest) = read.digest(&made.bytes).unwrap().unwrap();
    assert_eq!(place, made.sections[1] as u64);
    // As `appimage_type2_digest_md5` of libappimage 1.0.4 computes it.
    assert_eq!(
        digest,
        [
            10, 145, 88, 190, 223, 88, 73, 88, 214, 62, 224, 39, 167, 185, 207, 147
        ]
    );
    made.put(made.sections[1], &digest);
    assert_eq!(read.digest(&made.bytes).unwrap().unwrap().1, digest);
}

#[test]
fn a_digest_that_was_not_there_is_not_added() {
    let mut made = made();
    made.put(made.sections[1], &[0; 16]);
    let read = made.open().unwrap().unwrap();
    assert_eq!(read.digest(&made.bytes).unwrap(), None);
}

#[test]
fn padding_is_part_of_an_app_image() {
    let mut made = made();
    let len = (made.bytes.len() - made.image).next_multiple_of(4096);
    let unpadded = IMAGE.len();
    made.bytes.resize(made.image + unpadded - 1 + 2, 0);
    assert!(!made.open().unwrap().unwrap().is_padded());
    made.bytes.resize(made.image + len, 0);
    assert!(made.open().unwrap().unwrap().is_padded());
}

#[test]
fn other_files_are_no_app_images() {
    let mut other = made();
    other.put(8, &[0; 3]);
    assert_eq!(other.open().unwrap(), None);
    other.bytes.truncate(63);
    assert_eq!(other.open().unwrap(), None);
    assert_eq!(AppImage::open(&Vec::new()).unwrap(), None);
    assert_eq!(AppImage::open(&IMAGE.to_vec()).unwrap(), None);
}
