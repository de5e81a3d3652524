//! Which pages of programs and libraries are mapped to be executed.

use coldpress_cost::{AccessSequence, Geometry};
use coldpress_format::Body;
use coldpress_image::Image;
use coldpress_trace::{Access, PAGE_SIZE_BYTES};
use object::elf::{FileHeader32, FileHeader64, PF_X, PT_LOAD};
use object::read::elf::{FileHeader, ProgramHeader as _};
use object::{Endianness, FileKind};

/// Program headers stand right behind the file's header, also those of the largest browsers.
const HEADERS_BYTES: usize = 4096;

/// Looks into the files of an image that a start faults on: the kernel reads code ahead otherwise
/// than data.
///
/// What is no program, or cannot be read, has no code.
///
/// # Cost
///
/// Reads the first block of each of these files.
pub fn note_executables(geometry: &mut Geometry, image: &Image, sequence: &AccessSequence) {
    let mut is_mapped = vec![false; sequence.paths.len()];
    for step in &sequence.steps {
        if let (Access::Fault { .. } | Access::Map { .. }, Some(is_mapped)) =
            (step.access, is_mapped.get_mut(step.path))
        {
            *is_mapped = true;
        }
    }
    for (path, _) in sequence.paths.iter().zip(is_mapped).filter(|(_, is)| *is) {
        if let Some(pages) = code(image, path) {
            geometry.set_executable(path, pages);
        }
    }
}

/// First and last pages of code in a file.
fn code(image: &Image, path: &[u8]) -> Option<Vec<(u64, u64)>> {
    let (_, inode) = image.find(path).ok()??;
    let Body::File(file) = inode.body else {
        return None;
    };
    let mut bytes = vec![0; HEADERS_BYTES];
    let len = image.read_at(&file, 0, &mut bytes).ok()?;
    bytes.truncate(len);
    executable_pages(&bytes)
}

/// First and last pages of code, by the beginning of a file; none if that is no ELF file.
pub fn executable_pages(bytes: &[u8]) -> Option<Vec<(u64, u64)>> {
    match FileKind::parse(bytes).ok()? {
        FileKind::Elf32 => segments::<FileHeader32<Endianness>>(bytes),
        FileKind::Elf64 => segments::<FileHeader64<Endianness>>(bytes),
        _ => None,
    }
}

fn segments<Header: FileHeader<Endian = Endianness>>(bytes: &[u8]) -> Option<Vec<(u64, u64)>> {
    let header = Header::parse(bytes).ok()?;
    let endian = header.endian().ok()?;
    let segments = header.program_headers(endian, bytes).ok()?.iter();
    let is_code = |segment: &&Header::ProgramHeader| {
        segment.p_type(endian) == PT_LOAD && segment.p_flags(endian) & PF_X != 0
    };
    let pages = segments.filter(is_code).filter_map(|segment| {
        let start = segment.p_offset(endian).into();
        let last = start
            .checked_add(segment.p_filesz(endian).into())?
            .checked_sub(1)?;
        (start <= last).then_some((start / PAGE_SIZE_BYTES, last / PAGE_SIZE_BYTES))
    });
    Some(pages.collect())
}
