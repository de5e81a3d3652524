//! Profiles as plans: of one recording, and of the tree that it was made of.

use coldpress_format::BlockSize;
use coldpress_layout::{How, NodeId, Plan, PlanItem, Tails, Tree, match_profile, order, plan};
use coldpress_trace::{Profile, Trace};
use proptest::prelude::*;

use crate::laws::check;
use crate::plans::tree_and_trace;

fn block_size(bytes: u32) -> BlockSize {
    BlockSize::new(bytes).expect("legal")
}

/// The parts of files that a plan names, sorted: the node, and whether it is the tail end.
fn parts(tree: &Tree, plan: &Plan) -> Vec<(NodeId, bool)> {
    let node = |path: &Vec<u8>| tree.data_of(tree.find(path).expect("planned is what exists"));
    let of_item = |item: &PlanItem| match item {
        PlanItem::Blocks(path) => vec![(node(path), false)],
        PlanItem::Fragment(paths) => paths.iter().map(|path| (node(path), true)).collect(),
    };
    let mut parts: Vec<_> = plan.data.iter().flat_map(of_item).collect();
    parts.sort_unstable();
    parts
}

proptest! {
    #[test]
    fn what_most_recordings_touched_is_planned_first_and_nothing_is_lost(
        (tree, trace) in tree_and_trace(block_size(8192)),
        events in 1..40_usize,
    ) {
        let recording = |events: &[_]| Trace {
            events: events.to_vec(),
            ..Trace::default()
        };
        let traces: Vec<_> = trace.events.chunks(events).map(recording).collect();
        let profile = Profile::merge(&traces);
        // As if there were nothing that few recordings touched.
        let alike = |profile: Profile| {
            let profile = Profile { recordings: 1, ..profile };
            plan(&tree, &profile, block_size(8192))
        };
        let (sure, all) = (alike(profile.at_least(0.5)), alike(profile.clone()));
        let plan = plan(&tree, &profile, block_size(8192));
        prop_assert!(plan.data.starts_with(&sure.data));
        prop_assert!(plan.directories.starts_with(&sure.directories));
        prop_assert_eq!(parts(&tree, &plan), parts(&tree, &all));
        for tails in [Tails::Small, Tails::All] {
            let (order, unmatched) = order(&tree, &plan, block_size(8192), tails);
            prop_assert_eq!(check(&tree, block_size(8192), &order), Ok(()));
            prop_assert_eq!(unmatched, Vec::<Vec<u8>>::new());
            prop_assert_eq!(order.hot_items, plan.data.len());
        }
        prop_assert_eq!(plan.inodes.len(), all.inodes.len());
        prop_assert_eq!(plan.directories.len(), all.directories.len());
    }

    #[test]
    fn a_profile_that_fits_is_matched_with_itself(
        (tree, trace) in tree_and_trace(block_size(8192)),
    ) {
        let profile = Profile::from(&trace);
        let matching = match_profile(&tree, &profile, &mut |_| None);
        let fits = matching.paths.iter().all(|path| {
            matches!(path.found, Some((How::Path, _))) && path.stale_pages == 0
        });
        if fits {
            prop_assert_eq!(&matching.profile, &profile);
        }
        let staleness = matching.staleness();
        prop_assert!(staleness.stale_paths <= staleness.paths);
        prop_assert!(staleness.stale_bytes <= staleness.bytes);
        prop_assert!((0.0..=100.0).contains(&staleness.percent()));
        prop_assert_eq!(staleness.percent() > 0.0, !matching.stale().is_empty());
        // What was found is in the tree, and all of it is planned.
        let again = match_profile(&tree, &matching.profile, &mut |_| None);
        prop_assert!(again.stale().is_empty());
        prop_assert_eq!(again.profile, matching.profile);
    }
}
