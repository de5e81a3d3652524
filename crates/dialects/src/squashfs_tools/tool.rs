//! The programs whose command lines are understood.

use std::ffi::OsStr;
use std::path::Path;

/// A program of squashfs-tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tool {
    /// `mksquashfs SOURCE... DESTINATION [OPTIONS] [-e PATHS...]`
    Mksquashfs,
    /// `sqfstar [OPTIONS] DESTINATION [PATHS...]`, with a tar stream on standard input.
    Sqfstar,
    /// `unsquashfs [OPTIONS] IMAGE [PATHS...]`
    Unsquashfs,
    /// `sqfscat [OPTIONS] IMAGE PATHS...`
    Sqfscat,
}

impl Tool {
    const ALL: [Self; 4] = [
        Self::Mksquashfs,
        Self::Sqfstar,
        Self::Unsquashfs,
        Self::Sqfscat,
    ];

    /// The tool with this name.
    pub fn from_name(name: &OsStr) -> Option<Self> {
        Self::ALL.into_iter().find(|tool| name == tool.name())
    }

    /// The tool as which this process was called.
    ///
    /// * `program`: the first word of its command line; its directory does not matter.
    pub fn called_as(program: &OsStr) -> Option<Self> {
        Self::from_name(Path::new(program).file_name()?)
    }

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Mksquashfs => "mksquashfs",
            Self::Sqfstar => "sqfstar",
            Self::Unsquashfs => "unsquashfs",
            Self::Sqfscat => "sqfscat",
        }
    }

    /// Its command line, as help shows it.
    pub const fn usage(self) -> &'static str {
        match self {
            Self::Mksquashfs => "mksquashfs SOURCE... DESTINATION [OPTIONS] [-e PATHS...]",
            Self::Sqfstar => "sqfstar [OPTIONS] DESTINATION [PATHS...]",
            Self::Unsquashfs => "unsquashfs [OPTIONS] IMAGE [PATHS...]",
            Self::Sqfscat => "sqfscat [OPTIONS] IMAGE PATHS...",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_is_known_by_the_last_part_of_its_path() {
        for (program, tool) in [
            ("mksquashfs", Some(Tool::Mksquashfs)),
            ("/usr/bin/mksquashfs", Some(Tool::Mksquashfs)),
            ("./sqfstar", Some(Tool::Sqfstar)),
            ("unsquashfs", Some(Tool::Unsquashfs)),
            ("/opt/bin/sqfscat", Some(Tool::Sqfscat)),
            ("coldpress", None),
            ("mksquashfs/coldpress", None),
            ("", None),
        ] {
            assert_eq!(Tool::called_as(OsStr::new(program)), tool, "{program}");
        }
    }
}
