//! Which contestant runs when.

use super::matrix::Matrix;
use crate::stats::SplitMix64;

/// An image made, and then unpacked in several ways before it is removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Errand {
    /// Index into [`Matrix::builds`].
    pub(super) build: usize,
    /// Indexes into [`Matrix::unpacks`].
    pub(super) unpacks: Vec<usize>,
}

/// The order of every turn: makings at random, and unpackings at random behind the making of their
/// image.
///
/// At random and not by turns: what a run leaves behind (written pages, a disk that is busy, a hot
/// processor) falls on the next one, which is another one each time. Of an image that is made with
/// several numbers of threads, that of the first is unpacked.
pub(super) struct Order<'a> {
    matrix: &'a Matrix,
    random: SplitMix64,
}

impl<'a> Order<'a> {
    /// * `seed`: the same one gives the same orders of the same matrix.
    pub(super) fn new(matrix: &'a Matrix, seed: u64) -> Self {
        Self {
            matrix,
            random: SplitMix64(seed),
        }
    }

    /// The order of the next turn.
    pub(super) fn turn(&mut self) -> Vec<Errand> {
        let builds = &self.matrix.builds;
        let mut errands: Vec<Errand> = (0..builds.len())
            .map(|build| {
                let image = builds[build].image;
                let is_first = builds.iter().position(|other| other.image == image) == Some(build);
                let unpacks = self.matrix.unpacks.iter().enumerate();
                let unpacks = unpacks.filter(|(_, unpack)| is_first && unpack.image == image);
                Errand {
                    build,
                    unpacks: unpacks.map(|(index, _)| index).collect(),
                }
            })
            .collect();
        self.random.shuffle(&mut errands);
        for errand in &mut errands {
            self.random.shuffle(&mut errand.unpacks);
        }
        errands
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build_study::{Compressor, Level, Lists, Maker, Unpacker};

    fn matrix() -> Matrix {
        let lists = Lists {
            makers: vec![Maker::Coldpress, Maker::Mksquashfs],
            compressors: vec![Compressor::Zstd],
            levels: vec![Level::Default],
            block_sizes_bytes: vec![128 << 10, 1 << 20],
            threads: vec![2, 1],
            unpackers: vec![Unpacker::Coldpress, Unpacker::Rdsquashfs],
            unpack_threads: vec![1, 2],
        };
        lists.matrix()
    }

    #[test]
    fn everybody_runs_once_in_a_turn_and_images_are_made_before_they_are_unpacked() {
        let matrix = matrix();
        let mut order = Order::new(&matrix, 7);
        for _ in 0..10 {
            let turn = order.turn();
            let mut builds: Vec<_> = turn.iter().map(|errand| errand.build).collect();
            builds.sort_unstable();
            assert_eq!(builds, (0..8).collect::<Vec<_>>());
            let mut unpacks: Vec<_> = turn.iter().flat_map(|errand| &errand.unpacks).collect();
            unpacks.sort_unstable();
            assert_eq!(
                unpacks,
                (0..12).collect::<Vec<_>>().iter().collect::<Vec<_>>()
            );
            for errand in turn {
                let build = &matrix.builds[errand.build];
                let images = errand
                    .unpacks
                    .iter()
                    .map(|unpack| matrix.unpacks[*unpack].image);
                assert!(images.into_iter().all(|image| image == build.image));
                assert_eq!(errand.unpacks.is_empty(), build.threads == 1);
            }
        }
    }

    #[test]
    fn a_seed_is_an_order_and_turns_differ() {
        let matrix = matrix();
        let orders = |seed| {
            let mut order = Order::new(&matrix, seed);
            [order.turn(), order.turn()]
        };
        assert_eq!(orders(1), orders(1));
        assert_ne!(orders(1), orders(2));
        let [first, second] = orders(1);
        assert_ne!(first, second);
    }

    #[test]
    fn each_contestant_comes_first_about_as_often() {
        let matrix = matrix();
        let mut order = Order::new(&matrix, 3);
        let mut firsts = [0; 8];
        for _ in 0..8000 {
            firsts[order.turn()[0].build] += 1;
        }
        assert!(
            firsts.iter().all(|count| (850..1150).contains(count)),
            "{firsts:?}"
        );
    }
}
