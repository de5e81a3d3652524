//! From flags to what of the sources goes into an image.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow};
use coldpress_report::failure::hint;
use coldpress_report::text::quoted;
use coldpress_writer::{
    Exclusions, FileContexts, Matching, Mode, Mounts, Overrides, Owners, Rules, Selection, Time,
    Times, Xattrs, exclude_file_lines,
};

use crate::flags::source::{MetadataArgs, OtherFileSystems, SourceArgs, Syntax};

/// What is selected of `sources`.
///
/// # Errors
///
/// If a file of patterns cannot be read, or a pattern means nothing.
pub(crate) fn selection(args: &SourceArgs, sources: &[PathBuf]) -> anyhow::Result<Selection> {
    let mut selection = Selection {
        mounts: match args.one_file_system {
            None => Mounts::Enter,
            Some(OtherFileSystems::Empty) => Mounts::Empty,
            Some(OtherFileSystems::Leave) => Mounts::Leave,
        },
        max_depth: args.max_depth,
        ignore_files: args
            .ignore_file
            .iter()
            .map(|name| name.clone().into())
            .collect(),
        ..Selection::default()
    };
    for pattern in &args.include {
        selection.include.add(pattern.as_bytes())?;
    }
    match args.exclude_syntax {
        Syntax::Gitignore => selection.exclude = rules(args)?,
        Syntax::Path => selection.exclusions = paths(args, sources)?,
        Syntax::Wildcards => selection.exclusions = patterns(args, Matching::Wildcards)?,
        Syntax::Regex => selection.exclusions = patterns(args, Matching::Regex)?,
    }
    Ok(selection)
}

fn rules(args: &SourceArgs) -> anyhow::Result<Rules> {
    let mut rules = Rules::default();
    for file in &args.excluded.exclude_from {
        rules.add_file(&read(file)?)?;
    }
    for pattern in &args.excluded.exclude {
        rules.add(pattern.as_bytes())?;
    }
    Ok(rules)
}

fn paths(args: &SourceArgs, sources: &[PathBuf]) -> anyhow::Result<Exclusions> {
    let (exclusions, failures) = Exclusions::by_path(sources, &lines(args)?);
    match failures.into_iter().next() {
        None => Ok(exclusions),
        Some((path, error)) => {
            let error = anyhow!(error).context(format!("cannot exclude {}", quoted(&path)));
            Err(hint(
                error,
                "coldpress does not look in the sources for a path that begins with `/`, `./` or \
                 `../`",
            ))
        }
    }
}

fn patterns(args: &SourceArgs, matching: Matching) -> anyhow::Result<Exclusions> {
    Ok(Exclusions::by_pattern(&lines(args)?, matching)?)
}

/// The patterns of files and flags, as mksquashfs reads them.
pub(crate) fn lines(args: &SourceArgs) -> anyhow::Result<Vec<Vec<u8>>> {
    let mut lines = Vec::new();
    for file in &args.excluded.exclude_from {
        lines.extend(exclude_file_lines(&read(file)?));
    }
    lines.extend(
        args.excluded
            .exclude
            .iter()
            .map(|pattern| pattern.clone().into()),
    );
    Ok(lines)
}

/// What replaces the metadata of the sources.
///
/// * `epoch_s`: `SOURCE_DATE_EPOCH`.
///
/// # Errors
///
/// If a value means nothing, or a file cannot be read.
pub(crate) fn overrides(args: &MetadataArgs, epoch_s: Option<u32>) -> anyhow::Result<Overrides> {
    let mode = |text: &Option<String>| text.as_deref().map(Mode::parse).transpose();
    let contexts = args.selinux.as_ref().map(|file| {
        FileContexts::parse(&read(file)?).with_context(|| format!("cannot use {}", quoted(file)))
    });
    Ok(Overrides {
        owners: owners(args)?,
        file_mode: mode(&args.file_mode)?,
        directory_mode: mode(&args.dir_mode)?,
        root_mode: mode(&args.root_mode)?,
        times: times(args, epoch_s)?,
        xattrs: xattrs(args)?,
        contexts: contexts.transpose()?,
        ..Overrides::default()
    })
}

fn times(args: &MetadataArgs, epoch_s: Option<u32>) -> anyhow::Result<Times> {
    let time = |text: &Option<String>| text.as_deref().map(Time::parse).transpose();
    let times = Times {
        image: time(&args.image_time)?,
        inodes: time(&args.inode_time)?,
        root: time(&args.root_time)?,
    };
    times.check(epoch_s)?;
    Ok(times)
}

fn xattrs(args: &MetadataArgs) -> anyhow::Result<Xattrs> {
    let mut xattrs = Xattrs::default();
    for pattern in &args.xattr_exclude {
        xattrs.exclude(pattern)?;
    }
    for pattern in &args.xattr_include {
        xattrs.include(pattern)?;
    }
    for text in &args.xattr_add {
        xattrs.add(text.as_bytes())?;
    }
    Ok(xattrs)
}

fn owners(args: &MetadataArgs) -> anyhow::Result<Owners> {
    let user = |text: &Option<String>| text.as_deref().map(|it| number(it, &USERS)).transpose();
    let group = |text: &Option<String>| text.as_deref().map(|it| number(it, &GROUPS)).transpose();
    let root = args.all_root.then_some(0);
    Ok(Owners {
        uid: user(&args.uid)?.or(root),
        gid: group(&args.gid)?.or(root),
        root_uid: user(&args.root_uid)?,
        root_gid: group(&args.root_gid)?,
        offset: args.uid_gid_offset.unwrap_or(0),
    })
}

/// Where names have their numbers.
struct Names {
    what: &'static str,
    file: &'static str,
}

const USERS: Names = Names {
    what: "user",
    file: "/etc/passwd",
};
const GROUPS: Names = Names {
    what: "group",
    file: "/etc/group",
};

/// The number of a user or group: the text itself, or what the file says of the name.
fn number(text: &str, names: &Names) -> anyhow::Result<u32> {
    let &Names { what, file } = names;
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        let number = text.parse();
        return number.map_err(|_| anyhow!("{what} `{text}` is over 4294967295"));
    }
    let lines = fs::read_to_string(file).with_context(|| format!("cannot read `{file}`"))?;
    let number = lines.lines().find_map(|line| {
        let mut fields = line.split(':');
        let is_named = fields.next() == Some(text);
        is_named.then(|| fields.nth(1)?.parse().ok()).flatten()
    });
    number.ok_or_else(|| {
        let error = anyhow!("{what} `{text}` is neither a number nor in `{file}`");
        hint(error, "give the number")
    })
}

fn read(file: &Path) -> anyhow::Result<Vec<u8>> {
    fs::read(file).with_context(|| format!("cannot read {}", quoted(file)))
}
