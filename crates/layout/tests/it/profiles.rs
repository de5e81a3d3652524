//! Profiles as plans: of one recording, and of the tree that it was made of.

use coldpress_format::BlockSize;
use coldpress_layout::{How, match_profile, plan};
use coldpress_trace::Profile;
use proptest::prelude::*;

use crate::plans::tree_and_trace;

fn block_size(bytes: u32) -> BlockSize {
    BlockSize::new(bytes).expect("legal")
}

proptest! {
    #[test]
    fn a_profile_of_one_trace_gives_the_plan_of_the_trace(
        (tree, trace) in tree_and_trace(block_size(8192)),
    ) {
        let profile = Profile::from(&trace);
        for bytes in [4096, 8192, 16384, 1 << 20] {
            let planned = |set| plan(&tree, &set, block_size(bytes));
            prop_assert_eq!(planned(profile.working_set(1.0)), planned(trace.working_set()));
        }
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
