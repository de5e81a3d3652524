//! The encoder at every level.

use super::*;

/// Bytes without pattern (xorshift64*).
pub(super) fn random(len: usize, seed: u64) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let numbers = std::iter::repeat_with(|| {
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        state.wrapping_mul(0x2545_F491_4F6C_DD1D)
    });
    numbers.flat_map(u64::to_le_bytes).take(len).collect()
}

/// Numbered records with small fields, words that come again, gaps of zeros and noise.
fn records(len: usize) -> Vec<u8> {
    let dice = random(4 * len, 6);
    let mut block = Vec::with_capacity(len + 300);
    for (number, dice) in (0_u32..).zip(dice.chunks_exact(4)) {
        if block.len() >= len {
            break;
        }
        block.extend(number.to_le_bytes());
        block.extend([dice[0] & 7, 0, dice[0] >> 6, 0]);
        let start = usize::from(dice[1]) * block.len() / 300;
        let end = block.len().min(start + usize::from(dice[2] & 31));
        block.extend_from_within(start..end);
        match dice[3] {
            0..16 => block.resize(block.len() + usize::from(dice[0]), 0),
            16..48 => block.extend(&dice[..3]),
            _ => {}
        }
    }
    block.truncate(len);
    block
}

fn encoders() -> Vec<Encoder> {
    (0..=9).map(Encoder::new).collect()
}

#[test]
fn every_level_round_trips_every_shape() {
    let mut shapes: Vec<Vec<u8>> = (0..70).map(|len| vec![7; len]).collect();
    for period in [2, 3, 5, 100, 1025, 2049, 20_000, 49_151, 49_152] {
        shapes.push(random(period, 3).repeat(1 + 120_000 / period));
    }
    for len in [1, 2, 3, 4, 5, 18, 19, 238, 239, 274, 4096, 70_000] {
        shapes.push(random(len, 4));
        shapes.push(records(len));
        shapes.push([random(len, 5), vec![0; len], random(len, 5)].concat());
    }
    shapes.push(vec![0; 1 << 20]);
    shapes.push(records(1 << 20));
    for (level, mut encoder) in encoders().into_iter().enumerate() {
        for (index, shape) in shapes.iter().enumerate() {
            let mut stream = vec![0; shape.len() + shape.len() / 200 + 8];
            let size_bytes = encoder.compress(shape, &mut stream).unwrap();
            let mut output = vec![0; shape.len()];
            let len = decompress(&stream[..size_bytes], &mut output);
            assert_eq!(len, Ok(shape.len()), "level {level}, shape {index}");
            assert!(output == *shape, "level {level}, shape {index}");
        }
    }
}

#[test]
fn higher_levels_give_smaller_blocks() {
    let block = records(400_000);
    let mut output = vec![0; block.len()];
    let sizes: Vec<usize> = encoders()
        .iter_mut()
        .map(|encoder| encoder.compress(&block, &mut output).unwrap())
        .collect();
    assert!(sizes.is_sorted_by(|low, high| low >= high), "{sizes:?}");
    assert!(
        sizes[0] > sizes[1] && sizes[1] > sizes[5] && sizes[5] > sizes[9],
        "{sizes:?}"
    );
}

#[test]
fn a_block_is_the_same_in_any_company_and_fits_exactly() {
    let blocks = [
        records(30_000),
        vec![0; 9000],
        random(500, 8),
        records(9000),
    ];
    for (level, mut reused) in encoders().into_iter().enumerate() {
        for block in blocks.iter().chain(&blocks) {
            let mut fresh = Encoder::new(i32::try_from(level).unwrap());
            let mut expected = vec![0; 2 * block.len()];
            let size_bytes = fresh.compress(block, &mut expected).unwrap();
            let mut output = vec![0; size_bytes];
            assert_eq!(reused.compress(block, &mut output[1..]), None);
            assert_eq!(reused.compress(block, &mut output), Some(size_bytes));
            assert!(output == expected[..size_bytes], "level {level}");
        }
    }
}
