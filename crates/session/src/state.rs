//! Where lies what is kept for a user: the history, and what was calibrated.

use std::env;
use std::ffi::OsString;
use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf, absolute};

use anyhow::{Context as _, anyhow};
use coldpress_history::{Error, History};
use coldpress_host::ProcessId;
use coldpress_report::failure::hint;
use coldpress_report::text::quoted;

/// The file of the history, if it is to be another one.
const VARIABLE: &str = "COLDPRESS_HISTORY";
/// The file of the calibration, likewise.
pub const CALIBRATION: &str = "COLDPRESS_CALIBRATION";
/// What a variable says if nothing is to be kept.
const OFF: &str = "off";

/// Opens the history of the user, which is made if it is missing, to be written in the name of this
/// process.
///
/// # Errors
///
/// If it is turned off, has no place, or cannot be opened and written.
pub fn open() -> anyhow::Result<History> {
    let Some(path) = path()? else {
        let error = anyhow!("there is no history: {VARIABLE} turns it off");
        return Err(hint(
            error,
            format!("unset {VARIABLE}, or set it to a file"),
        ));
    };
    let history = History::open(&path).map_err(|error| match error {
        Error::Database { .. } => hint(
            error,
            format!("set {VARIABLE} to another file, in a writable directory"),
        ),
        error => error.into(),
    })?;
    Ok(match ProcessId::of_this() {
        Ok(process) => history.signed(process.to_string()),
        Err(_) => history,
    })
}

/// The file, in a directory that exists if it is not of the user's choice; `None` if no history is
/// wanted.
///
/// # Errors
///
/// If the user has no home, or the directory cannot be made.
pub fn path() -> anyhow::Result<Option<PathBuf>> {
    let chosen = env::var_os(VARIABLE);
    let is_chosen = chosen.is_some();
    let Some(path) = place("history.sqlite", VARIABLE, chosen, &Homes::of_this_user())? else {
        return Ok(None);
    };
    if let Some(directory) = path.parent().filter(|_| !is_chosen) {
        // What somebody measures is nobody else's business: base directory specification,
        // "Referencing this specification".
        let made = DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(directory);
        made.with_context(|| format!("cannot create {}", quoted(directory)))?;
    }
    // SQLite would take a relative `file:name` for a URI.
    let path = absolute(&path).with_context(|| format!("cannot use {}", quoted(&path)))?;
    Ok(Some(path))
}

/// The file of the calibration, whether or not it is there; `None` if none is wanted.
///
/// # Errors
///
/// If the user has no home.
pub fn calibration() -> anyhow::Result<Option<PathBuf>> {
    let chosen = env::var_os(CALIBRATION);
    let path = place(
        "calibration.json",
        CALIBRATION,
        chosen,
        &Homes::of_this_user(),
    )?;
    path.map(|path| absolute(&path).with_context(|| format!("cannot use {}", quoted(&path))))
        .transpose()
}

/// The directories that the environment names.
struct Homes {
    state: Option<OsString>,
    home: Option<OsString>,
}

impl Homes {
    fn of_this_user() -> Self {
        Self {
            state: env::var_os("XDG_STATE_HOME"),
            home: env::var_os("HOME"),
        }
    }
}

/// The file that the environment means.
///
/// * `name`: of the file in the state directory.
/// * `variable`: what names another one.
/// * `chosen`: its value.
fn place(
    name: &str,
    variable: &str,
    chosen: Option<OsString>,
    homes: &Homes,
) -> anyhow::Result<Option<PathBuf>> {
    if let Some(chosen) = chosen {
        let is_wanted = !chosen.is_empty() && chosen != OFF;
        return Ok(is_wanted.then(|| chosen.into()));
    }
    // The base directory specification: what is not absolute is to be ignored.
    let directory = |value: &Option<OsString>| {
        let path = value.as_ref().map(PathBuf::from);
        path.filter(|path| path.is_absolute())
    };
    let state_home = directory(&homes.state)
        .or_else(|| directory(&homes.home).map(|home| home.join(".local/state")))
        .ok_or_else(|| {
            let error = anyhow!(
                "there is no place for `{name}`: neither XDG_STATE_HOME nor HOME is an absolute \
                 path"
            );
            hint(error, format!("set {variable} to a file"))
        })?;
    Ok(Some(state_home.join(Path::new("coldpress")).join(name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_history_lies_where_the_environment_says() {
        let at_home = Some("/home/a/.local/state/coldpress/history.sqlite");
        for (chosen, state_home, home, expected) in [
            (None, None, Some("/home/a"), at_home),
            (None, Some(""), Some("/home/a"), at_home),
            (None, Some("relative"), Some("/home/a"), at_home),
            (
                None,
                Some("/s"),
                Some("/home/a"),
                Some("/s/coldpress/history.sqlite"),
            ),
            (None, Some("/s"), None, Some("/s/coldpress/history.sqlite")),
            (Some("here.sqlite"), Some("/s"), None, Some("here.sqlite")),
            (Some(""), Some("/s"), None, None),
            (Some("off"), Some("/s"), None, None),
            (Some("./off"), None, None, Some("./off")),
        ] {
            let [chosen, state, home] =
                [chosen, state_home, home].map(|value: Option<&str>| value.map(OsString::from));
            let found = place("history.sqlite", VARIABLE, chosen, &Homes { state, home });
            assert_eq!(found.unwrap().as_deref(), expected.map(Path::new));
        }
        let homes = Homes {
            state: None,
            home: Some("".into()),
        };
        let error = place("calibration.json", CALIBRATION, None, &homes).unwrap_err();
        assert!(
            error
                .to_string()
                .contains("no place for `calibration.json`")
        );
    }
}
