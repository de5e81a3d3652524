//! Options of an image alone, as programs that call mksquashfs let their users give them.

use std::ffi::OsString;

use anyhow::{anyhow, bail};
use coldpress_report::failure::hint;
use coldpress_report::text::escaped;
use coldpress_writer::Options;

use super::options::{SECTIONS, WRITING};
use super::request::Request;
use super::settle;
use crate::squashfs_tools::Tool;
use crate::squashfs_tools::table::find;
use crate::squashfs_tools::words::option;

/// Options of other sections that say how an image is written, or what coldpress does anyway.
const OTHERS: [&str; 14] = [
    "-no-fragments",
    "-tailends",
    "-always-use-fragments",
    "-no-tailends",
    "-no-duplicates",
    "-exports",
    "-no-exports",
    "-xattrs",
    "-no-xattrs",
    "-nopad",
    "-noappend",
    "-no-recovery",
    "-all-root",
    "-root-owned",
];

/// How an image is to be written.
#[derive(Debug)]
pub struct ImageOptions {
    /// The options, but for the time of the image.
    pub options: Options,
    /// Whether what cannot be stored as found is an error.
    pub exit_on_error: bool,
}

/// Reads options of mksquashfs that come without sources and destination.
///
/// # Errors
///
/// If an option is unknown to mksquashfs, says what goes into the image and not how it is written,
/// or contradicts another.
pub fn image_options(words: &[OsString]) -> anyhow::Result<ImageOptions> {
    let tool = Tool::Mksquashfs;
    let mut request = Request::new(tool);
    let mut left = words;
    while let Some((word, rest)) = left.split_first() {
        let name = word.to_str().unwrap_or_default();
        if !OTHERS.contains(&name) && find(&WRITING, name, tool).is_none() {
            let name = escaped(word.as_encoded_bytes());
            let error = anyhow!("`{name}` is not an option that says how an image is written");
            let known = "such options are -comp, -Xcompression-level, -b, -noD, -no-fragments";
            return Err(hint(error, known));
        }
        left = option(&mut request, &SECTIONS, tool, word, rest)?;
        if request.print.is_some() {
            bail!("`{name}` prints something and writes no image");
        }
    }
    request.compression.check()?;
    let threads = coldpress_host::threads(request.work.threads);
    Ok(ImageOptions {
        options: settle::options(&request, threads)?,
        exit_on_error: request.talk.exit_on_error,
    })
}

#[cfg(test)]
mod tests {
    use coldpress_format::Compressor;
    use coldpress_layout::Tails;

    use super::*;

    fn read(text: &str) -> anyhow::Result<ImageOptions> {
        let words: Vec<OsString> = text.split_whitespace().map(Into::into).collect();
        image_options(&words)
    }

    #[test]
    fn options_of_a_site_say_how_an_image_is_written() {
        let read = read("-comp zstd -Xcompression-level 3 -b 1M -noD -exit-on-error").unwrap();
        assert!(read.exit_on_error && read.options.uncompressed.data);
        assert_eq!(read.options.block_size.bytes(), 1 << 20);
        let settings = read.options.compression.unwrap();
        assert_eq!((settings.compressor, settings.level), (Compressor::Zstd, 3));
    }

    #[test]
    fn no_options_are_those_of_mksquashfs() {
        let options = read("").unwrap().options;
        assert_eq!(options.tails, Tails::Small);
        assert_eq!(options.compression.unwrap().compressor, Compressor::Gzip);
    }

    #[test]
    fn what_says_something_else_is_refused_by_its_name() {
        for (text, told) in [
            ("-comp zstd -e dev", "`-e` is not an option"),
            ("-help", "`-help` is not an option"),
            ("-Xhelp", "`-Xhelp` prints something"),
            ("-sort list", "`-sort` is not an option"),
            ("-comp nope", "nope"),
            ("-comp", "`-comp` needs a value"),
            ("zstd", "`zstd` is not an option"),
            ("-b 3", "3"),
        ] {
            let error = format!("{:#}", read(text).unwrap_err());
            assert!(error.contains(told), "{text}: {error}");
        }
    }
}
