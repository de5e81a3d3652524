use super::*;
use crate::image_map::tests::example;

const PAGE: u64 = 4096;
/// A multiple of the window, as far as it matters.
const BASE: u64 = 0x7f00_0000_0000;

fn touched(kinds: &[(u64, RawKind)]) -> Vec<(u64, Option<u64>, bool)> {
    let events: Vec<RawEvent> = kinds
        .iter()
        .map(|&(time_us, kind)| RawEvent {
            time_us,
            pid: 1,
            kind,
        })
        .collect();
    let found = touches(&events, &example());
    found
        .into_values()
        .flatten()
        .map(|touch| (touch.page, touch.byte, touch.is_fault))
        .collect()
}

fn fault_at(address: u64) -> RawKind {
    RawKind::UserFault {
        address,
        instruction: address,
    }
}

fn map(first_page: u64, last_page: u64) -> RawKind {
    RawKind::Map {
        inode: 1,
        first_page,
        last_page,
    }
}

fn page_fault(page: u64) -> RawKind {
    RawKind::Fault { inode: 1, page }
}

#[test]
fn a_fault_and_what_the_kernel_does_about_it_tell_the_byte() {
    let at = |page, offset| BASE + page * PAGE + offset;
    for (what, kinds, expected) in [
        (
            "a page",
            vec![(0, fault_at(at(5, 7))), (3, page_fault(5))],
            vec![(5, Some(5 * PAGE + 7), true)],
        ),
        (
            "a window, where a page says where the file lies",
            vec![
                (0, fault_at(at(3, 9))),
                (3, map(0, 15)),
                (500, fault_at(at(20, 1))),
                (501, page_fault(20)),
            ],
            vec![
                (3, Some(3 * PAGE + 9), true),
                (20, Some(20 * PAGE + 1), true),
            ],
        ),
        (
            "windows that agree",
            vec![
                (0, fault_at(at(3, 9))),
                (3, map(0, 15)),
                (500, fault_at(at(20, 1))),
                (501, map(16, 31)),
            ],
            vec![
                (3, Some(3 * PAGE + 9), true),
                (20, Some(20 * PAGE + 1), true),
            ],
        ),
        (
            "a window that begins with its segment",
            vec![
                (0, fault_at(at(14, 9))),
                (3, map(9, 24)),
                (500, fault_at(at(40, 0))),
                (501, map(32, 47)),
                (600, fault_at(at(60, 0))),
                (601, map(48, 63)),
            ],
            vec![
                (14, Some(14 * PAGE + 9), true),
                (40, Some(40 * PAGE), true),
                (60, Some(60 * PAGE), true),
            ],
        ),
    ] {
        assert_eq!(touched(&kinds), expected, "{what}");
    }
}

#[test]
fn what_is_told_twice_is_one_touch_and_what_is_not_certain_none() {
    let at = |page, offset| BASE + page * PAGE + offset;
    for (what, kinds, expected) in [
        (
            "told twice",
            vec![(0, fault_at(at(5, 7))), (2, map(0, 15)), (3, page_fault(5))],
            vec![(5, Some(5 * PAGE + 7), true)],
        ),
        (
            "tried again after a read",
            vec![
                (0, fault_at(at(5, 7))),
                (3, page_fault(5)),
                (2_000, page_fault(5)),
            ],
            vec![(5, Some(5 * PAGE + 7), true)],
        ),
        (
            "of the kernel itself",
            vec![(0, page_fault(5))],
            vec![(5, None, true)],
        ),
        ("around nothing", vec![(0, map(0, 15))], vec![]),
        (
            "a window alone",
            vec![(0, fault_at(at(3, 9))), (3, map(0, 15))],
            vec![],
        ),
        (
            "much later",
            vec![(0, fault_at(at(5, 9))), (900, page_fault(5))],
            vec![(5, None, true)],
        ),
        (
            "after something else",
            vec![
                (0, fault_at(at(5, 9))),
                (
                    1,
                    RawKind::Read {
                        inode: 1,
                        first_page: 0,
                        last_page: 0,
                    },
                ),
                (2, page_fault(5)),
            ],
            vec![(5, None, true)],
        ),
    ] {
        assert_eq!(touched(&kinds), expected, "{what}");
    }
}

#[test]
fn instructions_are_known_where_their_window_was_mapped() {
    let by = |address, instruction| RawKind::UserFault {
        address,
        instruction,
    };
    let code = BASE + 2 * PAGE + 0x10;
    let kinds = [
        (0, by(code, code)),
        (1, map(0, 15)),
        (2, page_fault(2)),
        // Code in the window touches data of the same file elsewhere.
        (500, by(BASE + 40 * PAGE, BASE + 6 * PAGE + 0x20)),
        (501, page_fault(8)),
        // And code that is nowhere known does.
        (900, by(BASE + 41 * PAGE, 0x1234)),
        (901, page_fault(7)),
    ];
    assert_eq!(
        touched(&kinds),
        [
            (2, Some(2 * PAGE + 0x10), true),
            (6, Some(6 * PAGE + 0x20), false),
            (8, Some(8 * PAGE), true),
            (7, Some(7 * PAGE), true),
        ]
    );
}
