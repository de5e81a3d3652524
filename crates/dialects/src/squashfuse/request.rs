//! Words of a command line to a [`Request`], as libfuse reads them.
//!
//! Options and the two names stand in any order; options of one letter are not joined, and the
//! value of `-o` may follow it at once.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use anyhow::{anyhow, bail};
use coldpress_report::failure::hint;
use coldpress_report::text::escaped;

use super::{MountOption, options};

/// What a command line asks for.
#[derive(Debug)]
pub enum Request {
    /// Its usage.
    Usage,
    /// A mount.
    Mount(Mounting),
}

/// An image to mount.
#[derive(Debug, Default)]
pub struct Mounting {
    /// The image.
    pub image: PathBuf,
    /// Where it is mounted.
    pub directory: PathBuf,
    /// The program stays until it is unmounted.
    pub foreground: bool,
    /// One thread answers.
    pub single: bool,
    /// What the lists behind `-o` ask for.
    pub options: Vec<MountOption>,
}

impl Request {
    /// Reads the words behind the name of the program.
    ///
    /// # Errors
    ///
    /// If an option is unknown, refused or lacks its value, or there are not two names.
    pub fn parse(words: &[OsString]) -> anyhow::Result<Self> {
        let mut mounting = Mounting::default();
        let mut names = Vec::new();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            match word.as_encoded_bytes() {
                b"--" => names.extend(words.by_ref()),
                b"-h" | b"--help" | b"-V" | b"--version" => return Ok(Self::Usage),
                b"-f" | b"-d" => mounting.foreground = true,
                b"-s" => mounting.single = true,
                b"-o" => {
                    let list = words.next().ok_or_else(|| anyhow!("`-o` needs a value"))?;
                    mounting.add(list.as_encoded_bytes())?;
                }
                [b'-', b'o', list @ ..] => mounting.add(list)?,
                _ if is_option(word) => {
                    let error = anyhow!(
                        "`{}` is not an option of squashfuse",
                        escaped(word.as_encoded_bytes())
                    );
                    return Err(hint(error, "`-h` lists the options"));
                }
                _ => names.push(word),
            }
        }
        let [image, directory] = names.as_slice() else {
            let error = anyhow!(
                "give an image and a directory; there are {} names",
                names.len()
            );
            return Err(hint(
                error,
                "usage: squashfuse [options] ARCHIVE MOUNTPOINT",
            ));
        };
        if image.is_empty() || directory.is_empty() {
            bail!("the name of the image or of the directory is empty");
        }
        mounting.image = image.into();
        mounting.directory = directory.into();
        Ok(Self::Mount(mounting))
    }
}

impl Mounting {
    /// Adds the options of one list.
    fn add(&mut self, list: &[u8]) -> anyhow::Result<()> {
        for option in options::split(list) {
            self.foreground |= option == b"debug";
            self.options.extend(options::read(&option)?);
        }
        Ok(())
    }
}

/// Whether a word is an option: begins with a dash and is more than that.
fn is_option(word: &OsStr) -> bool {
    word.as_encoded_bytes().starts_with(b"-")
}

#[cfg(test)]
mod tests {
    use super::*;
    use coldpress_report::failure::sentence;

    fn parse(words: &[&str]) -> anyhow::Result<Request> {
        let words: Vec<OsString> = words.iter().map(OsString::from).collect();
        Request::parse(&words)
    }

    #[test]
    fn a_command_line_becomes_a_request() {
        for (words, foreground, single, options) in [
            (&["a", "b"][..], false, false, 0),
            (&["-f", "-s", "a", "b"], true, true, 0),
            (&["a", "-d", "b"], true, false, 0),
            (&["a", "b", "-o", "uid=1,gid=2"], false, false, 2),
            (&["-oro,debug", "a", "b"], true, false, 1),
            (&["-o", "nonempty", "--", "a", "b"], false, false, 0),
            // As Apptainer calls it where there is nothing to say.
            (&["-f", "-o", "", "a", "b"], true, false, 0),
        ] {
            let Ok(Request::Mount(mounting)) = parse(words) else {
                panic!("{words:?}");
            };
            let names = (mounting.image.to_str(), mounting.directory.to_str());
            assert_eq!(names, (Some("a"), Some("b")));
            let found = (mounting.foreground, mounting.single, mounting.options.len());
            assert_eq!(found, (foreground, single, options), "{words:?}");
        }
    }

    #[test]
    fn names_that_look_like_options_stand_behind_two_dashes() {
        let Ok(Request::Mount(mounting)) = parse(&["--", "-f", "-o"]) else {
            panic!("two names");
        };
        let found = (mounting.image.to_str(), mounting.foreground);
        assert_eq!(found, (Some("-f"), false));
    }

    #[test]
    fn help_is_asked_for_in_four_ways() {
        for word in ["-h", "--help", "-V", "--version"] {
            assert!(matches!(parse(&["a", word]), Ok(Request::Usage)), "{word}");
        }
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (words, error) in [
            (&[][..], "give an image and a directory; there are 0 names"),
            (&["a"], "give an image and a directory; there are 1 names"),
            (
                &["a", "b", "c"],
                "give an image and a directory; there are 3 names",
            ),
            (
                &["a", ""],
                "the name of the image or of the directory is empty",
            ),
            (&["-fs", "a", "b"], "`-fs` is not an option of squashfuse"),
            (&["a", "b", "-o"], "`-o` needs a value"),
            (
                &["a", "b", "-o", "ro,foo"],
                "`-o foo` is not an option of squashfuse",
            ),
        ] {
            assert_eq!(sentence(&parse(words).unwrap_err()), error, "{words:?}");
        }
    }
}
