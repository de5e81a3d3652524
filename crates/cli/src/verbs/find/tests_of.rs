//! From flags to what must hold for a path.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt as _;

use anyhow::{Context as _, anyhow};
use coldpress_describe::Tests;
use coldpress_format::InodeKind;
use coldpress_host::names;
use coldpress_writer::{Pattern, parse_time};

use crate::verbs::find::args::{TestArgs, TypeLetter};

/// # Errors
///
/// If a value means nothing.
pub(super) fn tests(args: &TestArgs) -> anyhow::Result<Tests> {
    let glob = |pattern: &Option<OsString>| {
        let pattern = pattern.as_deref();
        pattern.map(|glob| Pattern::glob(glob.as_bytes()))
    };
    let time = |text: &Option<String>| text.as_deref().map(parse_time).transpose();
    let regex = args.regex.as_deref();
    let regex = regex.map(|regex| Pattern::regex(regex.as_bytes()));
    Ok(Tests {
        name: glob(&args.name),
        path: glob(&args.path),
        regex: regex.transpose().context("--regex")?,
        kinds: args.r#type.iter().copied().map(kind).collect(),
        size: args.size,
        newer_s: time(&args.newer).context("--newer")?,
        older_s: time(&args.older).context("--older")?,
        uid: id(args.uid.as_deref(), "user", names::user)?,
        gid: id(args.gid.as_deref(), "group", names::group)?,
        mode: args.mode,
        links: args.links,
        xattr: glob(&args.xattr),
        empty: args.empty,
        max_depth: args.max_depth,
        min_depth: args.min_depth.unwrap_or(0),
    })
}

fn kind(letter: TypeLetter) -> InodeKind {
    match letter {
        TypeLetter::F => InodeKind::File,
        TypeLetter::D => InodeKind::Directory,
        TypeLetter::L => InodeKind::Symlink,
        TypeLetter::B => InodeKind::BlockDevice,
        TypeLetter::C => InodeKind::CharDevice,
        TypeLetter::P => InodeKind::Fifo,
        TypeLetter::S => InodeKind::Socket,
    }
}

/// A number, or the number of a name.
fn id(
    text: Option<&str>,
    what: &str,
    number: impl Fn(&[u8]) -> Option<u32>,
) -> anyhow::Result<Option<u32>> {
    text.map(|text| {
        let found = text.parse().ok().or_else(|| number(text.as_bytes()));
        found.ok_or_else(|| anyhow!("this system knows no {what} `{text}`; give a number"))
    })
    .transpose()
}
