use super::*;

#[test]
fn backward_faults_relocations_and_sections_are_counted_by_page() {
    let mut relocated = Coverage::default();
    relocated.cover(4, 5, |_, _| ());
    let program = Program {
        sections: vec![
            Section {
                name: b".text".to_vec(),
                offset: 0x1000,
                size_bytes: 0x2800,
            },
            Section {
                name: b".data.rel.ro".to_vec(),
                offset: 0x3800,
                size_bytes: 0x1801,
            },
        ],
        relocated,
        relocation_count: 7,
        ..Program::default()
    };
    let mut pages = PageUse::default();
    pages.certain.cover(1, 1, |_, _| ());
    pages.perhaps.cover(1, 4, |_, _| ());
    let touch = |page, is_fault| Touch {
        time_us: 0,
        page,
        byte: Some(page * PAGE_SIZE_BYTES),
        is_fault,
    };
    let touches = [
        touch(3, true),
        touch(0, false),
        touch(1, true),
        touch(2, true),
    ];
    let cost = cost(&program, &pages, &touches);
    assert_eq!(
        (cost.faults, cost.backward_faults, cost.exact_touches),
        (3, 1, 4)
    );
    assert_eq!((cost.relocated_pages, cost.touched_relocated_pages), (2, 1));
    let sections: Vec<_> = cost
        .sections
        .iter()
        .map(|section| {
            (
                section.pages,
                section.touched_pages,
                section.perhaps_touched_pages,
                section.touched_relocated_pages,
            )
        })
        .collect();
    assert_eq!(sections, [(3, 3, 0, 0), (3, 1, 1, 1)]);
}
