//! Command lines of other tools.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;

use coldpress_dialects::squashfuse::Request;
use coldpress_dialects::{Tool, mksquashfs, unsquashfs};

/// Words that are read from one input.
const WORDS_MAX: usize = 64;

/// Any words, each behind a zero byte, are a request or an error; what they ask to print is there.
pub(crate) fn words(data: &[u8]) {
    let words = data.split(|byte| *byte == 0).take(WORDS_MAX);
    let words: Vec<OsString> = words
        .map(|word| OsString::from_vec(word.to_vec()))
        .collect();
    for tool in [Tool::Mksquashfs, Tool::Sqfstar] {
        if let Ok(request) = mksquashfs::parse(tool, &words) {
            if let Some(print) = &request.print {
                let _ = mksquashfs::help(&request, print);
            }
            let _ = mksquashfs::check(&request);
            assert!(request.work.rest_percent < 100);
        }
    }
    for tool in [Tool::Unsquashfs, Tool::Sqfscat] {
        if let Ok(request) = unsquashfs::parse(tool, &words) {
            assert!(request.print.is_some() || !words.is_empty());
            let _ = unsquashfs::kept_xattrs(&request);
        }
    }
    if let Ok(Request::Mount(mounting)) = Request::parse(&words) {
        assert!(!mounting.image.as_os_str().is_empty());
    }
}
