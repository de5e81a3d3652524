//! Archives as any tool could have written them.

use std::io::Write as _;

use coldpress_archive::{Error, Layout, Settings, Storing, Zip};
use flate2::write::DeflateEncoder;
use flate2::{Compression, Crc};

/// An entry to be written.
#[derive(Clone, Debug)]
pub(crate) struct Made {
    pub(crate) name: Vec<u8>,
    pub(crate) content: Vec<u8>,
    pub(crate) deflates: bool,
    /// Sizes and CRC follow the data.
    pub(crate) is_described: bool,
    /// Sizes of 64 bits, needed or not.
    pub(crate) is_wide: bool,
    pub(crate) comment: Vec<u8>,
}

impl Made {
    pub(crate) fn new(name: &str, content: &[u8]) -> Self {
        Self {
            name: name.into(),
            content: content.to_vec(),
            deflates: false,
            is_described: false,
            is_wide: false,
            comment: Vec::new(),
        }
    }

    fn packed(&self) -> Vec<u8> {
        if !self.deflates {
            return self.content.clone();
        }
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
        encoder
            .write_all(&self.content)
            .expect("a vector takes all");
        encoder.finish().expect("a vector takes all")
    }
}

/// What stands around the entries.
#[derive(Clone, Debug, Default)]
pub(crate) struct Around {
    pub(crate) prefix: Vec<u8>,
    /// Whether positions count from the end of the prefix.
    pub(crate) is_shifted: bool,
    pub(crate) gap: Vec<u8>,
    pub(crate) comment: Vec<u8>,
    pub(crate) trailing: Vec<u8>,
    pub(crate) is_zip64: bool,
}

fn le16(number: usize) -> [u8; 2] {
    u16::try_from(number).unwrap_or(u16::MAX).to_le_bytes()
}

fn le32(number: usize) -> [u8; 4] {
    u32::try_from(number).expect("it is small").to_le_bytes()
}

/// An entry with what is stated of it twice.
struct Stated<'a> {
    made: &'a Made,
    packed: Vec<u8>,
    crc32: [u8; 4],
    sizes: [usize; 2],
    extra: Vec<u8>,
}

impl<'a> Stated<'a> {
    fn new(made: &'a Made) -> Self {
        let (packed, mut crc) = (made.packed(), Crc::new());
        crc.update(&made.content);
        let sizes = [packed.len(), made.content.len()];
        let mut extra = b"UT\x05\x00\x01\x00\x00\x00\x00".to_vec();
        if made.is_wide {
            extra.extend([1, 0, 16, 0]);
            let wide = sizes.into_iter().rev();
            extra.extend(wide.flat_map(|size| (size as u64).to_le_bytes()));
        }
        Self {
            made,
            packed,
            crc32: crc.sum().to_le_bytes(),
            sizes,
            extra,
        }
    }

    fn fields(&self, is_open: bool) -> Vec<u8> {
        let made = self.made;
        let mut fields = vec![20, 0];
        fields.extend([
            u8::from(made.is_described) * 8,
            0,
            u8::from(made.deflates) * 8,
            0,
        ]);
        fields.extend([0x21, 0x43, 0x65, 0x57]);
        fields.extend(if is_open { [0; 4] } else { self.crc32 });
        for size in self.sizes {
            fields.extend(match (made.is_wide, is_open) {
                (true, _) => [0xff; 4],
                (false, true) => [0; 4],
                (false, false) => le32(size),
            });
        }
        fields.extend(le16(made.name.len()));
        fields.extend(le16(self.extra.len()));
        fields
    }

    fn local(&self) -> Vec<u8> {
        let mut out = b"PK\x03\x04".to_vec();
        out.extend(self.fields(self.made.is_described));
        out.extend([self.made.name.as_slice(), &self.extra, &self.packed].concat());
        if self.made.is_described {
            out.extend(b"PK\x07\x08");
            out.extend(self.crc32);
            for size in self.sizes {
                let width = if self.made.is_wide { 8 } else { 4 };
                out.extend(&(size as u64).to_le_bytes()[..width]);
            }
        }
        out
    }

    fn record(&self, start: usize) -> Vec<u8> {
        let mut out = b"PK\x01\x02\x14\x03".to_vec();
        out.extend(self.fields(false));
        out.extend(le16(self.made.comment.len()));
        out.extend([0, 0, 0, 0, 0, 0, 0xa4, 0x81]);
        out.extend(le32(start));
        out.extend([self.made.name.as_slice(), &self.extra, &self.made.comment].concat());
        out
    }
}

pub(crate) fn zip(entries: &[Made], around: &Around) -> Vec<u8> {
    let mut out = around.prefix.clone();
    let base = if around.is_shifted { out.len() } else { 0 };
    let mut directory = Vec::new();
    for entry in entries {
        let stated = Stated::new(entry);
        directory.extend(stated.record(out.len() - base));
        out.extend(stated.local());
    }
    out.extend(&around.gap);
    let (start, len, count) = (out.len() - base, directory.len(), entries.len());
    out.extend(&directory);
    if around.is_zip64 {
        let at = out.len() - base;
        out.extend(b"PK\x06\x06\x2c\0\0\0\0\0\0\0\x2d\0\x2d\0\0\0\0\0\0\0\0\0");
        for field in [count, count, len, start] {
            out.extend((field as u64).to_le_bytes());
        }
        out.extend(b"PK\x06\x07\0\0\0\0");
        out.extend((at as u64).to_le_bytes());
        out.extend([1, 0, 0, 0]);
    }
    out.extend(b"PK\x05\x06\0\0\0\0");
    if around.is_zip64 {
        out.extend([0xff; 12]);
    } else {
        // Old tools let the number of entries overflow.
        let count = le16(count % 0x1_0000);
        out.extend([count, count].concat());
        out.extend([le32(len), le32(start)].concat());
    }
    out.extend(le16(around.comment.len()));
    out.extend(&around.comment);
    out.extend(&around.trailing);
    out
}

/// Four entries, two of them compressed.
pub(crate) fn four() -> Vec<Made> {
    let deflated = |name, content: &[u8]| Made {
        deflates: true,
        ..Made::new(name, content)
    };
    vec![
        Made::new("a", b"first"),
        deflated("b/c", &[7; 9000]),
        Made::new("d", b""),
        deflated("e", b"the fourth, the fourth, the fourth"),
    ]
}

pub(crate) const PLAIN: Settings = Settings {
    layout: Layout::Tail,
    storing: Storing::Nothing,
    align_bytes: 0,
    takes_signed: false,
};

pub(crate) fn with_layout(layout: Layout) -> Settings {
    Settings { layout, ..PLAIN }
}

pub(crate) fn read(file: &[u8]) -> Zip {
    Zip::read(&file)
        .expect("it is sound")
        .expect("it is a ZIP archive")
}

/// The archive in another order.
pub(crate) fn order(file: &[u8], hot: &[usize], settings: Settings) -> Result<Vec<u8>, Error> {
    let zip = read(file);
    let arrangement = zip.arrange(&file, hot, settings)?;
    let mut out = Vec::new();
    let poll = &mut |_| std::ops::ControlFlow::Continue(());
    let written = zip.write(&file, &arrangement, &mut out, poll)?;
    assert_eq!(written, out.len() as u64);
    Ok(out)
}

pub(crate) fn names(zip: &Zip) -> Vec<String> {
    let names = zip
        .by_place()
        .map(|entry| String::from_utf8_lossy(&entry.name).into_owned());
    names.collect()
}
