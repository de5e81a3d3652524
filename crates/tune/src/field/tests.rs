use coldpress_format::Compressor::Zstd;
use coldpress_layout::{Group, Tails};

use super::*;
use crate::today::defaults_today;

#[test]
fn every_candidate_can_be_built_and_comes_once() {
    for effort in [Effort::Fast, Effort::Usual, Effort::Thorough] {
        for has_plan in [false, true] {
            let options = FieldOptions {
                effort,
                has_plan,
                ..FieldOptions::default()
            };
            let field = field(&options);
            let today = defaults_today(has_plan).map(|today| today.candidate);
            for candidate in field.iter().chain(&today) {
                if let Some(settings) = candidate.compression {
                    let checked = settings.check(candidate.block_size);
                    assert!(checked.is_ok(), "{candidate}: {checked:?}");
                }
                let is_planned = candidate.order != OrderBy::Tree;
                assert!(has_plan || !is_planned, "{candidate}");
                let alike = field.iter().filter(|other| *other == candidate);
                assert!(alike.count() <= 1, "{candidate}");
            }
        }
    }
}

#[test]
fn more_effort_tries_all_that_less_does() {
    let of = |effort| {
        field(&FieldOptions {
            effort,
            has_plan: true,
            ..FieldOptions::default()
        })
    };
    let [fast, usual, thorough] = [Effort::Fast, Effort::Usual, Effort::Thorough].map(of);
    // Compressors and none; block sizes with what becomes of tail ends; with the plan and without.
    let lengths = [fast.len(), usual.len(), thorough.len()];
    let shapes = [2 * 2, 2 * 2 + 3 * 3, 9 * 3];
    assert_eq!(
        lengths,
        [6 * shapes[0] * 2, 8 * shapes[1] * 2, 16 * shapes[2] * 2]
    );
    assert!(fast.iter().all(|candidate| usual.contains(candidate)));
    assert!(usual.iter().all(|candidate| thorough.contains(candidate)));
}

#[test]
fn only_what_is_asked_for_is_tried() {
    let few = field(&FieldOptions {
        compressors: vec![Some(Zstd), None],
        block_sizes: vec![BlockSize::MIN],
        ..FieldOptions::default()
    });
    let names: Vec<String> = few.iter().map(ToString::to_string).collect();
    let expected = [
        "zstd 3, 4K",
        "zstd 3, 4K, no fragments",
        "zstd 15, 4K",
        "zstd 15, 4K, no fragments",
        "zstd 22, 4K",
        "zstd 22, 4K, no fragments",
        "none, 4K",
        "none, 4K, no fragments",
    ];
    assert_eq!(names, expected);
    let grouped = field(&FieldOptions {
        compressors: vec![None],
        block_sizes: vec![BlockSize::DEFAULT],
        group: Group::Similar,
        ..FieldOptions::default()
    });
    let groups = grouped
        .iter()
        .map(|candidate| (candidate.tails, candidate.group));
    let expected = [
        (Tails::Small, Group::Similar),
        (Tails::None, Group::None),
        (Tails::All, Group::Similar),
    ];
    assert_eq!(groups.collect::<Vec<_>>(), expected);
    let large = field(&FieldOptions {
        block_bytes_min: 64 << 10,
        compressors: vec![None],
        ..FieldOptions::default()
    });
    let mut sizes: Vec<String> = large.iter().map(Candidate::block_text).collect();
    sizes.dedup();
    assert_eq!(sizes, ["64K", "128K", "256K", "1M"]);
    let spending = field(&FieldOptions {
        has_plan: true,
        has_budget: true,
        ..FieldOptions::default()
    });
    let spending: Vec<_> = spending
        .iter()
        .filter(|candidate| candidate.spends)
        .collect();
    assert_eq!(spending.len(), 7 * 13);
    let is_lawful = |candidate: &&&Candidate| {
        candidate.compression.is_some() && candidate.order == OrderBy::Plan
    };
    assert!(spending.iter().all(|candidate| is_lawful(&candidate)));
}

#[test]
fn machine_code_is_filtered_where_it_is_worth_it() {
    let filtered = |effort| {
        let field = field(&FieldOptions {
            effort,
            compressors: vec![Some(Compressor::Xz)],
            block_sizes: vec![BlockSize::DEFAULT],
            filters: [Filter::X86].into_iter().collect(),
            ..FieldOptions::default()
        });
        let names = field.iter().map(ToString::to_string);
        names
            .filter(|name| name.contains("x86"))
            .collect::<Vec<_>>()
    };
    assert_eq!(filtered(Effort::Usual), Vec::<String>::new());
    let shapes = ["", ", no fragments", ", all tails"];
    let expected = ["xz 6 x86", "xz 9 x86"]
        .map(|settings| shapes.map(|shape| format!("{settings}, 128K{shape}")));
    assert_eq!(filtered(Effort::Thorough), expected.concat());
    // Block sizes decide whether all tail ends are packed.
    let packs_all = |effort: Effort, kib: u32| {
        let size = BlockSize::new(kib << 10).expect("legal");
        effort.tails(size).contains(&Tails::All)
    };
    let found = [Effort::Fast, Effort::Usual, Effort::Thorough]
        .map(|effort| [16, 128].map(|kib| packs_all(effort, kib)));
    assert_eq!(found, [[false, false], [false, true], [true, true]]);
}
