//! Options that cannot stand together, and the times that they settle.

use anyhow::{anyhow, bail};
use coldpress_report::failure::hint;
use coldpress_writer::Source;

use super::request::{Input, Patterns, Request, Time, Times};

/// Checks what no single option can.
///
/// # Errors
///
/// The first contradiction, with the names of its options.
pub fn check(request: &Request) -> anyhow::Result<()> {
    request.compression.check()?;
    if request.recover.is_some() {
        // It reads no source.
        return Ok(());
    }
    check_input(request)?;
    check_tar(request)?;
    if request.xattrs.contradiction {
        bail!("`-no-xattrs` contradicts `-xattrs-exclude`, `-xattrs-include` and `-xattrs-add`");
    }
    let talk = &request.talk;
    if talk.no_progress && talk.percentage {
        bail!("`-no-progress` and `-percentage` contradict each other");
    }
    if talk.no_progress && talk.progress {
        bail!("`-no-progress` and `-progress` contradict each other");
    }
    if request.sources.is_empty() && request.input.is_empty() && request.pseudo.is_empty() {
        let error = anyhow!("the source is `-`, but there is nothing to read");
        let how = "add -tar, -cpiostyle, or pseudo definitions that begin with one of `/`";
        return Err(hint(error, how));
    }
    Ok(())
}

fn check_input(request: &Request) -> anyhow::Result<()> {
    let mut inputs = request.input.clone();
    inputs.dedup();
    if inputs.len() > 1 {
        bail!("only one of `-tar`, `-cpiostyle` and `-pf -` can read standard input");
    }
    let reads = inputs.first().filter(|input| **input != Input::Definitions);
    if reads.is_some() && !request.sources.is_empty() {
        let option = if request.is_tar() {
            "-tar"
        } else {
            "-cpiostyle"
        };
        let error = anyhow!("`{option}` reads standard input, but sources are given too");
        let usage = format!("usage: mksquashfs - DESTINATION {option}");
        return Err(hint(error, usage));
    }
    Ok(())
}

fn check_tar(request: &Request) -> anyhow::Result<()> {
    if !request.is_tar() {
        return Ok(());
    }
    if request.max_depth.is_some() {
        bail!("`-max-depth` cannot be used with tar streams");
    }
    if !request.sort.is_empty() {
        bail!("`-sort` cannot be used with tar streams");
    }
    if !request.excludes.is_empty() && request.patterns == Patterns::Paths {
        bail!("with tar streams, `-e` and `-ef` need `-wildcards` or `-regex`");
    }
    Ok(())
}

/// The times of an image, free of contradictions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SettledTimes {
    /// Of the image; `None` for now.
    pub(crate) image: Option<Time>,
    /// Of all inodes; `None` for their own.
    pub(crate) inodes: Option<Time>,
    /// Of the root directory; `None` for its own.
    pub(crate) root: Option<Time>,
    /// Newer times of inodes are lowered to it.
    pub(crate) latest_s: Option<u32>,
}

impl SettledTimes {
    /// Settles the times.
    ///
    /// * `epoch_s`: the value of `SOURCE_DATE_EPOCH`, if it is set.
    ///
    /// # Errors
    ///
    /// If two of them contradict each other.
    pub fn new(times: &Times, epoch_s: Option<u32>) -> anyhow::Result<Self> {
        let mut mkfs = times.mkfs.clone();
        let mut inodes = times.inodes.clone();
        if times.repro {
            if times.repro_time.is_some() {
                bail!("`-repro` and `-repro-time` contradict each other");
            }
            if !mkfs.contains(&Time::Newest) {
                mkfs.push(Time::Newest);
            }
        }
        if let Some(time) = times.repro_time {
            for (option, given) in [("-mkfs-time", &mut mkfs), ("-inode-time", &mut inodes)] {
                if given.iter().any(|other| *other != time) {
                    bail!("`-repro-time` and `{option}` contradict each other");
                }
                *given = vec![time];
            }
        }
        let is_fixed = |times: &[Time]| times.iter().any(|time| matches!(time, Time::At(_)));
        if epoch_s.is_some() && (is_fixed(&mkfs) || is_fixed(&inodes)) {
            let error = anyhow!("a time is given by SOURCE_DATE_EPOCH and by an option");
            return Err(hint(error, "use one of them; mksquashfs refuses both too"));
        }
        Ok(Self {
            // The variable wins over `-mkfs-time inode`, as in mksquashfs.
            image: match epoch_s {
                Some(epoch_s) => Some(Time::At(epoch_s)),
                None => one("-mkfs-time", &mkfs)?,
            },
            inodes: one("-inode-time", &inodes)?,
            root: one("-root-time", &times.root)?,
            latest_s: epoch_s,
        })
    }

    /// The time of an image of `source`.
    ///
    /// * `now_s`: the time, seconds since 1970.
    pub fn image_s(self, source: &Source, now_s: u32) -> u32 {
        match self.image {
            Some(Time::At(asked_s)) => asked_s,
            // That of what is there already does not count, as in mksquashfs.
            Some(Time::Newest) => {
                let times = source.tree.new_nodes().iter().map(|node| node.mtime_s);
                times.max().unwrap_or(0)
            }
            None => now_s,
        }
    }
}

fn one(option: &str, times: &[Time]) -> anyhow::Result<Option<Time>> {
    match times {
        [] => Ok(None),
        [time] => Ok(Some(*time)),
        _ => bail!("`{option}` is given as a time and as `inode`"),
    }
}

#[cfg(test)]
mod tests;
