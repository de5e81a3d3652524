use super::*;
use crate::image_map::tests::example;

fn uses(kinds: &[RawKind]) -> HashMap<usize, PageUse> {
    let events: Vec<RawEvent> = (0..)
        .zip(kinds)
        .map(|(time_us, &kind)| RawEvent {
            time_us,
            pid: 1,
            kind,
        })
        .collect();
    page_uses(&events, &example())
}

fn cache(inode: u64, first_page: u64, last_page: u64) -> RawKind {
    RawKind::Cache {
        inode,
        first_page,
        last_page,
    }
}

fn read(inode: u64, first_page: u64, last_page: u64) -> RawKind {
    RawKind::Read {
        inode,
        first_page,
        last_page,
    }
}

fn runs(pages: &Coverage) -> Vec<(u64, u64)> {
    pages.runs().collect()
}

#[test]
fn what_came_in_and_was_not_used_came_in_vain() {
    let found = uses(&[
        cache(1, 0, 3),
        RawKind::Fault { inode: 1, page: 1 },
        RawKind::Map {
            inode: 1,
            first_page: 1,
            last_page: 2,
        },
        // Programs ask for more than there is.
        read(1, 8, 40),
        cache(1, 8, 11),
        cache(1, 2, 4),
        // No file of the image.
        cache(77, 0, 0),
    ]);
    assert_eq!(found.len(), 1);
    let pages = &found[&0];
    assert_eq!(runs(&pages.certain), [(1, 1), (8, 8)]);
    assert_eq!(runs(&pages.perhaps), [(1, 2)]);
    assert_eq!(runs(&pages.used()), [(1, 2), (8, 8)]);
    assert_eq!(runs(&pages.cached), [(0, 4), (8, 11)]);
    // Pages 0, 3, 4, and three past the end.
    assert_eq!(pages.unused_pages(), 6);
    assert_eq!((pages.cached_again, pages.accesses), (2, 2));
}

#[test]
fn reads_without_an_event_are_known_by_what_came_in() {
    for (what, kinds, certain) in [
        ("never told", vec![cache(2, 0, 3)], &[(0, 0)][..]),
        (
            "block of a told read",
            vec![cache(1, 0, 3), read(1, 0, 0)],
            &[(0, 0)],
        ),
        (
            "mapped",
            vec![cache(1, 0, 3), RawKind::Fault { inode: 1, page: 2 }],
            &[(2, 2)],
        ),
        (
            "dropped before it was read",
            // Read ahead, dropped, read alone with its block, and read on.
            vec![
                cache(1, 0, 3),
                cache(1, 4, 7),
                cache(1, 0, 0),
                cache(1, 1, 3),
                read(1, 1, 7),
            ],
            &[(0, 7)],
        ),
        (
            "read again, which is told, after it was dropped",
            vec![cache(1, 0, 3), read(1, 0, 0), cache(1, 1, 3), read(1, 1, 1)],
            &[(0, 1)],
        ),
    ] {
        let found = uses(&kinds);
        let (_, pages) = found.iter().next().unwrap();
        assert_eq!(runs(&pages.certain), certain, "{what}");
    }
}
