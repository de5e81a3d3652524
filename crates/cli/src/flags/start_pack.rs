//! Whether an image gets a start pack, and how large that may be.

use clap::Args;
use coldpress_report::typed::parse_size_bytes;

/// Whether an image gets a start pack.
#[derive(Debug, Args)]
pub(crate) struct StartPackArgs {
    /// Add the pages of the recorded start to the image, up to this size
    ///
    /// `+10%` is a tenth of the image's size, `20M` an absolute size. The start pack lies after the
    /// image, which stays as it is: the kernel mounts it as before, and `coldpress mount`, `run`
    /// and `squashfuse` read the pack first. It pays where the start needs little of large files.
    /// See docs/start-pack.md.
    #[arg(
        long,
        value_name = "SIZE",
        value_parser = parse_pack_limit,
        allow_hyphen_values = true,
        hide_short_help = true
    )]
    pub(crate) start_pack: Option<PackLimit>,
}

/// What a start pack may take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum PackLimit {
    /// Of the image's size, in percent.
    Percent(f64),
    Bytes(u64),
}

impl PackLimit {
    /// In bytes, of an image of this size.
    pub(crate) fn bytes(self, image_bytes: u64) -> u64 {
        match self {
            Self::Bytes(bytes) => bytes,
            #[expect(
                clippy::cast_precision_loss,
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "a limit that is meant roughly"
            )]
            Self::Percent(percent) => (image_bytes as f64 * percent / 100.0) as u64,
        }
    }
}

fn parse_pack_limit(text: &str) -> Result<PackLimit, String> {
    let rule = "must be a share of the image such as +10%, or a size such as 20M";
    let limit = match text.strip_suffix('%') {
        Some(percent) => {
            let percent = percent.strip_prefix('+').unwrap_or(percent);
            PackLimit::Percent(percent.parse().map_err(|_| rule)?)
        }
        None => PackLimit::Bytes(parse_size_bytes(text).map_err(|_| rule)?),
    };
    match limit {
        PackLimit::Percent(percent) if !(percent > 0.0 && percent <= 1000.0) => Err(rule.into()),
        PackLimit::Bytes(0) => Err(rule.into()),
        limit => Ok(limit),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_a_share_or_a_size() {
        for (text, expected) in [
            ("+10%", Some(PackLimit::Percent(10.0))),
            ("2.5%", Some(PackLimit::Percent(2.5))),
            ("20M", Some(PackLimit::Bytes(20 << 20))),
            ("0", None),
            ("0%", None),
            ("-1%", None),
            ("nan%", None),
            ("1001%", None),
            ("much", None),
            ("", None),
        ] {
            assert_eq!(parse_pack_limit(text).ok(), expected, "{text}");
        }
        assert_eq!(PackLimit::Percent(10.0).bytes(12_345), 1234);
        assert_eq!(PackLimit::Bytes(7).bytes(12_345), 7);
    }
}
