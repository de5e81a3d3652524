//! How far the kernel reads ahead in the files of a mount.

use anyhow::bail;
use clap::Args;
use coldpress_host::Readahead;
use coldpress_report::typed::parse_size_bytes;

/// One readahead, or several to compare.
#[derive(Debug, Args)]
pub(crate) struct ReadaheadArgs {
    /// How far the kernel reads ahead in the mount: a size, kernel or disk [default: disk]
    ///
    /// disk is the 128K of sticks and ordinary disks; kernel is what the loop device has, often
    /// 2.5M or 4M. SquashFS raises both to at least four blocks when it mounts. A size, for example
    /// 0 or 16K, is set after the mount, so SquashFS does not raise it. coldpress compares several
    /// values, separated by commas. See docs/readahead.md.
    #[arg(
        id = "readahead",
        long = "readahead",
        value_name = "LIST",
        value_delimiter = ',',
        value_parser = parse_readahead,
        hide_short_help = true
    )]
    list: Vec<Readahead>,
}

impl ReadaheadArgs {
    pub(crate) fn is_given(&self) -> bool {
        !self.list.is_empty()
    }

    /// Those that were asked for, or else others.
    pub(crate) fn or<'a>(&'a self, others: &'a [Readahead]) -> &'a [Readahead] {
        if self.list.is_empty() {
            others
        } else {
            &self.list
        }
    }

    /// The only one.
    ///
    /// # Errors
    ///
    /// If there are several.
    pub(crate) fn one(&self) -> anyhow::Result<Readahead> {
        match self.list.as_slice() {
            [] => Ok(Readahead::Disk),
            [one] => Ok(*one),
            several => bail!(
                "`--readahead` has {} values, must have one here",
                several.len()
            ),
        }
    }
}

/// Reads `kernel`, `disk` or a size: `0`, `16K`.
///
/// # Errors
///
/// A clause with the rule that is broken.
fn parse_readahead(text: &str) -> Result<Readahead, String> {
    match text {
        "kernel" => Ok(Readahead::Kernel),
        "disk" => Ok(Readahead::Disk),
        size => Readahead::kib_of_bytes(parse_size_bytes(size)?).map(Readahead::Kib),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_readahead_is_a_word_or_whole_pages() {
        for (text, expected) in [
            ("kernel", Some(Readahead::Kernel)),
            ("disk", Some(Readahead::Disk)),
            ("0", Some(Readahead::Kib(0))),
            ("16K", Some(Readahead::Kib(16))),
            ("1M", Some(Readahead::Kib(1024))),
            ("5K", None),
            ("-4K", None),
            ("", None),
        ] {
            assert_eq!(parse_readahead(text).ok(), expected, "{text}");
        }
    }
}
