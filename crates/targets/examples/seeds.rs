//! Writes the seeds of the corpora into the directory that is named: images for the defects of
//! `coldpress-nasty`, stored, because a fuzzer cannot change a compressed table to any use.

use std::fs;
use std::io;
use std::path::Path;

use coldpress_format::Superblock;
use coldpress_nasty::{Case, Packing, Tables, WRITABLE, defects, sample};

fn main() -> io::Result<()> {
    let to = std::env::args().nth(1).unwrap_or_else(|| ".".to_owned());
    let to = Path::new(&to);
    for target in ["image", "extraction", "rebuild"] {
        for (name, bytes) in images() {
            // Zeros behind the image are nothing to change.
            write(&to.join(target), &name, trimmed(&bytes))?;
        }
    }
    let tables = Tables::new(&sample(Packing::STORED));
    write(&to.join("listing"), "listing", &tables.listings)?;
    write(
        &to.join("listing"),
        "superblock",
        &tables.write().bytes[..96],
    )?;
    for (index, at) in tables.inode_at.windows(2).enumerate() {
        write(
            &to.join("listing"),
            &format!("inode-{index}"),
            &tables.inodes[at[0]..at[1]],
        )?;
    }
    Ok(())
}

/// One image of each kind of defect, and the sample by each compressor.
fn images() -> Vec<(String, Vec<u8>)> {
    let mut images = Vec::new();
    for packing in WRITABLE.map(Packing::compressed) {
        let name = format!("sample-{}", packing.compressor);
        images.push((name, Tables::new(&sample(packing)).write().bytes));
    }
    let mut add = |name: &str, cases: Vec<Case>| {
        images.extend(
            cases
                .into_iter()
                .next()
                .map(|case| (name.to_owned(), case.bytes)),
        );
    };
    add("cve-2021-40153-name", defects::names());
    add("cve-2021-41072-one-name", defects::one_name_twice());
    add("cve-2021-41072-loop", defects::loops());
    add("directory-index", defects::directory_indexes());
    add("overlap", defects::overlapping_blocks());
    add("nested", vec![defects::nested_directories(30)]);
    add("shared-listing", vec![defects::large_listings(3, 5)]);
    images
}

/// The image without the zeros behind it.
fn trimmed(bytes: &[u8]) -> &[u8] {
    let superblock = Superblock::parse(bytes).expect("the seeds have one");
    let used = usize::try_from(superblock.bytes_used).expect("it is in memory");
    &bytes[..used]
}

fn write(directory: &Path, name: &str, bytes: &[u8]) -> io::Result<()> {
    fs::create_dir_all(directory)?;
    fs::write(directory.join(name), bytes)
}
