//! Which options of mksquashfs a site gives to enroot.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::error::Error;

/// The variable in the environment, and the key in the configuration.
pub const ENROOT_SQUASH_OPTIONS: &str = "ENROOT_SQUASH_OPTIONS";

/// Looks for `ENROOT_SQUASH_OPTIONS` where enroot does: in `enroot.conf`, then in
/// `enroot.conf.d/*.conf`; the first that is not empty counts. Returns the file and the value.
///
/// * `directory`: that of the configuration, `/etc/enroot` as a rule.
///
/// # Errors
///
/// [`Error::File`] if a file is there and cannot be read, and [`Error::Rule`] if the value needs a
/// shell: enroot has one evaluate it.
pub fn enroot_squash_options(directory: &Path) -> Result<Option<(PathBuf, String)>, Error> {
    let mut files = vec![directory.join("enroot.conf")];
    if let Ok(dropped_in) = fs::read_dir(directory.join("enroot.conf.d")) {
        let paths = dropped_in.filter_map(|entry| Some(entry.ok()?.path()));
        let mut paths: Vec<PathBuf> = paths
            .filter(|path| path.extension().is_some_and(|it| it == "conf"))
            .collect();
        paths.sort_unstable();
        files.append(&mut paths);
    }
    for file in files {
        let text = match fs::read(&file) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            read => read.map_err(|error| Error::File {
                action: "read",
                path: file.clone(),
                error,
            })?,
        };
        if let Some(value) = value(&String::from_utf8_lossy(&text)) {
            let value = evaluated(&value).ok_or_else(|| Error::Rule {
                image: file.display().to_string(),
                what: ENROOT_SQUASH_OPTIONS.to_owned(),
                rule: format!("`{value}` has variables or commands, which only a shell expands"),
            })?;
            return Ok(Some((file, value)));
        }
    }
    Ok(None)
}

/// The first value of the key that is not empty. `read` of a shell splits a line at blanks and `=`.
fn value(text: &str) -> Option<String> {
    let is_blank = |c: char| [' ', '\t', '='].contains(&c);
    text.lines().find_map(|line| {
        let line = line.trim_matches(is_blank);
        let rest = line.strip_prefix(ENROOT_SQUASH_OPTIONS)?;
        let value = rest.strip_prefix(is_blank)?.trim_matches(is_blank);
        (!value.is_empty()).then(|| value.to_owned())
    })
}

/// A value without its quotation marks; `None` if it means something to a shell.
fn evaluated(value: &str) -> Option<String> {
    let is_plain = !value.contains(['$', '`', '\\', ';', '|', '&', '<', '>', '(', ')', '*', '?']);
    is_plain.then(|| value.replace(['"', '\''], ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_read_as_enroot_reads_it() {
        for (text, expected) in [
            (
                "ENROOT_SQUASH_OPTIONS -comp lzo -noD\n",
                Some("-comp lzo -noD"),
            ),
            ("ENROOT_SQUASH_OPTIONS=-comp zstd  \n", Some("-comp zstd")),
            ("  ENROOT_SQUASH_OPTIONS \t -b 1M", Some("-b 1M")),
            ("#ENROOT_SQUASH_OPTIONS -b 1M\n", None),
            (
                "ENROOT_SQUASH_OPTIONS\nENROOT_SQUASH_OPTIONS -noI\n",
                Some("-noI"),
            ),
            ("ENROOT_SQUASH_OPTIONS_X -noI\n", None),
            ("", None),
        ] {
            assert_eq!(value(text).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn what_only_a_shell_understands_is_refused() {
        assert_eq!(evaluated("\"-comp zstd\"").as_deref(), Some("-comp zstd"));
        for value in ["-processors $(nproc)", "-b `echo 1M`", "${X}"] {
            assert_eq!(evaluated(value), None, "{value}");
        }
    }

    #[test]
    fn the_main_file_comes_before_those_dropped_in_beside_it() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        let found = || enroot_squash_options(directory.path()).unwrap();
        assert_eq!(found(), None);
        fs::create_dir(at("enroot.conf.d")).unwrap();
        for (name, value) in [
            ("b.conf", "-b 64K"),
            ("a.conf", "-b 256K"),
            ("0.off", "-b 4K"),
        ] {
            let line = format!("ENROOT_SQUASH_OPTIONS {value}\n");
            fs::write(at("enroot.conf.d").join(name), line).unwrap();
        }
        assert_eq!(found().unwrap().1, "-b 256K");
        fs::write(at("enroot.conf"), "ENROOT_SQUASH_OPTIONS -noD\n").unwrap();
        assert_eq!(found().unwrap().1, "-noD");
        fs::write(
            at("enroot.conf"),
            "ENROOT_SQUASH_OPTIONS -processors $(nproc)\n",
        )
        .unwrap();
        let error = enroot_squash_options(directory.path())
            .unwrap_err()
            .to_string();
        assert!(error.contains("only a shell expands"), "{error}");
    }
}
