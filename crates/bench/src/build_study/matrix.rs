//! Who takes part: all that was asked for, less what no tool can do.

use coldpress_history::{Contestant, Facts, Figures};

use super::setting::{Compressor, Level, Setting};
use super::tools::{Maker, Unpacker};

/// What is combined with what.
#[derive(Clone, Debug)]
pub struct Lists {
    /// Programs that make images; the first contestant, the baseline of all ratios, is one of the
    /// first.
    pub makers: Vec<Maker>,
    /// Compressors.
    pub compressors: Vec<Compressor>,
    /// Levels of all compressors that have them.
    pub levels: Vec<Level>,
    /// Bytes of a data block before compression: powers of two from 4 KiB to 1 MiB.
    pub block_sizes_bytes: Vec<u32>,
    /// Numbers of threads that make an image.
    pub threads: Vec<u32>,
    /// Programs that unpack every image.
    pub unpackers: Vec<Unpacker>,
    /// Numbers of threads that unpack an image.
    pub unpack_threads: Vec<u32>,
}

/// The contestants of a study: first those that make images, then those that unpack them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Matrix {
    /// Different images; how many threads make one is no difference.
    pub images: Vec<Image>,
    /// Makings.
    pub builds: Vec<Build>,
    /// Unpackings.
    pub unpacks: Vec<Unpack>,
    /// What was asked for and cannot be done, and why: a clause each.
    pub left_out: Vec<String>,
}

/// An image by its maker and its setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Image {
    /// The program that makes it.
    pub maker: Maker,
    /// How it is compressed.
    pub setting: Setting,
}

/// An image made with a number of threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Build {
    /// Index of the image.
    pub image: usize,
    /// Threads.
    pub threads: u32,
}

/// An image unpacked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unpack {
    /// Index of the image.
    pub image: usize,
    /// The program that unpacks it.
    pub unpacker: Unpacker,
    /// Threads; `None` if it cannot be told.
    pub threads: Option<u32>,
}

impl Lists {
    /// Combines everything. What is listed twice takes part once.
    pub fn matrix(&self) -> Matrix {
        let mut matrix = Matrix::default();
        let settings = self.settings(&mut matrix.left_out);
        for maker in distinct(&self.makers) {
            for setting in &settings {
                match maker.objection(setting) {
                    None => matrix.images.push(Image {
                        maker,
                        setting: *setting,
                    }),
                    Some(why) if matrix.left_out.contains(&why) => {}
                    Some(why) => matrix.left_out.push(why),
                }
            }
        }
        let threads = distinct(&self.threads);
        let ways = self.ways_to_unpack();
        for image in 0..matrix.images.len() {
            let builds = threads.iter().map(|&threads| Build { image, threads });
            matrix.builds.extend(builds);
            let unpacks = ways.iter().map(|&(unpacker, threads)| Unpack {
                image,
                unpacker,
                threads,
            });
            matrix.unpacks.extend(unpacks);
        }
        matrix
    }

    fn settings(&self, left_out: &mut Vec<String>) -> Vec<Setting> {
        let mut settings = Vec::new();
        for compressor in distinct(&self.compressors) {
            let mut levels = Vec::new();
            for asked in &self.levels {
                match asked.of(compressor) {
                    Ok(level) if !levels.contains(&level) => levels.push(level),
                    Ok(_) => {}
                    Err(why) => left_out.push(why),
                }
            }
            for level in levels {
                let blocks = distinct(&self.block_sizes_bytes);
                settings.extend(blocks.into_iter().map(|block_size_bytes| Setting {
                    compressor,
                    level,
                    block_size_bytes,
                }));
            }
        }
        settings
    }

    fn ways_to_unpack(&self) -> Vec<(Unpacker, Option<u32>)> {
        let unpackers = distinct(&self.unpackers).into_iter();
        let ways = unpackers.flat_map(|unpacker| {
            let threads = if unpacker.has_threads() {
                distinct(&self.unpack_threads)
                    .into_iter()
                    .map(Some)
                    .collect()
            } else {
                vec![None]
            };
            threads.into_iter().map(move |threads| (unpacker, threads))
        });
        ways.collect()
    }
}

impl Matrix {
    /// The contestants as a study has them, in the order of [`Matrix::builds`], then
    /// [`Matrix::unpacks`].
    pub fn contestants(&self) -> Vec<Contestant> {
        let builds = self.builds.iter().map(|build| {
            let image = &self.images[build.image];
            let name = format!("{image} j{}", build.threads);
            image.contestant(name, Some(build.threads), None)
        });
        let unpacks = self.unpacks.iter().map(|unpack| {
            let image = &self.images[unpack.image];
            let name = format!("{unpack} of {image}");
            image.contestant(name, unpack.threads, Some(unpack.unpacker))
        });
        let mut contestants: Vec<Contestant> = builds.chain(unpacks).collect();
        // The first contestant of all makes images, which is no measure of unpacking.
        let first = contestants.get(self.builds.len());
        if let Some(first) = first.map(|first| first.name.clone()) {
            for unpack in contestants.iter_mut().skip(self.builds.len()) {
                unpack.facts.insert("baseline".to_owned(), first.clone());
            }
        }
        contestants
    }

    /// Runs in a turn if nothing fails.
    pub fn contestant_count(&self) -> usize {
        self.builds.len() + self.unpacks.len()
    }
}

impl Image {
    fn contestant(
        &self,
        name: String,
        threads: Option<u32>,
        unpacker: Option<Unpacker>,
    ) -> Contestant {
        let setting = &self.setting;
        let mut facts = Facts::from([
            ("tool".to_owned(), self.maker.name().to_owned()),
            (
                "compressor".to_owned(),
                setting.compressor.name().to_owned(),
            ),
            ("threads".to_owned(), threads.unwrap_or(1).to_string()),
        ]);
        if let Some(level) = setting.level {
            facts.insert("level".to_owned(), level.to_string());
        }
        if let Some(unpacker) = unpacker {
            facts.insert("unpacker".to_owned(), unpacker.name().to_owned());
        }
        let block_size_bytes = f64::from(setting.block_size_bytes);
        Contestant {
            name,
            facts,
            figures: Figures::from([("block_size_bytes".to_owned(), block_size_bytes)]),
        }
    }
}

impl std::fmt::Display for Image {
    /// `mksquashfs zstd-15 128K`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.maker.name(), self.setting)
    }
}

impl std::fmt::Display for Unpack {
    /// `unsquashfs j2`, `rdsquashfs`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.unpacker.name())?;
        match self.threads {
            Some(threads) => write!(f, " j{threads}"),
            None => Ok(()),
        }
    }
}

/// Each item once, where it stands first.
fn distinct<T: Copy + PartialEq>(items: &[T]) -> Vec<T> {
    let mut found = Vec::new();
    for item in items {
        if !found.contains(item) {
            found.push(*item);
        }
    }
    found
}

#[cfg(test)]
mod tests;
