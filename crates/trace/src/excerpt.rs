//! A piece of hostile text in an error message.

use std::fmt;

use crate::path_text::PathText;

/// The beginning of text that was found where something else belongs.
///
/// It is escaped and cut, so that an error stays one short line whatever the file holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excerpt(String);

impl Excerpt {
    /// Bytes of the text that are shown.
    pub const LEN_MAX: usize = 48;

    /// The beginning of `text`.
    pub fn new(text: &[u8]) -> Self {
        match text.get(..Self::LEN_MAX) {
            Some(beginning) if text.len() > Self::LEN_MAX => {
                Self(format!("{}...", PathText(beginning)))
            }
            _ => Self(PathText(text).to_string()),
        }
    }
}

impl fmt::Display for Excerpt {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_long_text_is_cut() {
        assert_eq!(Excerpt::new(b"a\xff").to_string(), "a\\xff");
        assert_eq!(Excerpt::new(&[b'a'; 48]).to_string(), "a".repeat(48));
        assert_eq!(
            Excerpt::new(&[b'a'; 49]).to_string(),
            "a".repeat(48) + "..."
        );
    }
}
