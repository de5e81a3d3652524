//! How large a pack may be.

/// What a pack may take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PackLimit {
    /// Of the image's size, in percent.
    Percent(f64),
    /// In bytes.
    Bytes(u64),
}

impl PackLimit {
    /// Reads `+10%`, `10%`, or a size.
    ///
    /// * `size_bytes`: reads a size.
    ///
    /// # Errors
    ///
    /// The rule, if it is neither or nothing.
    pub fn parse(text: &str, size_bytes: impl Fn(&str) -> Option<u64>) -> Result<Self, String> {
        let rule = "must be a share of the image such as +10%, or a size such as 20M";
        let limit = match text.strip_suffix('%') {
            Some(percent) => {
                let percent = percent.strip_prefix('+').unwrap_or(percent);
                Self::Percent(percent.parse().map_err(|_| rule)?)
            }
            None => Self::Bytes(size_bytes(text).ok_or(rule)?),
        };
        match limit {
            Self::Percent(percent) if !(percent > 0.0 && percent <= 1000.0) => Err(rule.into()),
            Self::Bytes(0) => Err(rule.into()),
            limit => Ok(limit),
        }
    }

    /// In bytes, of an image of this size.
    pub fn bytes(self, image_bytes: u64) -> u64 {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_a_share_or_a_size() {
        for (text, expected) in [
            ("+10%", Some(PackLimit::Percent(10.0))),
            ("2.5%", Some(PackLimit::Percent(2.5))),
            ("20", Some(PackLimit::Bytes(20))),
            ("0", None),
            ("0%", None),
            ("-1%", None),
            ("nan%", None),
            ("1001%", None),
            ("much", None),
            ("", None),
        ] {
            let limit = PackLimit::parse(text, |text| text.parse().ok());
            assert_eq!(limit.ok(), expected, "{text}");
        }
        assert_eq!(PackLimit::Percent(10.0).bytes(12_345), 1234);
        assert_eq!(PackLimit::Bytes(7).bytes(12_345), 7);
    }
}
