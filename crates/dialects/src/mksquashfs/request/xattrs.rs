//! Extended attributes.

use std::ffi::OsString;

/// Which extended attributes are stored.
#[derive(Debug)]
pub(crate) struct Xattrs {
    pub(crate) stored: bool,
    /// A regular expression; the last one counts.
    pub(crate) exclude: Option<String>,
    pub(crate) include: Option<String>,
    /// `name=value` as typed.
    pub(crate) add: Vec<OsString>,
    /// `-no-xattrs` came behind one of the others, which mksquashfs refuses.
    pub(crate) contradiction: bool,
}

impl Default for Xattrs {
    fn default() -> Self {
        Self {
            stored: true,
            exclude: None,
            include: None,
            add: Vec::new(),
            contradiction: false,
        }
    }
}

impl Xattrs {
    /// `-no-xattrs`.
    pub(crate) fn none(&mut self) {
        self.contradiction |=
            self.exclude.is_some() || self.include.is_some() || !self.add.is_empty();
        self.stored = false;
    }

    /// `-xattrs-exclude`.
    pub(crate) fn exclude(&mut self, regex: String) {
        self.exclude = Some(regex);
        self.stored = true;
    }

    /// `-xattrs-include`.
    pub(crate) fn include(&mut self, regex: String) {
        self.include = Some(regex);
        self.stored = true;
    }

    /// `-xattrs-add`.
    pub(crate) fn add(&mut self, definition: OsString) {
        self.add.push(definition);
        self.stored = true;
    }
}
