//! What `meta/snap.yaml` says of a snap.

use std::collections::BTreeMap;

use crate::error::Error;
use crate::yaml::{Leaf, leaves};

/// Where the file is in the image.
pub const PATH: &str = "/meta/snap.yaml";
/// Longer files are not read. Those of the store have some kilobytes.
pub const METADATA_MAX_BYTES: u64 = 1 << 20;
/// Longer names are refused by snapd.
const NAME_MAX_BYTES: usize = 40;
/// Characters of a value that an error shows.
const SHOWN_CHARS: usize = 64;

/// What a snap is for: its `type`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// A program; also if nothing is said.
    #[default]
    App,
    /// A root file system that others run on.
    Base,
    /// What boots a device.
    Gadget,
    /// A kernel.
    Kernel,
    /// The root file system of the first snaps.
    Os,
    /// snapd itself.
    Snapd,
}

impl Kind {
    /// All of them, as they are written.
    const NAMES: [(&str, Self); 8] = [
        ("app", Self::App),
        // What the store sends.
        ("application", Self::App),
        ("base", Self::Base),
        ("core", Self::Os),
        ("gadget", Self::Gadget),
        ("kernel", Self::Kernel),
        ("os", Self::Os),
        ("snapd", Self::Snapd),
    ];

    /// As it is written.
    pub fn name(self) -> &'static str {
        match self {
            Self::App => "app",
            Self::Base => "base",
            Self::Gadget => "gadget",
            Self::Kernel => "kernel",
            Self::Os => "os",
            Self::Snapd => "snapd",
        }
    }

    /// Whether it is a root file system, in which there may be other owners and devices.
    pub fn is_root_file_system(self) -> bool {
        matches!(self, Self::Base | Self::Os)
    }
}

/// What a snap says of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Metadata {
    /// Its name.
    pub name: String,
    /// Its version, as it is written.
    pub version: String,
    /// What it is for.
    pub kind: Kind,
    /// The snap that it runs on, if it names one.
    pub base: Option<String>,
    /// Its apps by name.
    pub apps: BTreeMap<String, App>,
    /// Variables for all of them, in the order of the file.
    pub environment: Vec<(String, String)>,
}

/// A program of a snap.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct App {
    /// A path in the snap and arguments, separated by single spaces.
    pub command: String,
    /// Programs that start it, one the other.
    pub command_chain: Vec<String>,
    /// Whether it is a service: it has a `daemon`.
    pub is_service: bool,
    /// What stops and reloads a service.
    pub other_commands: Vec<String>,
    /// Its variables, in the order of the file.
    pub environment: Vec<(String, String)>,
}

impl Metadata {
    /// Reads the file.
    ///
    /// # Errors
    ///
    /// If it is too long, is no YAML, or says what snapd refuses.
    ///
    /// ```
    /// use coldpress_snap::{Kind, Metadata};
    ///
    /// let text = b"name: hello\nversion: 1\napps: {hello: {command: bin/hello}}\n";
    /// let metadata = Metadata::parse(text)?;
    /// assert_eq!((metadata.name.as_str(), metadata.kind), ("hello", Kind::App));
    /// assert_eq!(metadata.apps["hello"].command, "bin/hello");
    /// # Ok::<(), coldpress_snap::Error>(())
    /// ```
    pub fn parse(bytes: &[u8]) -> Result<Self, Error> {
        let (found, limit) = (bytes.len() as u64, METADATA_MAX_BYTES);
        if found > limit {
            return Err(Error::Long { found, limit });
        }
        let text = str::from_utf8(bytes).map_err(|error| Error::Text {
            start: error.valid_up_to(),
        })?;
        let mut metadata = Self::default();
        leaves(text, &mut |leaf| metadata.take(leaf))?;
        for (field, value) in [("name", &metadata.name), ("version", &metadata.version)] {
            if value.is_empty() {
                return Err(Error::Missing { field });
            }
        }
        Ok(metadata)
    }

    /// The app of a name, or of `SNAP.NAME`.
    pub fn app(&self, name: &str) -> Option<(&str, &App)> {
        let inner = name.strip_prefix(self.name.as_str());
        let inner = inner.and_then(|name| name.strip_prefix('.'));
        let (name, app) = self.apps.get_key_value(inner.unwrap_or(name))?;
        Some((name, app))
    }

    fn take(&mut self, leaf: Leaf) -> Result<(), Error> {
        let keys: Vec<&str> = leaf.keys.iter().map(String::as_str).collect();
        let value = || leaf.value.to_owned();
        match *keys.as_slice() {
            ["name"] => {
                let expected = "2 to 40 small letters, digits and single hyphens, with a letter";
                self.name = leaf.demand("name", expected, is_name)?;
            }
            ["version"] => self.version = leaf.demand("version", "without zeros", |_| true)?,
            ["type"] if !leaf.value.is_empty() => {
                let mut kinds = Kind::NAMES.iter();
                let kind = kinds.find(|(name, _)| *name == leaf.value);
                let expected = "app, base, gadget, kernel, os or snapd";
                self.kind = kind
                    .ok_or_else(|| leaf.refused("type", expected))
                    .map(|(_, kind)| *kind)?;
            }
            ["base"] if !leaf.value.is_empty() => self.base = Some(value()),
            ["environment", name] => {
                leaf.check_variable(name)?;
                self.environment.push((name.to_owned(), value()));
            }
            ["apps", name] => {
                self.apps.entry(name.to_owned()).or_default();
            }
            ["apps", name, ..] => {
                let app = self.apps.entry(name.to_owned()).or_default();
                app.take(keys.get(2..).unwrap_or_default(), leaf)?;
            }
            _ => {}
        }
        Ok(())
    }
}

impl App {
    /// The paths in the snap that have to be there: of its own command, and of those of a service.
    pub fn programs(&self) -> impl Iterator<Item = &str> {
        let others = self.other_commands.iter().filter(|_| self.is_service);
        let all = std::iter::once(&self.command).chain(others);
        let paths = all.map(|command| command.split(' ').next().unwrap_or_default());
        paths.filter(|path| !path.is_empty())
    }

    fn take(&mut self, keys: &[&str], leaf: Leaf) -> Result<(), Error> {
        let command = || leaf.demand("command", "without zeros", |_| true);
        match *keys {
            ["command"] => self.command = command()?,
            ["command-chain"] => self.command_chain.push(command()?),
            ["daemon"] => self.is_service = !leaf.value.is_empty(),
            ["stop-command" | "reload-command" | "post-stop-command"] => {
                self.other_commands.push(command()?);
            }
            ["environment", name] => {
                leaf.check_variable(name)?;
                self.environment
                    .push((name.to_owned(), leaf.value.to_owned()));
            }
            _ => {}
        }
        Ok(())
    }
}

impl Leaf<'_> {
    /// Its value, if it is one.
    fn demand(
        &self,
        field: &'static str,
        expected: &'static str,
        is_one: impl Fn(&str) -> bool,
    ) -> Result<String, Error> {
        let is_one = is_one(self.value) && !self.value.contains('\0');
        let value = is_one.then(|| self.value.to_owned());
        value.ok_or_else(|| self.refused(field, expected))
    }

    fn check_variable(&self, name: &str) -> Result<(), Error> {
        let is_one = !name.is_empty() && !name.contains(['=', '\0']) && !self.value.contains('\0');
        let expected = "a name and a value without zeros";
        let error = || self.refused("environment", expected);
        is_one.then_some(()).ok_or_else(error)
    }

    fn refused(&self, field: &'static str, expected: &'static str) -> Error {
        Error::Value {
            line: self.line,
            field,
            found: self.value.chars().take(SHOWN_CHARS).collect(),
            expected,
        }
    }
}

/// Whether snapd takes it for the name of a snap.
fn is_name(name: &str) -> bool {
    let is_of_them = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    (2..=NAME_MAX_BYTES).contains(&name.len())
        && name.bytes().all(is_of_them)
        && name.bytes().any(|byte| byte.is_ascii_lowercase())
        && !name.starts_with('-')
        && !name.ends_with('-')
        && !name.contains("--")
}

#[cfg(test)]
mod tests;
