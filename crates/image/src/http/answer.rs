//! What a server says of a file with a range of it.

use std::io::ErrorKind;

use ureq::http::{HeaderMap, StatusCode};

/// A file as its server describes it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Answer {
    /// Length of the whole file.
    pub(super) size_bytes: u64,
    /// Length of the range that comes.
    pub(super) content_bytes: u64,
    /// By which the server tells this file from a later one: a strong `ETag`, or `Last-Modified`.
    pub(super) validator: Option<String>,
}

impl Answer {
    /// Understands an answer, or says why it is of no use.
    ///
    /// * `range`: first and last byte that were asked for.
    /// * `had_one`: whether the server has given ranges of this file before.
    pub(super) fn of(
        status: StatusCode,
        headers: &HeaderMap,
        range: (u64, u64),
        had_one: bool,
    ) -> Result<Self, (ErrorKind, String)> {
        let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
        match status.as_u16() {
            206 => {}
            // Asked for a range only of the file that it was, the server sends all of another.
            200 if had_one => {
                let why = "the file changed while it was read: the server sends another one";
                return Err((ErrorKind::Other, why.to_owned()));
            }
            200 => {
                let why = "the server does not serve ranges, which reading in place needs; fetch \
                           the file instead";
                return Err((ErrorKind::Unsupported, why.to_owned()));
            }
            416 => {
                let why = "the server has no such range: the file is empty, or changed";
                return Err((ErrorKind::Other, why.to_owned()));
            }
            404 | 410 => return Err((ErrorKind::NotFound, format!("the server says {status}"))),
            401 | 403 => {
                let why = format!("the server says {status}");
                return Err((ErrorKind::PermissionDenied, why));
            }
            408 | 429 | 500..=599 => {
                let why = format!("the server says {status}");
                return Err((ErrorKind::ResourceBusy, why));
            }
            _ => return Err((ErrorKind::Other, format!("the server says {status}"))),
        }
        let text = header("content-range").unwrap_or_default();
        let Some((first, last, size_bytes)) = parse_content_range(text) else {
            let why = format!(
                "the server's Content-Range `{}` is not valid",
                text.escape_debug()
            );
            return Err((ErrorKind::InvalidData, why));
        };
        let expected_last = range.1.min(size_bytes.saturating_sub(1));
        if (first, last) != (range.0, expected_last) {
            let why = format!(
                "the server sends bytes {first} to {last} instead of {} to {expected_last}",
                range.0
            );
            return Err((ErrorKind::InvalidData, why));
        }
        let etag = header("etag").filter(|etag| etag.starts_with('"'));
        Ok(Self {
            size_bytes,
            content_bytes: last - first + 1,
            validator: etag.or_else(|| header("last-modified")).map(str::to_owned),
        })
    }

    /// How a later answer shows that the file is another one.
    pub(super) fn differs_from(&self, later: &Self) -> Option<String> {
        if self.size_bytes != later.size_bytes {
            let (before, after) = (self.size_bytes, later.size_bytes);
            return Some(format!("its length was {before} and is {after} bytes"));
        }
        if self.validator != later.validator {
            let text = |answer: &Self| answer.validator.clone().unwrap_or_default();
            let (before, after) = (text(self), text(later));
            return Some(format!("its mark was {before:?} and is {after:?}"));
        }
        None
    }
}

/// `bytes 0-9/100`: first and last byte, and the length of the whole.
fn parse_content_range(text: &str) -> Option<(u64, u64, u64)> {
    let (range, size_bytes) = text.trim().strip_prefix("bytes")?.trim().split_once('/')?;
    let (first, last) = range.split_once('-')?;
    let number = |text: &str| text.trim().parse::<u64>().ok();
    let (first, last, size_bytes) = (number(first)?, number(last)?, number(size_bytes)?);
    (first <= last && last < size_bytes).then_some((first, last, size_bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_content_range_is_read_or_refused() {
        for (text, expected) in [
            ("bytes 0-9/100", Some((0, 9, 100))),
            (" bytes 99-99/100 ", Some((99, 99, 100))),
            ("bytes 0-9/*", None),
            ("bytes */100", None),
            ("bytes 9-0/100", None),
            ("bytes 0-100/100", None),
            ("bytes 0-18446744073709551616/1", None),
            ("items 0-9/100", None),
            ("", None),
        ] {
            assert_eq!(parse_content_range(text), expected, "{text}");
        }
    }
}
