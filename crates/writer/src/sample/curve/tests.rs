use super::*;
use crate::sample::population::Content;
use crate::sample::surveyed::Kind;
use coldpress_codec::Settings;
use coldpress_format::{BlockSize, Compressor};

/// Blocks of 4 KiB whose fast sizes differ.
fn population(count: u32) -> Population {
    let block = |number: u32| Surveyed {
        len_bytes: 4096,
        fast_bytes: [100 + number * 7919 % 3000; 3],
        kind: Kind::Other,
    };
    Population {
        block_size: BlockSize::MIN,
        blocks: (0..count).map(block).collect(),
        content: Content::Data {
            files: Vec::new(),
            fragments_start: 0,
            fragments: Vec::new(),
        },
    }
}

/// What the fast compressor made of a block: not all families are surveyed.
fn fast(block: &Surveyed) -> u32 {
    block.fast_bytes(Family::Block)
}

fn sample(stored_bytes: u32) -> Sample {
    Sample {
        stored_bytes,
        ..Sample::default()
    }
}

/// A curve through the samples of a density, with the ratio as a function of the fast size.
fn drawn(population: &Population, density: u32, ratio: impl Fn(u32) -> f64) -> (Curve, Ranking) {
    let ranking = Ranking::new(0, Family::Block, population);
    let settings = Settings::new(Compressor::Zstd, None).unwrap();
    let mut curve = Curve::new(settings, Family::Block, 0, None);
    for rank in curve.missing(&ranking, density) {
        let block = population.blocks[ranking.keys[rank].place()];
        curve.add(rank, sample(scaled(fast(&block), ratio(fast(&block)))));
    }
    curve.density = Some(density);
    curve.draw(&ranking, population, None);
    (curve, ranking)
}

#[test]
fn a_denser_sample_holds_the_one_before() {
    let population = population(1000);
    let ranking = Ranking::new(0, Family::Block, &population);
    for density in 0..12 {
        let (few, more) = (ranking.samples(density), ranking.samples(density + 1));
        assert!(few.iter().all(|rank| more.contains(rank)), "{density}");
        assert!(few.is_sorted());
        assert!(few.contains(&0) && few.contains(&999), "{density}");
    }
    assert_eq!(ranking.samples(10).len(), 1000);
}

#[test]
fn a_sampled_block_is_what_it_was_found_to_be_and_others_are_like_it() {
    let population = population(1000);
    let ratio = |fast| 0.5 + f64::from(fast) / 10_000.0;
    let (curve, ranking) = drawn(&population, 6, ratio);
    for (rank, key) in ranking.keys.iter().enumerate() {
        let block = &population.blocks[key.place()];
        let exact = scaled(fast(block), ratio(fast(block)));
        let expected = curve.expected(block, key.place(), fast(block)).stored_bytes;
        let allowed = if curve.samples.contains_key(&rank) {
            0
        } else {
            20
        };
        assert!(
            exact.abs_diff(expected) <= allowed,
            "{rank}: {exact} {expected}"
        );
    }
}

#[test]
fn the_error_shrinks_with_the_samples_and_ends_with_the_last_block() {
    let population = population(600);
    // Two alternating ratios: neighbors differ as much as any.
    let ratio = |fast: u32| if fast.is_multiple_of(2) { 0.5 } else { 0.7 };
    let errors: Vec<f64> = (3..11)
        .map(|density| drawn(&population, density, ratio).0.variance.sqrt())
        .collect();
    assert!(errors.is_sorted_by(|more, less| less <= more), "{errors:?}");
    assert!(errors[0] > 0.0);
    assert_eq!(errors[7].to_bits(), 0);
}

#[test]
fn a_curve_that_is_told_by_another_adds_to_its_error() {
    let population = population(600);
    let ratio = |fast: u32| if fast.is_multiple_of(2) { 0.5 } else { 0.7 };
    let (proxy, ranking) = drawn(&population, 7, ratio);
    let mut curve = Curve::new(proxy.settings, Family::Block, 0, Some(0));
    // Always nine tenths of what the proxy takes.
    for rank in curve.missing(&ranking, 4) {
        let stored_bytes = proxy.samples[&rank].stored_bytes;
        curve.add(rank, sample(scaled(stored_bytes, 0.9)));
    }
    curve.draw(&ranking, &population, Some(&proxy));
    assert!(curve.own_variance < proxy.variance / 1000.0);
    let inherited = 0.81 * proxy.variance;
    assert!((curve.variance / inherited - 1.0).abs() < 0.01);
    for (place, block) in population.blocks.iter().enumerate() {
        let proxy_bytes = proxy.expected(block, place, fast(block)).stored_bytes;
        let expected = curve.expected(block, place, proxy_bytes).stored_bytes;
        assert!(scaled(proxy_bytes, 0.9).abs_diff(expected) <= 2, "{place}");
    }
}

#[test]
fn nothing_in_question_needs_no_sample() {
    let (curve, ranking) = drawn(&population(0), 5, |_| 1.0);
    assert!(curve.is_complete(&ranking));
    assert!(curve.variance.abs() < f64::EPSILON);
}
