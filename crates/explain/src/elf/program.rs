//! What of an ELF file says where its parts lie and what touches them.

use std::collections::HashMap;

use coldpress_trace::{Coverage, PAGE_SIZE_BYTES};
use object::elf::SHF_ALLOC;
use object::read::{ReadRef, Result};
use object::{
    File, Object as _, ObjectSection as _, ObjectSegment as _, ObjectSymbol,
    ObjectSymbolTable as _, RelocationTarget, SectionFlags, SymbolIndex, SymbolKind,
};

use super::pages_of;

/// More than the largest browsers have; what a hostile file claims beyond is left out.
const RELOCATIONS_MAX: u64 = 20_000_000;
const FUNCTIONS_MAX: usize = 4_000_000;
const INITIALIZERS_MAX: u64 = 65_536;

/// An ELF file, as far as it matters here. Addresses are those of the file's own address space.
#[derive(Debug, Default)]
pub(super) struct Program {
    pub(super) sections: Vec<Section>,
    pub(super) segments: Vec<Segment>,
    /// By address.
    pub(super) functions: Vec<Function>,
    /// Pages of the file that hold something that is relocated.
    pub(super) relocated: Coverage,
    pub(super) relocation_count: u64,
    /// Addresses of the functions of `.init_array`, in order.
    pub(super) initializers: Vec<u64>,
}

/// A section that is loaded and has bytes in the file.
#[derive(Debug)]
pub(super) struct Section {
    pub(super) name: Vec<u8>,
    pub(super) offset: u64,
    pub(super) size_bytes: u64,
}

#[derive(Debug)]
pub(super) struct Segment {
    offset: u64,
    len_bytes: u64,
    address: u64,
}

/// A function.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Function {
    pub(super) address: u64,
    pub(super) size_bytes: u64,
    pub(super) name: Vec<u8>,
}

/// The `.init_array`.
struct Array {
    address: u64,
    bytes: Vec<u8>,
    /// What relocations put into it, by address.
    values: HashMap<u64, u64>,
}

impl Program {
    /// # Errors
    ///
    /// If the headers are damaged. Tables that are damaged are left out.
    pub(super) fn parse<'data>(data: impl ReadRef<'data>) -> Result<Self> {
        let file = File::parse(data)?;
        let mut program = Self {
            sections: sections(&file),
            segments: segments(&file),
            functions: functions(&file),
            ..Self::default()
        };
        let mut array = Array::find(&file);
        program.relocate(&file, &mut array);
        program.initializers = array.map_or_else(Vec::new, |array| array.functions(&file));
        Ok(program)
    }

    /// The byte of the file at an address.
    fn byte_at(&self, address: u64) -> Option<u64> {
        self.segments.iter().find_map(|segment| {
            let distance = address.checked_sub(segment.address)?;
            (distance < segment.len_bytes).then(|| segment.offset.saturating_add(distance))
        })
    }

    /// The address of a byte of the file.
    pub(super) fn address_at(&self, byte: u64) -> Option<u64> {
        self.segments.iter().find_map(|segment| {
            let distance = byte.checked_sub(segment.offset)?;
            (distance < segment.len_bytes).then(|| segment.address.saturating_add(distance))
        })
    }

    /// The function whose code an address is in.
    pub(super) fn function_at(&self, address: u64) -> Option<&Function> {
        let behind = self
            .functions
            .partition_point(|function| function.address <= address);
        let function = self.functions.get(behind.checked_sub(1)?)?;
        // One of unknown length ends where the next begins.
        let is_inside =
            function.size_bytes == 0 || address - function.address < function.size_bytes;
        is_inside.then_some(function)
    }

    /// The functions that begin in a page of the file, which segments may share.
    pub(super) fn functions_of_page(&self, page: u64) -> impl Iterator<Item = &Function> {
        let start = page.saturating_mul(PAGE_SIZE_BYTES);
        let end = start.saturating_add(PAGE_SIZE_BYTES);
        self.segments.iter().flat_map(move |segment| {
            let segment_end = segment.offset.saturating_add(segment.len_bytes);
            let (from, to) = (start.max(segment.offset), end.min(segment_end));
            let address = |byte: u64| {
                segment
                    .address
                    .saturating_add(byte.saturating_sub(segment.offset))
            };
            let (low, high) = (address(from), address(to));
            let first = self
                .functions
                .partition_point(|function| function.address < low);
            let functions = self.functions.iter().skip(first);
            functions.take_while(move |function| from < to && function.address < high)
        })
    }

    /// Pages with code of the functions of `.init_array`.
    pub(super) fn initializer_pages(&self) -> Coverage {
        let mut pages = Coverage::default();
        for &address in &self.initializers {
            let Some(byte) = self.byte_at(address) else {
                continue;
            };
            let function = self.function_at(address);
            let len_bytes = function.map_or(1, |function| function.size_bytes);
            let (first, last) = pages_of(byte, len_bytes);
            pages.cover(first, last, |_, _| ());
        }
        pages
    }

    /// Notes what is relocated, by `.rela.dyn`, `.rel.dyn` and `.relr.dyn`.
    fn relocate<'data, R: ReadRef<'data>>(
        &mut self,
        file: &File<'data, R>,
        array: &mut Option<Array>,
    ) {
        for (address, relocation) in file.dynamic_relocations().into_iter().flatten() {
            if !self.note_relocation(address) {
                return;
            }
            if let Some(array) = array
                && array.holds(address)
            {
                let addend = relocation.addend().cast_unsigned();
                let base = match relocation.target() {
                    RelocationTarget::Symbol(index) => symbol_address(file, index),
                    _ => 0,
                };
                let value = base.wrapping_add(addend);
                if value != 0 {
                    array.values.insert(address, value);
                }
            }
        }
        let packed = file.section_by_name(".relr.dyn");
        let packed = packed
            .and_then(|section| section.data().ok())
            .unwrap_or(&[]);
        let words = words(file, packed);
        let size_bytes = word_bytes(file);
        let bits = size_bytes * 8 - 1;
        let mut next = 0_u64;
        for word in words {
            if word & 1 == 0 {
                if !self.note_relocation(word) {
                    return;
                }
                next = word.wrapping_add(size_bytes);
                continue;
            }
            for bit in 0..bits {
                let address = next.wrapping_add(bit * size_bytes);
                if word >> (bit + 1) & 1 == 1 && !self.note_relocation(address) {
                    return;
                }
            }
            next = next.wrapping_add(bits * size_bytes);
        }
    }

    /// Returns false once there are too many.
    fn note_relocation(&mut self, address: u64) -> bool {
        self.relocation_count += 1;
        if let Some(byte) = self.byte_at(address) {
            let page = byte / PAGE_SIZE_BYTES;
            self.relocated.cover(page, page, |_, _| ());
        }
        self.relocation_count < RELOCATIONS_MAX
    }
}

impl Array {
    fn find<'data, R: ReadRef<'data>>(file: &File<'data, R>) -> Option<Self> {
        let section = file.section_by_name(".init_array")?;
        let bytes = section.data().ok()?;
        let max = usize::try_from(INITIALIZERS_MAX * 8).unwrap_or(usize::MAX);
        Some(Self {
            address: section.address(),
            bytes: bytes
                .get(..bytes.len().min(max))
                .unwrap_or_default()
                .to_vec(),
            values: HashMap::new(),
        })
    }

    fn holds(&self, address: u64) -> bool {
        let distance = address.checked_sub(self.address);
        distance.is_some_and(|distance| distance < self.bytes.len() as u64)
    }

    /// What stands in it after relocation; -1 and 0 are no functions.
    fn functions<'data, R: ReadRef<'data>>(&self, file: &File<'data, R>) -> Vec<u64> {
        let size_bytes = word_bytes(file);
        let slots = (0_u64..).zip(words(file, &self.bytes));
        let values = slots.map(|(index, word)| {
            let address = self.address.wrapping_add(index * size_bytes);
            self.values.get(&address).copied().unwrap_or(word)
        });
        values
            .filter(|value| ![0, u64::MAX, u64::from(u32::MAX)].contains(value))
            .collect()
    }
}

fn word_bytes<'data, R: ReadRef<'data>>(file: &File<'data, R>) -> u64 {
    if file.is_64() { 8 } else { 4 }
}

/// Words of the size of an address, in the byte order of the file.
fn words<'data, R: ReadRef<'data>>(file: &File<'data, R>, bytes: &[u8]) -> Vec<u64> {
    let size = if file.is_64() { 8 } else { 4 };
    let is_little_endian = file.is_little_endian();
    let word = |bytes: &[u8]| {
        let push = |word: u64, byte: &u8| word << 8 | u64::from(*byte);
        if is_little_endian {
            bytes.iter().rev().fold(0, push)
        } else {
            bytes.iter().fold(0, push)
        }
    };
    bytes.chunks_exact(size).map(word).collect()
}

fn symbol_address<'data, R: ReadRef<'data>>(file: &File<'data, R>, index: SymbolIndex) -> u64 {
    let table = file.dynamic_symbol_table();
    let symbol = table.and_then(|table| table.symbol_by_index(index).ok());
    symbol.map_or(0, |symbol| symbol.address())
}

fn sections<'data, R: ReadRef<'data>>(file: &File<'data, R>) -> Vec<Section> {
    let is_loaded = |flags: SectionFlags| match flags {
        SectionFlags::Elf { sh_flags } => sh_flags & u64::from(SHF_ALLOC) != 0,
        _ => false,
    };
    let sections = file.sections().filter_map(|section| {
        let (offset, size_bytes) = section.file_range()?;
        (is_loaded(section.flags()) && size_bytes > 0).then(|| Section {
            name: section.name_bytes().unwrap_or_default().to_vec(),
            offset,
            size_bytes,
        })
    });
    let mut sections: Vec<Section> = sections.collect();
    sections.sort_by_key(|section| section.offset);
    sections
}

fn segments<'data, R: ReadRef<'data>>(file: &File<'data, R>) -> Vec<Segment> {
    let segments = file.segments().map(|segment| {
        let (offset, len_bytes) = segment.file_range();
        Segment {
            offset,
            len_bytes,
            address: segment.address(),
        }
    });
    segments.collect()
}

/// Functions by address: of the symbol table, or, where that was stripped, those that are exported.
fn functions<'data, R: ReadRef<'data>>(file: &File<'data, R>) -> Vec<Function> {
    let all = file.symbols().filter_map(|symbol| function(&symbol));
    let mut functions: Vec<Function> = all.take(FUNCTIONS_MAX).collect();
    if functions.is_empty() {
        let exported = file
            .dynamic_symbols()
            .filter_map(|symbol| function(&symbol));
        functions = exported.take(FUNCTIONS_MAX).collect();
    }
    functions.sort_unstable();
    functions
}

fn function<'data>(symbol: &impl ObjectSymbol<'data>) -> Option<Function> {
    let is_function = symbol.kind() == SymbolKind::Text && symbol.is_definition();
    let name = symbol.name_bytes().ok().filter(|name| !name.is_empty())?;
    is_function.then(|| Function {
        address: symbol.address(),
        size_bytes: symbol.size(),
        name: name.to_vec(),
    })
}

#[cfg(test)]
mod tests;
