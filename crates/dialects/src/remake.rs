//! The command lines that make an image like one that is there.

pub mod squashfs_tools_ng;

use coldpress_codec::{Choice, Choices, Filter, Recipe, Strategy};
use coldpress_format::{BlockSize, CompressorOptions, Flags, Superblock};
use coldpress_image::Image;
use coldpress_writer::{Habits, Identity, Tool};

/// The options of `mksquashfs DIR IMAGE` for an image like this.
///
/// * `file_bytes`: the length of the file, which tells whether it is padded.
pub fn mksquashfs_options(image: &Image, habits: &Habits, file_bytes: u64) -> Vec<String> {
    let superblock = image.superblock();
    let mut words = vec!["-noappend".to_owned()];
    let mut add = |words_: &[&str]| words.extend(words_.iter().map(|word| (*word).to_owned()));
    add(&["-comp", superblock.compressor.name()]);
    if superblock.block_size != BlockSize::DEFAULT {
        add(&["-b", &superblock.block_size.bytes().to_string()]);
    }
    compressor_options(image.options(), &mut add);
    for (flag, word) in [
        (Flags::RAW_INODES, "-noI"),
        (Flags::RAW_DATA, "-noD"),
        (Flags::RAW_FRAGMENTS, "-noF"),
        (Flags::RAW_XATTRS, "-noX"),
        (Flags::RAW_IDS, "-noId"),
        (Flags::NO_FRAGMENTS, "-no-fragments"),
        (Flags::ALL_FRAGMENTS, "-always-use-fragments"),
        (Flags::NO_XATTRS, "-no-xattrs"),
    ] {
        if superblock.flags.contains(flag) {
            add(&[word]);
        }
    }
    for (flag, word) in [
        (Flags::DUPLICATES, "-no-duplicates"),
        (Flags::EXPORTABLE, "-no-exports"),
    ] {
        if !superblock.flags.contains(flag) {
            add(&[word]);
        }
    }
    if habits.is_all_root {
        add(&["-all-root"]);
    }
    if !is_padded(superblock, file_bytes) {
        add(&["-nopad"]);
    }
    add(&["-mkfs-time", &superblock.modification_time_s.to_string()]);
    words
}

fn compressor_options(options: Option<CompressorOptions>, add: &mut dyn FnMut(&[&str])) {
    match options {
        None
        | Some(CompressorOptions::Lz4 {
            high_compression: false,
        }) => {}
        Some(CompressorOptions::Gzip {
            level,
            window_size,
            strategies,
        }) => {
            add(&["-Xcompression-level", &level.to_string()]);
            if window_size != 15 {
                add(&["-Xwindow-size", &window_size.to_string()]);
            }
            if strategies != 0 {
                add(&["-Xstrategy", &names::<Strategy>(strategies.into())]);
            }
        }
        Some(CompressorOptions::Lzo { algorithm, level }) => match lzo_algorithm(algorithm) {
            Some(name) if name != "lzo1x_999" => add(&["-Xalgorithm", name]),
            _ => add(&["-Xcompression-level", &level.to_string()]),
        },
        Some(CompressorOptions::Xz {
            dictionary_size,
            filters,
        }) => {
            add(&["-Xdict-size", &dictionary_size.to_string()]);
            if filters != 0 {
                add(&["-Xbcj", &names::<Filter>(filters)]);
            }
        }
        Some(CompressorOptions::Lz4 {
            high_compression: true,
        }) => add(&["-Xhc"]),
        Some(CompressorOptions::Zstd { level }) => {
            add(&["-Xcompression-level", &level.to_string()]);
        }
    }
}

/// The name of an algorithm that is recorded by its number.
fn lzo_algorithm(number: u32) -> Option<&'static str> {
    let names = [
        "lzo1x_1",
        "lzo1x_1_11",
        "lzo1x_1_12",
        "lzo1x_1_15",
        "lzo1x_999",
    ];
    names.get(usize::try_from(number).ok()?).copied()
}

/// The names of choices, as mksquashfs takes them.
fn names<T: Choice>(bits: u32) -> String {
    let all = T::ALL.iter().copied().enumerate();
    let chosen = all.filter(|(bit, _)| bits >> bit & 1 == 1);
    chosen
        .map(|(_, choice)| choice)
        .collect::<Choices<T>>()
        .to_string()
}

/// Whether an image is filled up; one that ends where it would be filled up to counts as such.
pub fn is_padded(superblock: &Superblock, file_bytes: u64) -> bool {
    file_bytes > superblock.bytes_used
        || superblock
            .bytes_used
            .is_multiple_of(coldpress_format::PADDING_SIZE)
}

/// A whole command line for people to use; `None` if the tool is not known.
pub fn command_line(image: &Image, identity: &Identity, file_bytes: u64) -> Option<String> {
    match identity.tool {
        Tool::Mksquashfs | Tool::MksquashfsOrColdpress => {
            let options = mksquashfs_options(image, &identity.habits, file_bytes);
            Some(format!("mksquashfs DIR IMAGE {}", options.join(" ")))
        }
        Tool::Coldpress => Some(format!(
            "coldpress build DIR IMAGE{}",
            coldpress_options(image, identity)
        )),
        Tool::Tar2sqfs => {
            let options = squashfs_tools_ng::options(image, identity);
            Some(format!("tar2sqfs {} IMAGE < TAR", options.join(" ")))
        }
        Tool::SquashfsToolsNg => {
            let mut options = squashfs_tools_ng::options(image, identity);
            if identity.habits.files_have_own_times {
                options.push("-k".to_owned());
            }
            if !image.superblock().flags.contains(Flags::NO_XATTRS) {
                options.push("-x".to_owned());
            }
            Some(format!("gensquashfs -D DIR {} IMAGE", options.join(" ")))
        }
        _ => None,
    }
}

fn coldpress_options(image: &Image, identity: &Identity) -> String {
    let superblock = image.superblock();
    let mut text = String::new();
    let mut add = |words: &str| {
        text.push(' ');
        text.push_str(words);
    };
    if superblock
        .flags
        .contains(Flags::RAW_INODES.with(Flags::RAW_DATA))
    {
        add("--compressor none");
    } else {
        add(&format!("--compressor {}", superblock.compressor));
    }
    if let Some(encoding) = identity.encoding
        && let Recipe::Encoder(settings) = encoding.recipe
    {
        add(&format!("--level={}", settings.level));
    }
    if superblock.block_size != BlockSize::DEFAULT {
        add(&format!("--block-size {}", superblock.block_size.bytes()));
    }
    for (flag, is_set, words) in [
        (Flags::NO_FRAGMENTS, true, "--tails none"),
        (Flags::ALL_FRAGMENTS, true, "--tails all"),
        (Flags::DUPLICATES, false, "--no-duplicates"),
        (Flags::EXPORTABLE, false, "--no-export"),
    ] {
        if superblock.flags.contains(flag) == is_set {
            add(words);
        }
    }
    text
}
