//! What a start did to one program or library.

mod file_bytes;
mod program;
mod symbol_order;

use coldpress_format::Body;
use coldpress_image::Image;
use coldpress_trace::{Coverage, PAGE_SIZE_BYTES};
use serde::{Serialize, Serializer};

use crate::image_map::ImageMap;
use crate::page_use::PageUse;
use crate::touches::Touch;
use file_bytes::FileBytes;
use program::{Program, Section};

const MAGIC: &[u8; 4] = b"\x7fELF";

/// Why a program cannot be explained.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ElfError {
    /// There is no such file in the image.
    #[error("it is not in the image")]
    NotFound,
    /// It cannot be read.
    #[error(transparent)]
    Image(#[from] coldpress_image::Error),
    /// It is a damaged program.
    #[error("it is a damaged ELF file: {0}")]
    Damaged(#[from] object::read::Error),
}

/// What a start did to an ELF file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ElfCost {
    /// Its sections in the order of the file; those that are not loaded are left out.
    pub sections: Vec<SectionCost>,
    /// Relocations that the dynamic loader applies before anything runs.
    pub relocations: u64,
    /// Pages that hold something that is relocated.
    pub relocated_pages: u64,
    /// Of them, pages that were touched, certainly or perhaps.
    pub touched_relocated_pages: u64,
    /// Functions of `.init_array`, which run before `main`.
    pub initializers: Vec<Initializer>,
    /// Touched pages with code of these functions.
    pub touched_initializer_pages: u64,
    /// Page faults on it, each page that was faulted on again too.
    pub faults: u64,
    /// Of them, on a page before that of the fault before.
    pub backward_faults: u64,
    /// Touches of which the address is known.
    pub exact_touches: u64,
    /// Functions that it names.
    pub functions: u64,
    /// Names of functions in the order in which they were first needed.
    #[serde(skip)]
    pub order: Vec<Vec<u8>>,
}

/// What a start did to a section. A page that sections share counts for each.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SectionCost {
    /// Its name.
    #[serde(serialize_with = "lossy")]
    pub name: Vec<u8>,
    /// Its length.
    pub size_bytes: u64,
    /// Pages that it has bytes on.
    pub pages: u64,
    /// Of them, read or faulted on.
    pub touched_pages: u64,
    /// Of them, mapped in passing around a fault, and perhaps used.
    pub perhaps_touched_pages: u64,
    /// Of the touched ones, certainly or perhaps, those in which something is relocated.
    pub touched_relocated_pages: u64,
}

/// A function that runs before `main`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Initializer {
    /// Its address in the file's own address space.
    pub address: u64,
    /// Its name, if the file has one for it.
    #[serde(serialize_with = "lossy_option")]
    pub name: Option<Vec<u8>>,
}

fn lossy<S: Serializer>(name: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&String::from_utf8_lossy(name))
}

#[expect(clippy::ref_option, reason = "serde hands over a reference")]
fn lossy_option<S: Serializer>(name: &Option<Vec<u8>>, serializer: S) -> Result<S::Ok, S::Error> {
    match name {
        Some(name) => lossy(name, serializer),
        None => serializer.serialize_none(),
    }
}

/// Tells what a start did to a file, if that is an ELF file.
///
/// * `file`: its index in [`ImageMap::files`].
/// * `pages`, `touches`: of this file.
///
/// # Errors
///
/// [`ElfError`] if it cannot be read or is damaged.
///
/// # Cost
///
/// Reads headers, symbols and relocations, at most some 100 MiB of each.
pub fn explain_elf(
    image: &Image,
    map: &ImageMap,
    file: usize,
    pages: &PageUse,
    touches: &[Touch],
) -> Result<Option<ElfCost>, ElfError> {
    let mapped = map.files().get(file).ok_or(ElfError::NotFound)?;
    let found = image.find(&mapped.path)?;
    let Some(Body::File(file)) = found.map(|(_, inode)| inode.body) else {
        return Err(ElfError::NotFound);
    };
    let mut magic = [0; MAGIC.len()];
    let len = image.read_at(&file, 0, &mut magic)?;
    if len < magic.len() || magic != *MAGIC {
        return Ok(None);
    }
    let bytes = FileBytes::new(image, &file);
    let program = Program::parse(bytes.reference())?;
    Ok(Some(cost(&program, pages, touches)))
}

/// The same of an ELF file in memory.
///
/// # Errors
///
/// [`ElfError::Damaged`] if it is damaged, or no ELF file.
pub fn explain_elf_bytes(
    bytes: &[u8],
    pages: &PageUse,
    touches: &[Touch],
) -> Result<ElfCost, ElfError> {
    Ok(cost(&Program::parse(bytes)?, pages, touches))
}

fn cost(program: &Program, pages: &PageUse, touches: &[Touch]) -> ElfCost {
    let certain = certain(pages, touches);
    let mut used = pages.used();
    for (first, last) in certain.runs() {
        used.cover(first, last, |_, _| ());
    }
    let sections = program.sections.iter();
    let sections = sections.map(|section| section_cost(section, program, &certain, &used));
    let faults: Vec<u64> = touches
        .iter()
        .filter(|touch| touch.is_fault)
        .map(|touch| touch.page)
        .collect();
    let backward = faults.windows(2).filter(|pair| pair[1] < pair[0]);
    let initializers = program.initializers.iter().map(|&address| Initializer {
        address,
        name: program
            .function_at(address)
            .map(|function| function.name.clone()),
    });
    ElfCost {
        sections: sections.collect(),
        relocations: program.relocation_count,
        relocated_pages: program.relocated.page_count(),
        touched_relocated_pages: common(&program.relocated, &used),
        initializers: initializers.collect(),
        touched_initializer_pages: common(&program.initializer_pages(), &used),
        faults: faults.len() as u64,
        backward_faults: backward.count() as u64,
        exact_touches: touches.iter().filter(|touch| touch.byte.is_some()).count() as u64,
        functions: program.functions.len() as u64,
        order: symbol_order::symbol_order(program, touches),
    }
}

/// Pages that were read, or of which it is known that they were faulted on.
fn certain(pages: &PageUse, touches: &[Touch]) -> Coverage {
    let mut certain = pages.certain.clone();
    for touch in touches {
        certain.cover(touch.page, touch.page, |_, _| ());
    }
    certain
}

fn section_cost(
    section: &Section,
    program: &Program,
    certain: &Coverage,
    used: &Coverage,
) -> SectionCost {
    let (first, last) = pages_of(section.offset, section.size_bytes);
    let touched_pages = certain.count_in(first, last);
    let touched = used.runs_in(first, last);
    SectionCost {
        name: section.name.clone(),
        size_bytes: section.size_bytes,
        pages: last - first + 1,
        touched_pages,
        perhaps_touched_pages: used.count_in(first, last).saturating_sub(touched_pages),
        touched_relocated_pages: touched
            .map(|(first, last)| program.relocated.count_in(first, last))
            .sum(),
    }
}

/// Pages that two sets have in common.
fn common(one: &Coverage, other: &Coverage) -> u64 {
    let runs = one.runs();
    runs.map(|(first, last)| other.count_in(first, last)).sum()
}

/// First and last page of a range of bytes; of an empty one the page at which it would begin.
fn pages_of(offset: u64, len_bytes: u64) -> (u64, u64) {
    let last = offset.saturating_add(len_bytes.max(1) - 1);
    (offset / PAGE_SIZE_BYTES, last / PAGE_SIZE_BYTES)
}

#[cfg(test)]
mod tests;
