use coldpress_format::Body;
use coldpress_image::Image;

/// An archive that is put together.
#[derive(Clone, Default)]
pub(crate) struct Archive(Vec<u8>);

impl Archive {
    pub(crate) fn raw(mut self, block: &[u8; 512]) -> Self {
        self.0.extend(block);
        self
    }

    /// Data, filled up to whole blocks.
    pub(crate) fn data(mut self, data: &[u8]) -> Self {
        self.0.extend(data);
        self.0.resize(self.0.len().next_multiple_of(512), 0);
        self
    }

    /// A header that states a size, that of the data if it is 0, and data.
    pub(crate) fn entry(self, name: &str, kind: u8, size: u64, data: &[u8]) -> Self {
        let size = if size == 0 { data.len() as u64 } else { size };
        // `size` records of pax tell the size of an entry whose header says 0.
        let size = if name == "short" { 0 } else { size };
        self.raw(&header(name, kind, size)).data(data)
    }

    pub(crate) fn file(self, name: &str, data: &[u8]) -> Self {
        self.entry(name, b'0', 0, data)
    }

    /// A link, hard (`1`) or symbolic (`2`).
    pub(crate) fn link(self, name: &str, kind: u8, target: &str) -> Self {
        let mut block = header(name, kind, 0);
        block[157..157 + target.len()].copy_from_slice(target.as_bytes());
        set_checksum(&mut block);
        self.raw(&block)
    }

    pub(crate) fn device(self, name: &str, kind: u8, major: u64, minor: u64) -> Self {
        let mut block = header(name, kind, 0);
        octal(&mut block[329..337], major);
        octal(&mut block[337..345], minor);
        set_checksum(&mut block);
        self.raw(&block)
    }

    /// The archive without an end.
    pub(crate) fn bytes(self) -> Vec<u8> {
        self.0
    }

    /// The whole archive.
    pub(crate) fn end(mut self) -> Vec<u8> {
        self.0.extend([0; 1024]);
        self.0
    }
}

/// A POSIX header: mode 644, owner 1, group 2, time 9.
pub(crate) fn header(name: &str, kind: u8, size: u64) -> [u8; 512] {
    let mut block = [0; 512];
    block[..name.len()].copy_from_slice(name.as_bytes());
    octal(&mut block[100..108], 0o644);
    octal(&mut block[108..116], 1);
    octal(&mut block[116..124], 2);
    octal(&mut block[124..136], size);
    octal(&mut block[136..148], 9);
    block[156] = kind;
    block[257..265].copy_from_slice(b"ustar\x0000");
    set_checksum(&mut block);
    block
}

pub(crate) fn octal(field: &mut [u8], number: u64) {
    let width = field.len() - 1;
    let digits = format!("{number:0width$o}");
    field[..width].copy_from_slice(digits.as_bytes());
}

pub(crate) fn set_checksum(block: &mut [u8; 512]) {
    block[148..156].fill(b' ');
    let sum = block.iter().map(|byte| u64::from(*byte)).sum();
    octal(&mut block[148..155], sum);
}

/// Records of a pax header.
pub(crate) fn pax(pairs: &[(&str, &str)]) -> Vec<u8> {
    let record = |(key, value): &(&str, &str)| {
        let content = key.len() + value.len() + 3;
        let mut lengths = content + 1..content + 9;
        let len = lengths.find(|len| content + len.to_string().len() == *len);
        format!("{} {key}={value}\n", len.unwrap())
    };
    pairs.iter().map(record).collect::<String>().into_bytes()
}

/// The bytes of a file in the root directory of an image.
pub(crate) fn content(image: &Image, name: &[u8]) -> Vec<u8> {
    let root = image.inode(image.superblock().root_inode).unwrap();
    let Body::Directory(directory) = root.body else {
        panic!("the root is a directory");
    };
    let entries = image.entries(&directory).unwrap();
    let entry = entries.iter().find(|entry| entry.name == name).unwrap();
    let Body::File(file) = image.inode(entry.inode).unwrap().body else {
        panic!("it is a file");
    };
    let mut content = Vec::new();
    image
        .for_each_block(&file, &mut |block| -> Result<(), coldpress_image::Error> {
            match block {
                coldpress_image::FileBlock::Data(bytes) => content.extend(bytes),
                coldpress_image::FileBlock::Hole(len) => {
                    content.resize(content.len() + usize::try_from(len).unwrap(), 0);
                }
            }
            Ok(())
        })
        .unwrap();
    content
}
