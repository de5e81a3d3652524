//! Programs and libraries, as images hold them.

use coldpress_explain::{PageUse, Touch, explain_elf_bytes};
use coldpress_trace::PAGE_SIZE_BYTES;

/// Touches that are made up.
const TOUCHES_MAX: usize = 64;

/// What a start did to a program is told, and the parts are no more than the whole.
pub(crate) fn elf(data: &[u8]) {
    let last_page = (data.len() as u64).div_ceil(PAGE_SIZE_BYTES);
    let mut pages = PageUse::default();
    pages.certain.cover(0, last_page / 2, |_, _| ());
    pages.perhaps.cover(last_page / 2, last_page, |_, _| ());
    // Where the bytes of the file say, inside of it and far away.
    let words = data.chunks_exact(8).take(TOUCHES_MAX);
    let touches = words.zip(0..).map(|(word, time_us)| {
        let word = word
            .iter()
            .fold(0_u64, |word, byte| word << 8 | u64::from(*byte));
        let byte = if word.is_multiple_of(3) {
            word
        } else {
            word % (data.len() as u64)
        };
        Touch {
            time_us,
            page: byte / PAGE_SIZE_BYTES,
            byte: word.is_multiple_of(2).then_some(byte),
            is_fault: !word.is_multiple_of(5),
        }
    });
    let touches: Vec<Touch> = touches.collect();
    let Ok(cost) = explain_elf_bytes(data, &pages, &touches) else {
        return;
    };
    assert!(cost.touched_relocated_pages <= cost.relocated_pages);
    assert!(cost.relocated_pages <= cost.relocations);
    assert!(cost.backward_faults <= cost.faults);
    assert!(cost.exact_touches <= touches.len() as u64);
    for section in &cost.sections {
        assert!(section.touched_pages + section.perhaps_touched_pages <= section.pages);
        assert!(section.touched_relocated_pages <= section.pages);
    }
}
