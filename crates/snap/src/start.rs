//! How snapd starts an app.

use std::collections::BTreeMap;

use crate::error::Error;
use crate::metadata::Metadata;

/// What stands for the directory where the snap is mounted.
const ROOT: &str = "{root}";
/// What Linux gives a program of arguments and variables, with a stack of 8 MiB.
const STRINGS_MAX_BYTES: usize = 2 << 20;

/// What a start has from outside of the snap.
#[derive(Clone, Copy)]
pub struct Surroundings<'a> {
    /// A directory that the app may write into; stands for those of snapd.
    pub data: &'a str,
    /// The architecture as Debian calls it, such as `amd64`.
    pub architecture: &'a str,
    /// The value of a variable of the caller.
    pub variable: &'a dyn Fn(&str) -> Option<String>,
}

impl std::fmt::Debug for Surroundings<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter) -> std::fmt::Result {
        let mut shown = formatter.debug_struct("Surroundings");
        shown.field("data", &self.data).finish_non_exhaustive()
    }
}

impl Metadata {
    /// The variables that snapd sets, for an app or for another program of the snap.
    ///
    /// `{root}` stands for the directory where the snap is mounted.
    ///
    /// # Errors
    ///
    /// If they become longer than a program can be given.
    pub fn environment(
        &self,
        app: Option<&str>,
        around: &Surroundings,
    ) -> Result<BTreeMap<String, String>, Error> {
        let of_data = |name: &str| format!("{}/{name}", around.data);
        let fixed = [
            ("SNAP", ROOT.to_owned()),
            ("SNAP_NAME", self.name.clone()),
            ("SNAP_INSTANCE_NAME", self.name.clone()),
            ("SNAP_VERSION", self.version.clone()),
            // What revisions of files that nobody signed begin with.
            ("SNAP_REVISION", "x1".to_owned()),
            ("SNAP_ARCH", around.architecture.to_owned()),
            ("SNAP_DATA", of_data("data")),
            ("SNAP_COMMON", of_data("common")),
            ("SNAP_USER_DATA", of_data("user-data")),
            ("SNAP_USER_COMMON", of_data("user-common")),
            ("HOME", of_data("user-data")),
        ];
        let fixed = fixed.map(|(name, value)| (name.to_owned(), value));
        let mut all = BTreeMap::from(fixed);
        let app = app.and_then(|name| self.app(name));
        let name = app.map(|(name, _)| ("SNAP_APP_NAME".to_owned(), name.to_owned()));
        all.extend(name);
        let own = app.map_or(&[][..], |(_, app)| &app.environment);
        let mut left_bytes = STRINGS_MAX_BYTES;
        for (name, value) in self.environment.iter().chain(own) {
            let value = expand(value, &all, around.variable, &mut left_bytes)?;
            all.insert(name.clone(), value);
        }
        Ok(all)
    }

    /// The command line of an app; `None` if there is no such app.
    ///
    /// `{root}` stands for the directory where the snap is mounted.
    ///
    /// # Errors
    ///
    /// If it becomes longer than a program can be given.
    pub fn start(&self, app: &str, around: &Surroundings) -> Result<Option<Vec<String>>, Error> {
        let Some((name, app)) = self.app(app) else {
            return Ok(None);
        };
        let environment = self.environment(Some(name), around)?;
        let inside = |path: &str| format!("{ROOT}/{}", path.trim_start_matches('/'));
        let mut words: Vec<String> = app.command_chain.iter().map(|it| inside(it)).collect();
        let mut command = app.command.split(' ');
        words.push(inside(command.next().unwrap_or_default()));
        let mut left_bytes = STRINGS_MAX_BYTES;
        for arg in command {
            let arg = expand(arg, &environment, around.variable, &mut left_bytes)?;
            words.extend(Some(arg).filter(|arg| !arg.is_empty()));
        }
        Ok(Some(words))
    }
}

/// A text in which `$NAME` and `${NAME}` are replaced; by nothing if nobody knows the name.
fn expand(
    text: &str,
    known: &BTreeMap<String, String>,
    variable: &dyn Fn(&str) -> Option<String>,
    left_bytes: &mut usize,
) -> Result<String, Error> {
    let mut take = |piece: &str, expanded: &mut String| {
        let limit = STRINGS_MAX_BYTES;
        let left = left_bytes.checked_sub(piece.len());
        *left_bytes = left.ok_or(Error::Expanded { limit })?;
        expanded.push_str(piece);
        Ok(())
    };
    let mut expanded = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('$') {
        take(before, &mut expanded)?;
        let braced = after.strip_prefix('{').and_then(|it| it.split_once('}'));
        let is_of_names = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
        let len = after.bytes().take_while(is_of_names).count();
        let (name, left) = braced.unwrap_or_else(|| after.split_at(len));
        match known.get(name) {
            Some(value) => take(value, &mut expanded)?,
            None => take(&variable(name).unwrap_or_default(), &mut expanded)?,
        }
        rest = left;
    }
    take(rest, &mut expanded)?;
    Ok(expanded)
}

#[cfg(test)]
mod tests {
    use super::*;

    const AROUND: Surroundings = Surroundings {
        data: "/tmp/d",
        architecture: "amd64",
        variable: &|name| (name == "PATH").then(|| "/bin".to_owned()),
    };

    fn metadata() -> Metadata {
        let text = "name: ab\nversion: 2\nenvironment: {PATH: '$SNAP/bin:$PATH', A: '$SNAP_NAME'}\n\
                    apps:\n  run:\n    command: bin/run $A ${NONE} -d${SNAP_DATA} 5$\n    \
                    command-chain: [snap/run]\n    environment: {A: '${A}2', HOME: /h}\n";
        Metadata::parse(text.as_bytes()).unwrap()
    }

    #[test]
    fn an_app_is_started_as_snap_exec_does_it() {
        let words = metadata().start("ab.run", &AROUND).unwrap().unwrap();
        let expected = [
            "{root}/snap/run",
            "{root}/bin/run",
            "ab2",
            "-d/tmp/d/data",
            "5",
        ];
        assert_eq!(words, expected);
        assert_eq!(metadata().start("other", &AROUND), Ok(None));
    }

    #[test]
    fn later_variables_are_made_of_earlier_ones() {
        let app = [
            ("A", Some("ab2")),
            ("HOME", Some("/h")),
            ("SNAP_APP_NAME", Some("run")),
        ];
        let none = [
            ("A", Some("ab")),
            ("HOME", Some("/tmp/d/user-data")),
            ("SNAP_APP_NAME", None),
        ];
        for (name, expected) in [(Some("run"), app), (None, none)] {
            let found = metadata().environment(name, &AROUND).unwrap();
            assert_eq!(found["PATH"], "{root}/bin:/bin");
            for (name, value) in expected {
                assert_eq!(found.get(name).map(String::as_str), value, "{name}");
            }
        }
    }

    #[test]
    fn variables_that_double_have_a_limit() {
        let doubled = "  A: $A$A\n".repeat(64);
        let text = format!("name: ab\nversion: 1\nenvironment:\n  A: xx\n{doubled}");
        let metadata = Metadata::parse(text.as_bytes()).unwrap();
        let limit = STRINGS_MAX_BYTES;
        assert_eq!(
            metadata.environment(None, &AROUND),
            Err(Error::Expanded { limit })
        );
    }
}
