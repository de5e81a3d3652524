//! What a trace says about itself.

/// The `# key: value` lines of a trace, in the order of the file.
///
/// Known keys: `source`, `command`, `kernel`, `page-size`, `read-ahead-kib`, `recorder`, `cold`,
/// `lost-events` (docs/trace-format.md, "Header"). Others are kept as they are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// Keys (of `a`-`z`, `0`-`9` and `-`) and values (any text).
    pub fields: Vec<(String, String)>,
}

impl Header {
    /// The value of the first field with this key.
    pub fn find(&self, key: &str) -> Option<&str> {
        self.fields
            .iter()
            .find(|(name, _)| name == key)
            .map(|(_, value)| value.as_str())
    }
}
