//! Images and their records.

use std::ops::ControlFlow;

use coldpress_format::{
    BlockSize, IndexEntry, Inode, PackHeader, PackIndex, PackPiece, Superblock, XattrId,
    XattrTable, parse_listing, write_listing,
};
use coldpress_image::{Error, FileBlock, Image, MetadataMap, check, walk};

use crate::descriptions::describe;

/// Bytes that are read of each file.
const READ_BYTES: u64 = 1 << 20;
/// Paths that are visited: a name more is no news.
const VISITS: usize = 2000;

/// Opens an image, walks, reads, checks and describes it.
pub(crate) fn image(data: &[u8]) {
    let Ok(image) = Image::new(Box::new(data.to_vec())) else {
        return;
    };
    let mut damaged = None;
    let mut visits = 0;
    let walked = walk(&image, &mut |visited| {
        visits += 1;
        if visits > VISITS {
            return Err(Error::Interrupted);
        }
        let read = image.owner(visited.inode).err();
        let read = read.or(image.xattrs(visited.inode).err());
        let _ = image.exported(visited.inode.number);
        damaged = damaged.take().or(read);
        let read = match visited.file(&image) {
            Ok(Some(file)) => read_file(&image, &file).err(),
            Ok(None) => None,
            Err(error) => Some(error),
        };
        damaged = damaged.take().or(read);
        Ok(())
    });
    if visits > VISITS {
        return;
    }
    let _ = MetadataMap::new(&image);
    describe(&image, data);
    let problems = check(&image, &mut |_| ControlFlow::Continue(())).expect("nobody interrupts");
    for problem in &problems {
        assert!(!problem.to_string().is_empty(), "a problem has a text");
    }
    assert!(
        (walked.is_ok() && damaged.is_none()) || !problems.is_empty(),
        "a check finds nothing: {walked:?} {damaged:?}"
    );
}

/// Reads the beginning and the end of a file, and pieces from the beginning.
fn read_file(image: &Image, file: &coldpress_format::File) -> Result<(), Error> {
    let mut buf = [0; 5000];
    image.read_at(file, 3000, &mut buf)?;
    image.read_at(file, file.size_bytes.saturating_sub(10), &mut buf)?;
    let mut left = READ_BYTES;
    let read = image.for_each_block(file, &mut |block| {
        let len = match block {
            FileBlock::Data(data) => data.len() as u64,
            FileBlock::Hole(len) => len,
        };
        left = left.checked_sub(len).ok_or(Error::Interrupted)?;
        Ok(())
    });
    match read {
        Err(Error::Interrupted) => Ok(()),
        read => read,
    }
}

/// Parses bytes as each record of the format. A listing that is read is written and read again.
pub(crate) fn listing(data: &[u8]) {
    let _ = Superblock::parse(data);
    let _ = XattrTable::parse(data, 4096);
    let _ = XattrId::parse(data, 0);
    if let Some(fixed) = data.first_chunk() {
        let _ = IndexEntry::parse_fixed(fixed, 0);
    }
    if let Ok((mut inode, taken, _)) = Inode::parse_fixed(data, BlockSize::MIN, 0) {
        let rest = data.get(taken..).unwrap_or_default();
        let _ = inode.read_block_list(rest, BlockSize::MIN, 0);
        let _ = inode.read_target(rest, rest.first_chunk().copied(), 0);
    }
    if let Ok(entries) = parse_listing(data, 0) {
        let again = write_listing(&entries, 0);
        assert_eq!(parse_listing(&again.bytes, 0).as_ref(), Ok(&entries));
    }
}

/// Parses bytes as each record of a start pack; digests are taken for right. An index that is read
/// is written and read again.
pub(crate) fn start_pack(data: &[u8]) {
    let stated = data.get(96..).and_then(|rest| rest.first_chunk().copied());
    let header = PackHeader::parse(data, |_| stated.unwrap_or_default(), 0);
    if let Ok(header) = header {
        assert!(header.pieces_offset() <= header.size_bytes, "{header:?}");
    }
    let entries = data.chunks(PackPiece::SIZE);
    let entries = entries.map_while(|bytes| PackPiece::parse(bytes, 0).ok());
    let pieces: Vec<PackPiece> = entries.collect();
    let Ok(index) = PackIndex::parse(data, 0) else {
        return;
    };
    assert_eq!(PackIndex::parse(&index.write(), 0).as_ref(), Ok(&index));
    let _ = index.places(&pieces, 0);
    let len = index.runs.iter().map(|run| index.run_bytes(run));
    let len = len.fold(0_u64, u64::saturating_add);
    // All in one piece, if they have room there.
    if let Some(piece) = u32::try_from(len).ok().and_then(whole) {
        let places = index.places(&[piece], 0).expect("the runs fill the piece");
        assert_eq!(places.len(), index.runs.len());
    }
}

fn whole(len_bytes: u32) -> Option<PackPiece> {
    let mut bytes = [0; PackPiece::SIZE];
    bytes[0] = 1;
    bytes[4..8].copy_from_slice(&len_bytes.to_le_bytes());
    PackPiece::parse(&bytes, 0).ok()
}
