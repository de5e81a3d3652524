//! Made-up comparisons for tests.

use coldpress_history::{Facts, Figures};

use crate::comparison::{
    CommandFacts, Comparison, ContestantFacts, DeviceFacts, MachineFacts, ViaFacts,
};
use crate::run::{Coldness, Run};

/// A comparison in which each contestant starts cold in 0.6 of the time of the one before it, and
/// each image is 3 % larger than the one before it.
pub(crate) fn comparison(names: &[&str], turns: u32) -> Comparison {
    let contestants = (0_u32..).zip(names).map(|(index, name)| ContestantFacts {
        name: (*name).to_owned(),
        size_bytes: 326_000_000 + u64::from(index) * 10_000_000,
        facts: Facts::new(),
        figures: Figures::new(),
    });
    let run = |contestant: usize, turn: u32| {
        let place = u32::try_from(contestant).expect("few contestants");
        let factor = 0.6_f64.powi(i32::try_from(contestant).expect("few contestants"));
        // Not random, but scattered: two contestants never have the same disturbance.
        let disturbance = f64::from((turn * 37 + place * 11) % 23) / 100.0;
        let start_s = 2.4 * factor * (1.0 + disturbance);
        Run {
            contestant,
            turn,
            cold_s: Some(start_s),
            warm_s: Some(0.45 * (1.0 + disturbance / 2.0)),
            cpu_s: Some(start_s * 0.3),
            reads: Some(u64::from(3330 / (place + 1) + turn)),
            read_bytes: Some(144_000_000_u64.saturating_sub(u64::from(place) * 20_000_000)),
            walk_s: None,
            walk_digest: None,
            mount_reads: Some(12),
            mount_read_bytes: Some(98_304),
            page_cache_bytes: (turn == 0).then_some(390_000_000 + u64::from(place) * 30_000_000),
            coldness: Coldness {
                image_resident_pages: 0,
                attempts: 1,
                fresh_superblock: Some(true),
            },
            excluded: None,
        }
    };
    Comparison {
        began_unix_s: 1_780_000_000,
        machine: MachineFacts {
            kernel: "6.18.0".into(),
            cpu_model: "Some Processor".into(),
            cores: 2,
            memory_bytes: Some(8 << 30),
            virtual_machine: true,
            squashfs_decompressor: "single".into(),
            squashfs_cached_fragments: Some(3),
            squashfs_file_direct: Some(true),
        },
        device: DeviceFacts {
            name: "usb2".into(),
            read_bytes_per_s: Some(25_000_000),
            read_iops: Some(400),
            via: ViaFacts::Partition,
        },
        command: CommandFacts {
            args: ["{root}/usr/bin/python3", "-c", "import json"]
                .map(str::to_owned)
                .to_vec(),
            chroot: false,
            timeout_s: 60,
            ready: "exit".to_owned(),
        },
        read_ahead_kib: 128,
        turns,
        seed: 7,
        contestants: contestants.collect(),
        runs: (0..turns)
            .flat_map(|turn| (0..names.len()).map(move |contestant| (contestant, turn)))
            .map(|(contestant, turn)| run(contestant, turn))
            .collect(),
    }
}
