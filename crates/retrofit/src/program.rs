//! The program at the beginning of an AppImage: where it ends, and its sections.

use std::ops::Range;

use coldpress_image::ReadAt;

use crate::error::{Error, Rule};
use crate::field::{number, read};

/// Runtimes have up to 1 MB; that of a file that lies is not read into memory.
const PROGRAM_MAX_BYTES: u64 = 64 << 20;
/// The longest name that matters is shorter.
const NAME_MAX_BYTES: usize = 16;
const HEADER: &str = "ELF header";

/// Where something is in a file.
pub type Place = Range<u64>;

/// A section that AppImages use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Section {
    /// Where updates are found.
    Update,
    /// A signature.
    Signature,
    /// The key of the signature.
    Key,
    /// A digest.
    Digest,
}

impl Section {
    const ALL: [Self; 4] = [Self::Update, Self::Signature, Self::Key, Self::Digest];

    /// As the program calls it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Update => ".upd_info",
            Self::Signature => ".sha256_sig",
            Self::Key => ".sig_key",
            Self::Digest => ".digest_md5",
        }
    }

    pub(crate) fn part(self) -> String {
        format!("section `{}`", self.name())
    }
}

/// Where the sections are that a program has; those of no bytes are none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sections {
    found: Vec<(Section, Place)>,
}

impl Sections {
    /// Where one is.
    pub fn place(&self, section: Section) -> Option<Place> {
        let found = self.found.iter().find(|(known, _)| *known == section);
        found.map(|(_, place)| place.clone())
    }
}

/// How section headers lie in the two classes of ELF files.
struct Class {
    /// Of the ELF header: where the table is, and the bytes of that number.
    table_at: usize,
    number_bytes: usize,
    /// Of the ELF header: bytes of a header, how many there are, and which has the names.
    counts_at: usize,
    /// Of a section header: where the section is; its size comes next.
    place_at: usize,
    header_bytes: u64,
}

const CLASS_32: Class = Class {
    table_at: 32,
    number_bytes: 4,
    counts_at: 46,
    place_at: 16,
    header_bytes: 40,
};
const CLASS_64: Class = Class {
    table_at: 40,
    number_bytes: 8,
    counts_at: 58,
    place_at: 24,
    header_bytes: 64,
};

/// The section headers of a program.
struct Table {
    class: Class,
    start: u64,
    count: u64,
    /// Which section has the names.
    names: u64,
    bytes: Vec<u8>,
}

impl Table {
    fn header(&self, index: u64) -> &[u8] {
        let len = usize::try_from(self.class.header_bytes).unwrap_or_default();
        let start = usize::try_from(index)
            .unwrap_or(usize::MAX)
            .saturating_mul(len);
        let end = start.saturating_add(len);
        self.bytes.get(start..end).unwrap_or_default()
    }

    /// First byte and size of a section.
    fn place(&self, index: u64) -> (u64, u64) {
        let Class {
            place_at,
            number_bytes,
            ..
        } = self.class;
        let header = self.header(index);
        let start = number(header, place_at, number_bytes);
        (start, number(header, place_at + number_bytes, number_bytes))
    }

    fn end(&self) -> u64 {
        self.start + self.bytes.len() as u64
    }

    fn header_start(&self, index: u64) -> u64 {
        self.start + index * self.class.header_bytes
    }
}

/// Reads the program of an AppImage and finds its sections.
///
/// The end is computed as the runtime does: that of the section headers, or that of the last
/// section if it is later.
///
/// * `start`: the first 64 bytes of the file.
///
/// # Errors
///
/// If the headers state what is not in the file, or places that cannot be written.
pub(crate) fn parse(
    source: &dyn ReadAt,
    start: &[u8; 64],
    file_bytes: u64,
) -> Result<(Vec<u8>, Sections), Error> {
    let table = table(source, start, file_bytes)?;
    let last = table.count - 1;
    let (place, size_bytes) = table.place(last);
    let end = place
        .checked_add(size_bytes)
        .filter(|end| *end <= file_bytes);
    let end = end.ok_or_else(|| {
        let rule = Rule::Outside {
            place,
            size_bytes,
            file_bytes,
        };
        Error::refused("section header", table.header_start(last), rule)
    })?;
    let end = end.max(table.end());
    let len = usize::try_from(end.min(PROGRAM_MAX_BYTES)).unwrap_or_default();
    if len as u64 != end {
        let limit = PROGRAM_MAX_BYTES;
        return Err(Error::refused(HEADER, 0, Rule::Long { end, limit }));
    }
    let mut program = vec![0; len];
    read(source, &mut program, 0)?;
    let sections = sections(&table, &program)?;
    Ok((program, sections))
}

fn table(source: &dyn ReadAt, start: &[u8; 64], file_bytes: u64) -> Result<Table, Error> {
    let class = match start[4..6] {
        [1, 1] => CLASS_32,
        [2, 1] => CLASS_64,
        _ => {
            let (class, order) = (start[4], start[5]);
            return Err(Error::refused(HEADER, 4, Rule::Class { class, order }));
        }
    };
    let place = number(start, class.table_at, class.number_bytes);
    let count_of = |index: usize| number(start, class.counts_at + 2 * index, 2);
    let (header_bytes, count, names) = (count_of(0), count_of(1), count_of(2));
    if count == 0 || header_bytes != class.header_bytes {
        let rule = Rule::Headers {
            count,
            header_bytes,
            expected: class.header_bytes,
        };
        return Err(Error::refused(HEADER, class.counts_at as u64, rule));
    }
    let size_bytes = count * header_bytes;
    if place
        .checked_add(size_bytes)
        .is_none_or(|end| end > file_bytes)
    {
        let rule = Rule::Outside {
            place,
            size_bytes,
            file_bytes,
        };
        return Err(Error::refused(HEADER, class.table_at as u64, rule));
    }
    if names >= count {
        let rule = Rule::Names {
            index: names,
            count,
        };
        return Err(Error::refused(HEADER, class.counts_at as u64 + 4, rule));
    }
    // At most 65535 headers of 64 bytes.
    let mut bytes = vec![0; usize::try_from(size_bytes).unwrap_or_default()];
    read(source, &mut bytes, place)?;
    Ok(Table {
        class,
        start: place,
        count,
        names,
        bytes,
    })
}

fn sections(table: &Table, program: &[u8]) -> Result<Sections, Error> {
    let (names_start, names_bytes) = table.place(table.names);
    let names = usize::try_from(names_start).ok().and_then(|start| {
        let end = start.checked_add(usize::try_from(names_bytes).ok()?)?;
        program.get(start..end)
    });
    let names = names.ok_or_else(|| {
        let rule = Rule::Outside {
            place: names_start,
            size_bytes: names_bytes,
            file_bytes: program.len() as u64,
        };
        Error::refused("section header", table.header_start(table.names), rule)
    })?;
    let mut sections = Sections::default();
    for index in 0..table.count {
        let name = usize::try_from(number(table.header(index), 0, 4)).unwrap_or(usize::MAX);
        let name = names.get(name..).unwrap_or_default();
        let name = name
            .iter()
            .take(NAME_MAX_BYTES)
            .take_while(|byte| **byte != 0);
        let known = Section::ALL
            .iter()
            .find(|known| name.clone().eq(known.name().as_bytes()));
        let (Some(section), (start, size_bytes @ 1..)) = (known, table.place(index)) else {
            continue;
        };
        let end = start
            .checked_add(size_bytes)
            .filter(|end| *end <= program.len() as u64);
        let Some(end) = end else {
            let rule = Rule::Outside {
                place: start,
                size_bytes,
                file_bytes: program.len() as u64,
            };
            return Err(Error::refused(
                section.part(),
                table.header_start(index),
                rule,
            ));
        };
        if sections.place(*section).is_some() {
            return Err(Error::refused(section.part(), start, Rule::Second));
        }
        check_free(&sections, table, *section, &(start..end))?;
        sections.found.push((*section, start..end));
    }
    Ok(sections)
}

/// Demands that a section that is written lies on nothing else.
fn check_free(
    sections: &Sections,
    table: &Table,
    section: Section,
    place: &Place,
) -> Result<(), Error> {
    let taken = [
        ("the ELF header", 0..64),
        ("the table of section headers", table.start..table.end()),
    ];
    let others = sections.found.iter();
    let others = others.map(|(other, place)| (other.name(), place.clone()));
    let mut taken = taken.into_iter().chain(others);
    let other = taken.find(|(_, taken)| place.start < taken.end && taken.start < place.end);
    let Some((other, _)) = other else {
        return Ok(());
    };
    let size_bytes = place.end - place.start;
    let rule = Rule::Overlap { size_bytes, other };
    Err(Error::refused(section.part(), place.start, rule))
}
