//! The two programs.

use std::ffi::OsStr;
use std::path::Path;

/// A program that mounts images in user space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Program {
    /// `squashfuse`, which uses libfuse's interface of paths.
    Squashfuse,
    /// `squashfuse_ll`, which uses that of inodes.
    SquashfuseLl,
}

impl Program {
    const ALL: [Self; 2] = [Self::Squashfuse, Self::SquashfuseLl];

    /// The program with this name.
    pub fn from_name(name: &OsStr) -> Option<Self> {
        Self::ALL.into_iter().find(|program| name == program.name())
    }

    /// The program as which this process was called.
    ///
    /// * `program`: the first word of its command line; its directory does not matter.
    pub fn called_as(program: &OsStr) -> Option<Self> {
        Self::from_name(Path::new(program).file_name()?)
    }

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Squashfuse => "squashfuse",
            Self::SquashfuseLl => "squashfuse_ll",
        }
    }

    /// Its exit status for a wrong command line, and for help. Both return -2 or 2, of which the
    /// system keeps a byte.
    pub const fn misused(self) -> u8 {
        match self {
            Self::Squashfuse => 254,
            Self::SquashfuseLl => 2,
        }
    }

    /// Its exit status if the image can be opened and not be mounted.
    pub const fn not_mounted(self) -> u8 {
        match self {
            // libfuse's own.
            Self::Squashfuse => 4,
            Self::SquashfuseLl => 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_known_by_the_last_part_of_its_path() {
        for (word, program) in [
            ("squashfuse", Some(Program::Squashfuse)),
            ("/usr/bin/squashfuse", Some(Program::Squashfuse)),
            ("./squashfuse_ll", Some(Program::SquashfuseLl)),
            ("squashfuse_ls", None),
            ("squashfuse_ll/coldpress", None),
            ("", None),
        ] {
            assert_eq!(Program::called_as(OsStr::new(word)), program, "{word}");
        }
    }
}
