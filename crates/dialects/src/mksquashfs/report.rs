//! What mksquashfs prints on standard output: where the image goes, what is stored, and a summary.
//!
//! Scripts look for the words at the beginning of these lines, so they are those of mksquashfs;
//! numbers that only it has are left out.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::io;
use std::num::NonZeroUsize;

use coldpress_format::{METADATA_BLOCK_SIZE, SUPERBLOCK_SIZE};
use coldpress_host::names;
use coldpress_layout::{Kind, NodeId, Tails};
use coldpress_report::text;
use coldpress_writer::{Options, Source, Summary, TableSize};

use super::request::Request;

/// `Parallel mksquashfs: Using 2 processors`
pub fn processors(threads: NonZeroUsize) -> String {
    let s = if threads.get() == 1 { "" } else { "s" };
    format!("Parallel mksquashfs: Using {threads} processor{s}\n")
}

/// `Creating 4.0 filesystem on image.sqfs, block size 131072.`
pub fn beginning(request: &Request) -> String {
    let destination = text::escaped(request.destination.as_os_str().as_encoded_bytes());
    let block_bytes = request.block_size.bytes();
    format!("Creating 4.0 filesystem on {destination}, block size {block_bytes}.\n")
}

/// What is stored, but for what an image has already that is appended to: a line for each name,
/// directories after what is in them.
///
/// # Errors
///
/// Those of `out`.
pub fn stored(source: &Source, out: &mut impl io::Write) -> io::Result<()> {
    let mut seen = vec![false; source.tree.nodes.len()];
    directory(source, NodeId::ROOT, b"", &mut seen, out)
}

fn directory(
    source: &Source,
    id: NodeId,
    path: &[u8],
    seen: &mut [bool],
    out: &mut impl io::Write,
) -> io::Result<()> {
    for (name, child) in source.tree.entries(id) {
        if source.tree.is_kept(*child) {
            continue;
        }
        let path = [path, b"/", name].concat();
        if source.tree.is_directory(*child) {
            directory(source, *child, &path, seen, out)?;
            continue;
        }
        let again = std::mem::replace(&mut seen[child.index()], true);
        writeln!(out, "{}", line(source, *child, &path, again))?;
    }
    let path = if path.is_empty() { b"/" } else { path };
    writeln!(out, "directory {}", text::escaped(path))
}

fn line(source: &Source, id: NodeId, path: &[u8], is_again: bool) -> String {
    let path = text::escaped(path);
    match &source.tree[id].kind {
        Kind::File { size_bytes } => {
            let what = if is_again {
                "LINK"
            } else if source.tree.duplicates.contains_key(&id) {
                "DUPLICATE"
            } else {
                // The line of mksquashfs then ends with a space.
                ""
            };
            format!("file {path}, uncompressed size {size_bytes} bytes {what}")
        }
        kind => format!(
            "{} {path}{}",
            word(kind),
            if is_again { " LINK" } else { "" }
        ),
    }
}

fn word(kind: &Kind) -> &'static str {
    match kind {
        Kind::Directory { .. } => "directory",
        Kind::File { .. } => "file",
        Kind::Symlink { .. } => "symbolic link",
        Kind::BlockDevice { .. } => "block device",
        Kind::CharDevice { .. } => "character device",
        Kind::Fifo => "fifo",
        Kind::Socket => "unix domain socket",
    }
}

/// The summary behind a written image.
pub fn summary(request: &Request, options: &Options, source: &Source, summary: &Summary) -> String {
    let mut text = String::new();
    // Writing to a string does not fail.
    let _ = write_settings(&mut text, request, options);
    let owners = Owners::of(source);
    let other_tables_bytes = table_bytes(u64::from(summary.fragment_count) * 16)
        + table_bytes(owners.ids() * 4)
        + table_bytes(u64::from(summary.inode_count) * 8 * u64::from(options.exportable));
    let _ = write_sizes(&mut text, request, summary, other_tables_bytes);
    let _ = write_counts(&mut text, options, source, summary);
    let _ = owners.write(&mut text);
    text
}

/// What a table of entries takes without compression, with the positions of its metadata blocks.
fn table_bytes(entries_bytes: u64) -> u64 {
    entries_bytes + entries_bytes.div_ceil(METADATA_BLOCK_SIZE as u64) * 8
}

fn write_settings(
    text: &mut String,
    request: &Request,
    options: &Options,
) -> Result<(), std::fmt::Error> {
    let how = |is_raw| if is_raw { "uncompressed" } else { "compressed" };
    let raw = request.uncompressed;
    let fragments = match request.tails() {
        Tails::None => "no",
        _ => how(raw.fragments),
    };
    let xattrs = if request.xattrs.stored {
        how(raw.xattrs)
    } else {
        "no"
    };
    let exportable = if options.exportable {
        "Exportable "
    } else {
        ""
    };
    let compressor = request.compression.compressor();
    let block_bytes = options.block_size.bytes();
    writeln!(
        text,
        "\n{exportable}Squashfs 4.0 filesystem, {compressor} compressed, data block size \
         {block_bytes}"
    )?;
    writeln!(
        text,
        "\t{} data, {} metadata, {fragments} fragments,\n\t{xattrs} xattrs, {} ids",
        how(raw.data),
        how(raw.inodes),
        how(raw.inodes || raw.ids),
    )?;
    let not = if request.duplicates { "" } else { "not " };
    writeln!(text, "\tduplicates are {not}removed")
}

#[expect(
    clippy::cast_precision_loss,
    reason = "sizes are printed with two decimals"
)]
fn write_sizes(
    text: &mut String,
    request: &Request,
    summary: &Summary,
    other_tables_bytes: u64,
) -> Result<(), std::fmt::Error> {
    let image_bytes = request.offset_bytes + summary.used_bytes;
    writeln!(
        text,
        "Filesystem size {:.2} Kbytes ({:.2} Mbytes)",
        image_bytes as f64 / 1024.0,
        image_bytes as f64 / 1024.0 / 1024.0
    )?;
    let tables = [
        ("Inode", "inode", summary.inode_table),
        ("Directory", "directory", summary.directory_table),
        ("Xattr", "xattr", summary.xattr_table),
    ];
    let content_bytes = tables.iter().map(|(_, _, size)| size.content_bytes);
    let superblock_bytes = SUPERBLOCK_SIZE as u64;
    let uncompressed_bytes =
        superblock_bytes + summary.data_bytes + content_bytes.sum::<u64>() + other_tables_bytes;
    writeln!(
        text,
        "\t{}% of uncompressed filesystem size ({:.2} Kbytes)",
        percent(image_bytes, uncompressed_bytes),
        uncompressed_bytes as f64 / 1024.0
    )?;
    for (title, name, size) in tables {
        // An image without xattrs has no line for them.
        if name == "xattr" && size.stored_bytes == 0 {
            continue;
        }
        let TableSize {
            stored_bytes,
            content_bytes,
        } = size;
        writeln!(
            text,
            "{title} table size {stored_bytes} bytes ({:.2} Kbytes)\n\t{}% of uncompressed {name} \
             table size ({content_bytes} bytes)",
            stored_bytes as f64 / 1024.0,
            percent(stored_bytes, content_bytes)
        )?;
    }
    Ok(())
}

/// What part of `whole_bytes` there is, with two decimals; all of nothing.
#[expect(
    clippy::cast_precision_loss,
    reason = "percents are printed with two decimals"
)]
fn percent(part_bytes: u64, whole_bytes: u64) -> String {
    if whole_bytes == 0 {
        return "100".to_owned();
    }
    format!("{:.2}", part_bytes as f64 / whole_bytes as f64 * 100.0)
}

fn write_counts(
    text: &mut String,
    options: &Options,
    source: &Source,
    summary: &Summary,
) -> Result<(), std::fmt::Error> {
    if options.deduplicated {
        let duplicates = summary.duplicate_files;
        writeln!(text, "Number of duplicate files found {duplicates}")?;
    } else {
        writeln!(text, "No duplicate files removed")?;
    }
    writeln!(text, "Number of inodes {}", summary.inode_count)?;
    let nodes = &source.tree.nodes;
    let count = |is: fn(&Kind) -> bool| nodes.iter().filter(|node| is(&node.kind)).count();
    let files = count(|kind| matches!(kind, Kind::File { .. }));
    writeln!(text, "Number of files {files}")?;
    if options.tails != Tails::None {
        writeln!(text, "Number of fragments {}", summary.fragment_count)?;
    }
    let symlinks = count(|kind| matches!(kind, Kind::Symlink { .. }));
    writeln!(text, "Number of symbolic links {symlinks}")?;
    let devices = count(|kind| matches!(kind, Kind::BlockDevice { .. } | Kind::CharDevice { .. }));
    writeln!(text, "Number of device nodes {devices}")?;
    let fifos = count(|kind| matches!(kind, Kind::Fifo));
    writeln!(text, "Number of fifo nodes {fifos}")?;
    let sockets = count(|kind| matches!(kind, Kind::Socket));
    writeln!(text, "Number of socket nodes {sockets}")?;
    let directories = count(|kind| matches!(kind, Kind::Directory { .. }));
    writeln!(text, "Number of directories {directories}")?;
    let names: usize = nodes
        .iter()
        .map(|node| match &node.kind {
            Kind::Directory { entries } => entries.len(),
            _ => 0,
        })
        .sum();
    // The root directory has no name.
    let links = (names + 1).saturating_sub(nodes.len());
    writeln!(text, "Number of hard-links {links}")
}

/// Who owns what is in an image.
struct Owners {
    users: BTreeSet<u32>,
    groups: BTreeSet<u32>,
}

impl Owners {
    fn of(source: &Source) -> Self {
        let nodes = &source.tree.nodes;
        Self {
            users: nodes.iter().map(|node| node.uid).collect(),
            groups: nodes.iter().map(|node| node.gid).collect(),
        }
    }

    /// How many numbers the id table holds.
    fn ids(&self) -> u64 {
        self.users.union(&self.groups).count() as u64
    }

    fn write(&self, text: &mut String) -> Result<(), std::fmt::Error> {
        writeln!(text, "Number of ids (unique uids + gids) {}", self.ids())?;
        for (what, numbers, database) in [
            ("uids", &self.users, names::USERS),
            ("gids", &self.groups, names::GROUPS),
        ] {
            writeln!(text, "Number of {what} {}", numbers.len())?;
            let database = fs::read(database).unwrap_or_default();
            for number in numbers {
                let name = names::name_in(&database, *number);
                let name = name.as_deref().unwrap_or("unknown");
                writeln!(text, "\t{name} ({number})")?;
            }
        }
        Ok(())
    }
}
