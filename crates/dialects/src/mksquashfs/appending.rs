//! A destination that is there: added to, replaced or refused.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::os::unix::ffi::OsStrExt as _;

use anyhow::{Context as _, anyhow};
use coldpress_codec::Settings;
use coldpress_format::{Flags, Superblock};
use coldpress_layout::Tails;
use coldpress_report::failure::hint;
use coldpress_report::text::{escaped, quoted};
use coldpress_writer::{Appending, Error};

use super::request::{Request, Uncompressed, Xattrs};
use crate::squashfs_tools::Tool;

/// Opens the image that is there to append to it; `None` if there is none, or it is replaced. What
/// the request says of the making of the image gives way to how that image was made.
///
/// # Errors
///
/// If there is something that cannot be appended to.
pub fn open_old(request: &mut Request) -> anyhow::Result<Option<Appending>> {
    let path = &request.destination;
    if request.replace || path.symlink_metadata().is_err() {
        return Ok(None);
    }
    let how = if request.tool == Tool::Sqfstar {
        "-force"
    } else {
        "-noappend"
    };
    let advice = format!("add {how} to replace it");
    if request.is_tar() {
        let error = anyhow!("{} exists, and tar streams are not appended", quoted(path));
        return Err(hint(error, advice));
    }
    let appending = Appending::open(path, request.offset_bytes);
    let appending = appending.map_err(|error| match error {
        Error::NotAppendable { .. } => hint(error, advice.as_str()),
        error => error.into(),
    })?;
    let superblock = appending.superblock();
    let settings = Settings::recorded(
        superblock.compressor,
        appending.options(),
        superblock.block_size,
    );
    let settings = settings.with_context(|| format!("cannot append to {}", quoted(path)));
    let settings = settings.map_err(|error| hint(error, advice))?;
    fit(request, superblock, settings);
    Ok(Some(appending))
}

/// The names in the root directory that sources cannot have.
///
/// # Errors
///
/// If the image that is appended to cannot be read.
pub fn taken_names(
    request: &Request,
    appending: Option<&Appending>,
) -> anyhow::Result<BTreeSet<Vec<u8>>> {
    Ok(match (appending, &request.root_becomes) {
        (None, _) => BTreeSet::new(),
        (Some(_), Some(name)) => BTreeSet::from([name.as_bytes().to_vec()]),
        (Some(appending), None) => appending.names()?,
    })
}

/// Makes of a request one for more of an image, as mksquashfs 4.7.5 does: also `-no-xattrs` counts
/// only when the image is made.
fn fit(request: &mut Request, superblock: &Superblock, settings: Settings) {
    let has = |flag| superblock.flags.contains(flag);
    request.compression.continue_with(settings);
    request.block_size = superblock.block_size;
    request.uncompressed = Uncompressed {
        inodes: has(Flags::RAW_INODES),
        ids: has(Flags::RAW_IDS),
        data: has(Flags::RAW_DATA),
        fragments: has(Flags::RAW_FRAGMENTS),
        xattrs: has(Flags::RAW_XATTRS),
    };
    request.no_fragments = has(Flags::NO_FRAGMENTS);
    request.tails = Some(if has(Flags::ALL_FRAGMENTS) {
        Tails::All
    } else {
        Tails::Small
    });
    request.duplicates = has(Flags::DUPLICATES);
    request.exportable = has(Flags::EXPORTABLE);
    if has(Flags::NO_XATTRS) {
        request.xattrs = Xattrs {
            stored: false,
            ..Xattrs::default()
        };
    } else {
        request.xattrs.stored = true;
    }
}

/// What mksquashfs prints of an image to which it appends.
pub fn appending_text(request: &Request, appending: &Appending) -> String {
    let mut text = String::new();
    // Writing to a string does not fail.
    let _ = write_beginning(&mut text, request, appending.superblock());
    text
}

#[expect(
    clippy::cast_precision_loss,
    reason = "sizes are printed with two decimals"
)]
fn write_beginning(
    text: &mut String,
    request: &Request,
    superblock: &Superblock,
) -> Result<(), std::fmt::Error> {
    let destination = escaped(request.destination.as_os_str().as_encoded_bytes());
    let has = |flag| superblock.flags.contains(flag);
    let exportable = if has(Flags::EXPORTABLE) {
        "exportable "
    } else {
        ""
    };
    writeln!(
        text,
        "Found a valid {exportable}SQUASHFS superblock on {destination}."
    )?;
    writeln!(text, "\tCompression used {}", superblock.compressor)?;
    let un = |flag| if has(flag) { "un" } else { "" };
    writeln!(text, "\tInodes are {}compressed", un(Flags::RAW_INODES))?;
    writeln!(text, "\tData is {}compressed", un(Flags::RAW_DATA))?;
    writeln!(
        text,
        "\tFragments are {}compressed",
        un(Flags::RAW_FRAGMENTS)
    )?;
    writeln!(text, "\tXattrs are {}compressed", un(Flags::RAW_XATTRS))?;
    let not = |is_not| if is_not { "not " } else { "" };
    let no_fragments = not(has(Flags::NO_FRAGMENTS));
    writeln!(
        text,
        "\tFragments are {no_fragments}present in the filesystem"
    )?;
    let some_fragments = not(!has(Flags::ALL_FRAGMENTS));
    writeln!(
        text,
        "\tAlways-use-fragments option is {some_fragments}specified"
    )?;
    writeln!(
        text,
        "\tDuplicates are {}removed",
        not(!has(Flags::DUPLICATES))
    )?;
    writeln!(text, "\tXattrs are {}stored", not(has(Flags::NO_XATTRS)))?;
    let kilobytes = superblock.bytes_used as f64 / 1024.0;
    writeln!(
        text,
        "\tFilesystem size {kilobytes:.2} Kbytes ({:.2} Mbytes)",
        kilobytes / 1024.0
    )?;
    writeln!(text, "\tBlock size {}", superblock.block_size.bytes())?;
    writeln!(text, "\tNumber of fragments {}", superblock.fragment_count)?;
    writeln!(text, "\tNumber of inodes {}", superblock.inode_count)?;
    writeln!(text, "\tNumber of ids {}\n", superblock.id_count)?;
    writeln!(
        text,
        "Appending to existing 4.0 filesystem on {destination}, block size {}\n\
         All -b, -noI, -noD, -noF, -noX, -noId, -no-duplicates, -no-fragments,\n\
         -always-use-fragments, -exportable and -comp options ignored\n\n\
         If appending is not wanted, please re-run with -noappend specified!\n",
        superblock.block_size.bytes()
    )
}
