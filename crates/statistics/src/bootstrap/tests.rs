use super::*;

/// A start time around `center_s`: a sum of twelve uniform numbers is nearly normal, and every
/// tenth start is disturbed and takes half as long again.
pub(crate) fn noisy_start_s(random: &mut SplitMix64, center_s: f64) -> f64 {
    let mut uniform = || {
        let bits = u32::try_from(random.next() >> 32).expect("the high half has 32 bits");
        f64::from(bits) / 2f64.powi(32)
    };
    let normal: f64 = (0..12).map(|_| uniform()).sum::<f64>() - 6.0;
    let disturbed = if uniform() < 0.1 { 1.5 } else { 1.0 };
    center_s * (0.1 * normal).exp() * disturbed
}

fn verdicts(turns: u32, other_s: f64, trials: u32) -> Vec<Verdict> {
    let mut random = SplitMix64(u64::from(turns));
    (0..trials)
        .map(|_| {
            let mut start = |center_s| noisy_start_s(&mut random, center_s);
            let pairs: Vec<_> = (0..turns).map(|_| (start(1.0), start(other_s))).collect();
            ratio(&pairs).expect("positive pairs").verdict
        })
        .collect()
}

fn count(verdicts: &[Verdict], wanted: Verdict) -> usize {
    verdicts
        .iter()
        .filter(|verdict| **verdict == wanted)
        .count()
}

#[test]
fn identical_contestants_show_no_difference_in_95_percent_of_trials() {
    for turns in [6, 10] {
        let shown = verdicts(turns, 1.0, 200);
        let quiet = count(&shown, Verdict::NoDifferenceShown);
        assert!(quiet >= 190, "{turns} turns: {quiet} of 200");
        // Otherwise a constant answer would pass.
        assert!(quiet < 200, "{turns} turns: {quiet} of 200");
    }
}

#[test]
fn half_the_time_is_faster_and_half_as_much_again_is_slower() {
    assert!(count(&verdicts(10, 0.5, 40), Verdict::Faster) >= 39);
    assert!(count(&verdicts(10, 1.5, 40), Verdict::Slower) >= 38);
}

/// As on a shared machine: each start differs by 3 %, the machine by 15 % from turn to turn, and
/// one start of twenty is disturbed.
fn drifting_pairs(random: &mut SplitMix64, turns: u32, other: f64) -> Vec<(f64, f64)> {
    let mut uniform = || {
        let bits = u32::try_from(random.next() >> 32).expect("the high half has 32 bits");
        f64::from(bits) / 2f64.powi(32)
    };
    let mut start = |drift: f64| {
        let normal: f64 = (0..12).map(|_| uniform()).sum::<f64>() - 6.0;
        let disturbed = if uniform() < 0.05 { 1.5 } else { 1.0 };
        drift * (0.03 * normal).exp() * disturbed
    };
    let mut turn = || {
        // The drift is drawn like a start, five times as wide.
        let drift = (start(1.0) - 1.0) * 5.0 + 1.0;
        let drift = drift.clamp(0.5, 2.0);
        (start(drift), start(drift) * other)
    };
    (0..turns).map(|_| turn()).collect()
}

#[test]
fn a_slowdown_of_5_percent_is_found_with_30_turns_and_none_where_there_is_none() {
    let trials = |other| {
        (0..60)
            .map(|seed| {
                let pairs = drifting_pairs(&mut SplitMix64(seed), 30, other);
                ratio(&pairs).expect("positive pairs").verdict
            })
            .collect::<Vec<_>>()
    };
    let slowed = count(&trials(1.05), Verdict::Slower);
    assert!(slowed >= 57, "{slowed} of 60");
    let same = count(&trials(1.0), Verdict::NoDifferenceShown);
    assert!(same >= 57, "{same} of 60");
}

#[test]
fn few_turns_give_an_interval_but_no_verdict() {
    let pairs = [(2.0, 1.0); TURNS_FOR_VERDICT];
    let few = ratio(&pairs[1..]).expect("positive pairs");
    assert_eq!(
        (few.value, few.interval),
        (
            0.5,
            Interval {
                low: 0.5,
                high: 0.5
            }
        )
    );
    assert_eq!(few.verdict, Verdict::NoDifferenceShown);
    assert_eq!(
        ratio(&pairs).expect("positive pairs").verdict,
        Verdict::Faster
    );
}

#[test]
fn impossible_pairs_have_no_ratio() {
    for pairs in [
        &[][..],
        &[(0.0, 1.0)],
        &[(1.0, 1.0), (1.0, f64::NAN)],
        &[(1.0, -1.0)],
    ] {
        assert_eq!(ratio(pairs), None, "{pairs:?}");
    }
}

#[test]
fn turns_are_drawn_as_pairs() {
    // The machine slows down tenfold over the turns, for both alike: unpaired resampling could not
    // tell 0.9 from 1 here.
    let pairs: Vec<_> = (1..=10)
        .map(|turn| (f64::from(turn), f64::from(turn) * 0.9))
        .collect();
    let found = ratio(&pairs).expect("positive pairs");
    assert_eq!(found.verdict, Verdict::Faster);
    assert!((found.interval.high - 0.9).abs() < 1e-9, "{found:?}");
}

#[test]
fn interval_of_a_median_is_reproducible_and_holds_the_median() {
    let samples = [3.0, 1.0, 2.0, 5.0, 4.0, 9.0, 7.0, 8.0, 6.0];
    let found = median_interval(&samples);
    assert_eq!(found, median_interval(&samples));
    // Exact order statistics: the 2nd to the 8th of nine samples cover the median with 96.1 %.
    assert!(
        (1.0..=2.0).contains(&found.low) && (8.0..=9.0).contains(&found.high),
        "{found:?}"
    );
}

#[test]
fn tails_follow_student_for_few_samples_and_tend_to_the_nominal_share() {
    // Hesterberg 2015, table 1: n = 5 gives 0.1 %, n = 20 gives 1.6 %.
    for (sample_count, expected) in [(1, 0.0), (5, 0.00096), (20, 0.0159), (1_000_000, 0.025)] {
        let found = tail_share(sample_count);
        assert!((found - expected).abs() < 2e-4, "{sample_count}: {found}");
    }
}

#[test]
fn generator_gives_the_published_sequence() {
    // The first values for seed 1234567 in the reference implementation (prng.di.unimi.it).
    let mut random = SplitMix64(1_234_567);
    let found = [random.next(), random.next(), random.next()];
    assert_eq!(
        found,
        [
            6_457_827_717_110_365_317,
            3_203_168_211_198_807_973,
            9_817_491_932_198_370_423
        ]
    );
}
