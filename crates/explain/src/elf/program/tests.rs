use super::*;

#[inline(never)]
fn own_program() -> Vec<u8> {
    std::fs::read("/proc/self/exe").unwrap()
}

#[test]
fn a_real_program_has_sections_functions_and_initializers() {
    let bytes = own_program();
    let program = Program::parse(bytes.as_slice()).unwrap();
    let section = |name: &[u8]| program.sections.iter().find(|section| section.name == name);
    let text = section(b".text").unwrap();
    assert!(text.size_bytes > 0x1000);
    // Debug information is not loaded.
    assert!(section(b".symtab").is_none());
    let own = b"own_program";
    let is_own = |function: &&Function| function.name.windows(own.len()).any(|part| part == own);
    let function = program.functions.iter().find(is_own).unwrap();
    let found = program.function_at(function.address + 1).unwrap();
    assert_eq!(found.address, function.address);
    let byte = program.byte_at(function.address).unwrap();
    assert_eq!(program.address_at(byte), Some(function.address));
    let mut of_page = program.functions_of_page(byte / PAGE_SIZE_BYTES);
    assert!(of_page.any(|other| other == function));
    assert!(program.relocation_count > 100);
    assert!(program.relocated.page_count() > 0);
    assert!(!program.initializers.is_empty());
    assert!(program.initializer_pages().page_count() > 0);
}

#[test]
fn damaged_programs_give_an_error_or_less() {
    // A small one; where it is missing or no ELF file, all are errors.
    let bytes = std::fs::read("/bin/true").unwrap_or_default();
    for len in [
        0,
        4,
        63,
        64,
        65,
        1000,
        bytes.len() / 2,
        bytes.len().saturating_sub(1),
    ] {
        let _ = Program::parse(bytes.get(..len).unwrap_or_default());
    }
    // The header and those of the segments: offsets, counts, sizes.
    for at in (16..0x200).step_by(3) {
        for value in [0, 0x7f, 0xff] {
            let mut bytes = bytes.clone();
            if let Some(byte) = bytes.get_mut(at) {
                *byte = value;
            }
            let _ = Program::parse(bytes.as_slice());
        }
    }
}

#[test]
fn functions_of_unknown_length_end_where_the_next_begins() {
    let function = |address, size_bytes| Function {
        address,
        size_bytes,
        name: vec![b'f'],
    };
    let program = Program {
        functions: vec![function(0x1000, 0), function(0x2000, 0x10)],
        ..Program::default()
    };
    for (address, expected) in [
        (0xfff, None),
        (0x1000, Some(0x1000)),
        (0x1fff, Some(0x1000)),
        (0x200f, Some(0x2000)),
        (0x2010, None),
    ] {
        let found = program
            .function_at(address)
            .map(|function| function.address);
        assert_eq!(found, expected, "{address:#x}");
    }
}
