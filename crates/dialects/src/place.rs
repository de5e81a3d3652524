//! Where in a file the image begins.

use coldpress_image::ImageOffset;
use coldpress_report::typed::parse_size_bytes;

/// Reads a place in a file.
///
/// # Errors
///
/// A clause that says what it looks like.
pub fn parse_offset(text: &str) -> Result<ImageOffset, String> {
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
