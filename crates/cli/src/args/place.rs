//! Where in a file the image begins, for every verb that reads one.

use clap::Args;

use super::number::parse_size_bytes;

/// Which bytes of IMAGE are the image.
#[derive(Clone, Copy, Debug, Default, Args)]
pub(crate) struct PlaceArgs {
    /// Byte of IMAGE at which the image begins, or `auto` to search for it
    ///
    /// For an image inside another file, such as an AppImage, a SIF container or a firmware. `auto`
    /// takes the partition that a SIF container runs; otherwise the first image that begins in the
    /// first 64 MiB, or after the program at the beginning of the file.
    #[arg(long, value_name = "BYTES", value_parser = parse_offset, hide_short_help = true)]
    pub(crate) offset: Option<ImageOffset>,
}

/// Where an image begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ImageOffset {
    /// At this byte.
    Bytes(u64),
    /// Wherever one is found.
    Auto,
}

/// Reads a place in a file.
///
/// # Errors
///
/// A clause that says what it looks like.
pub(super) fn parse_offset(text: &str) -> Result<ImageOffset, String> {
    if text == "auto" {
        return Ok(ImageOffset::Auto);
    }
    let bytes = parse_size_bytes(text).map_err(|rule| format!("{rule}, or `auto`"))?;
    Ok(ImageOffset::Bytes(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_offset_is_a_size_or_auto() {
        for (text, offset) in [
            ("0", Some(ImageOffset::Bytes(0))),
            ("944632", Some(ImageOffset::Bytes(944_632))),
            ("4K", Some(ImageOffset::Bytes(4096))),
            ("auto", Some(ImageOffset::Auto)),
            ("Auto", None),
            ("-1", None),
            ("", None),
        ] {
            assert_eq!(parse_offset(text).ok(), offset, "{text}");
        }
    }
}
