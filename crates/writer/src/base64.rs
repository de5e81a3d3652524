//! Base64 as tools for xattrs write it (RFC 4648, section 4): the padding may be left out, and bits
//! that make no whole byte may be anything.

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

const fn engine(padding: DecodePaddingMode) -> GeneralPurpose {
    let config = GeneralPurposeConfig::new()
        .with_decode_allow_trailing_bits(true)
        .with_decode_padding_mode(padding);
    GeneralPurpose::new(&STANDARD, config)
}

const PADDED: GeneralPurpose = engine(DecodePaddingMode::RequireCanonical);
const UNPADDED: GeneralPurpose = engine(DecodePaddingMode::RequireNone);

/// The bytes of a text; `None` if it is no Base64, or its padding is incomplete.
pub(crate) fn decode(text: &[u8]) -> Option<Vec<u8>> {
    let engine = if text.ends_with(b"=") {
        PADDED
    } else {
        UNPADDED
    };
    engine.decode(text).ok()
}

#[cfg(test)]
mod tests {
    use super::decode;

    #[test]
    fn padding_is_whole_or_left_out() {
        let cases: [(&[u8], Option<&[u8]>); 14] = [
            (b"", Some(b"")),
            (b"Zm8=", Some(b"fo")),
            (b"Zm8", Some(b"fo")),
            (b"Zg==", Some(b"f")),
            (b"Zg", Some(b"f")),
            // The last four bits of two digits make no byte.
            (b"Zh==", Some(b"f")),
            (b"Zm9v", Some(b"foo")),
            (b"Zg=", None),
            (b"Z===", None),
            (b"Z", None),
            (b"=", None),
            (b"====", None),
            (b"Zm9v====", None),
            (b"Zm-_", None),
        ];
        for (text, bytes) in cases {
            assert_eq!(decode(text).as_deref(), bytes, "{}", text.escape_ascii());
        }
    }
}
