//! Data, trees of them, and what is done with both.

use std::fs::{self, File};
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::Path;

use coldpress_codec::Workers;
use coldpress_verity::{
    Algorithm, Area, BlockBytes, Error, HashType, Mismatch, Parameters, Protected, RootHash, Salt,
    SaltChoice, Settings, Tree, Uuid, protect,
};

/// Numbers that look like chance and are the same each time.
pub(crate) struct Numbers(pub(crate) u64);

impl Numbers {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        let mixed = (self.0 ^ self.0 >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed ^ mixed >> 32
    }

    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    pub(crate) fn bytes(&mut self, len: usize) -> Vec<u8> {
        let words = (0..len.div_ceil(8)).flat_map(|_| self.next().to_le_bytes());
        words.take(len).collect()
    }

    pub(crate) fn parameters(&mut self) -> Parameters {
        let mut block = || BlockBytes::new(512 << self.below(11)).unwrap();
        let (data_block, hash_block) = (block(), block());
        let salt_bytes = [0, 1, 32, 256][usize::try_from(self.below(4)).unwrap()];
        Parameters {
            hash_type: [HashType::Normal, HashType::ChromeOs][usize::from(self.below(4) == 0)],
            algorithm: Algorithm::ALL[usize::try_from(self.below(5)).unwrap()],
            data_block,
            hash_block,
            salt: Salt::new(self.bytes(salt_bytes)).unwrap(),
        }
    }
}

pub(crate) fn workers(threads: usize) -> Workers {
    let threads = NonZeroUsize::new(threads).unwrap();
    let window = threads.saturating_mul(threads);
    Workers { threads, window }
}

pub(crate) fn on(_: u64) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// Whole blocks of data.
pub(crate) fn data(numbers: &mut Numbers, parameters: &Parameters, blocks: u64) -> Vec<u8> {
    numbers.bytes(usize::try_from(blocks * parameters.data_block.bytes()).unwrap())
}

/// Writes a tree, and returns it with its bytes.
pub(crate) fn tree_of(
    data: &[u8],
    parameters: &Parameters,
    (start, has_superblock): (u64, bool),
    threads: usize,
) -> (Protected, Vec<u8>) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("tree");
    let file = create(&path);
    let area = Area {
        file: &file,
        start,
        has_superblock,
    };
    let settings = Settings {
        parameters: parameters.clone(),
        salt: SaltChoice::Given(parameters.salt.clone()),
        uuid: Some(Uuid([5; 16])),
    };
    let protected = protect(
        (&data, data.len() as u64),
        area,
        &settings,
        &workers(threads),
        &mut on,
    );
    (protected.unwrap(), fs::read(&path).unwrap())
}

pub(crate) fn create(path: &Path) -> File {
    let mut options = File::options();
    options.create(true).truncate(false).read(true).write(true);
    options.open(path).unwrap()
}

pub(crate) fn verify(
    data: &[u8],
    hashes: &[u8],
    root_hash: &RootHash,
    threads: usize,
) -> Result<Option<Mismatch>, Error> {
    let tree = Tree::read(&hashes, 0)?;
    tree.verify(&data, &hashes, root_hash, &workers(threads), &mut on)
}
