//! What a user writes to name an image: the transports of skopeo, and enroot's spelling.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr as _;

use coldpress_writer::Digest;

use crate::error::Error;

/// The registry of names without one, and where it answers.
const HUB: &str = "docker.io";
const HUB_HOST: &str = "registry-1.docker.io";

/// Where an image is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reference {
    /// `docker://HOST/REPOSITORY[:TAG][@DIGEST]`: in a registry.
    Registry(RegistryReference),
    /// `oci:DIRECTORY[:NAME][@DIGEST]`: in an OCI layout.
    Layout(Place),
    /// `oci-archive:FILE[:NAME][@DIGEST]`: in a tar archive of one.
    OciArchive(Place),
    /// `docker-archive:FILE[:NAME]`: in what `docker save` writes.
    DockerArchive(Place),
    /// `dockerd://NAME` or `podman://NAME`: in what is kept on this machine.
    Daemon(Daemon, String),
}

/// A program that keeps images.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Daemon {
    /// `docker`.
    Docker,
    /// `podman`.
    Podman,
}

/// An image in a directory or file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The directory or file; `-` is standard input, where a file may be.
    pub path: PathBuf,
    /// The image's name there; without one there must be no other.
    pub name: Option<String>,
    /// The digest of its manifest or index.
    pub digest: Option<Digest>,
}

/// An image in a registry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegistryReference {
    /// Whose credentials are used.
    pub user: Option<String>,
    /// The registry as users name it: `docker.io`, `localhost:5000`.
    pub registry: String,
    /// The repository there: `library/alpine`.
    pub repository: String,
    /// The tag; `latest` where neither it nor a digest is written.
    pub tag: Option<String>,
    /// The digest of its manifest or index, which counts more than the tag.
    pub digest: Option<Digest>,
}

impl Reference {
    /// Reads a reference; `None` if the text does not begin as one does, so that it is a path.
    pub fn parse(text: &str) -> Option<Result<Self, Error>> {
        let place = |rest| Place::parse(text, rest);
        Some(if let Some(rest) = text.strip_prefix("docker://") {
            RegistryReference::parse(text, rest).map(Self::Registry)
        } else if let Some(rest) = text.strip_prefix("oci-archive:") {
            place(rest).map(Self::OciArchive)
        } else if let Some(rest) = text.strip_prefix("docker-archive:") {
            place(rest).map(Self::DockerArchive)
        } else if let Some(rest) = text.strip_prefix("oci:") {
            place(rest).map(Self::Layout)
        } else if let Some(name) = text.strip_prefix("dockerd://") {
            daemon(text, Daemon::Docker, name)
        } else if let Some(name) = text.strip_prefix("podman://") {
            daemon(text, Daemon::Podman, name)
        } else {
            return None;
        })
    }
}

fn daemon(text: &str, daemon: Daemon, name: &str) -> Result<Reference, Error> {
    // It becomes an argument of the program.
    if name.is_empty() || name.starts_with('-') {
        return Err(wrong(text, "write the name of an image behind `//`"));
    }
    Ok(Reference::Daemon(daemon, name.to_owned()))
}

fn wrong(text: &str, rule: &'static str) -> Error {
    Error::Reference {
        text: text.to_owned(),
        rule,
    }
}

/// Takes `@DIGEST` off the end.
fn split_digest<'a>(text: &str, rest: &'a str) -> Result<(&'a str, Option<Digest>), Error> {
    let Some((name, digest)) = rest.rsplit_once('@') else {
        return Ok((rest, None));
    };
    if !digest.contains(':') || digest.contains(['/', '#']) {
        return Ok((rest, None));
    }
    // `me@host:5000/app` has a user.
    let algorithms = ["sha256:", "sha512:"];
    if !algorithms.iter().any(|start| digest.starts_with(start)) {
        return Ok((rest, None));
    }
    let digest = Digest::from_str(digest);
    let rule = "behind `@` stands `sha256:` and 64 hexadecimal digits, or `sha512:` and 128";
    Ok((name, Some(digest.map_err(|_| wrong(text, rule))?)))
}

impl Place {
    fn parse(text: &str, rest: &str) -> Result<Self, Error> {
        let (rest, digest) = split_digest(text, rest)?;
        // Names have colons more often than paths.
        let (path, name) = match rest.split_once(':') {
            Some((path, name)) => (path, Some(name)),
            None => (rest, None),
        };
        if path.is_empty() {
            return Err(wrong(text, "write a path behind the first colon"));
        }
        if name == Some("") {
            return Err(wrong(
                text,
                "write a name behind the last colon, or leave it out",
            ));
        }
        Ok(Self {
            path: PathBuf::from(path),
            name: name.map(str::to_owned),
            digest,
        })
    }
}

impl RegistryReference {
    fn parse(text: &str, rest: &str) -> Result<Self, Error> {
        let (rest, digest) = split_digest(text, rest)?;
        let (user, rest) = match rest.split_once('@') {
            Some((user, rest)) => (Some(user.to_owned()), rest),
            None => (None, rest),
        };
        // enroot's spelling says which part is the registry.
        let (registry, path) = match rest.split_once('#') {
            Some((registry, path)) => (Some(registry), path),
            None => match rest.split_once('/') {
                Some((host, path)) if is_host(host) => (Some(host), path),
                _ => (None, rest),
            },
        };
        // A tag has no slash.
        let colon = path.rfind(':').filter(|at| !path[*at..].contains('/'));
        let (repository, tag) = match colon {
            Some(at) => (&path[..at], Some(&path[at + 1..])),
            None => (path, None),
        };
        if user.as_deref() == Some("") || registry == Some("") {
            return Err(wrong(
                text,
                "write a user in front of `@`, and a registry in front of `#`",
            ));
        }
        let registry = match registry {
            None | Some("index.docker.io" | HUB_HOST) => HUB,
            Some(registry) => registry,
        };
        if !is_authority(registry) {
            return Err(wrong(
                text,
                "the registry must be a host name with or without a port",
            ));
        }
        if !is_repository(repository) {
            let rule = "the name must be of a-z, 0-9, and `.`, `_`, `-` between them, in parts \
                        separated by `/`";
            return Err(wrong(text, rule));
        }
        if !tag.is_none_or(is_tag) {
            let rule = "the tag must be up to 128 of A-Z, a-z, 0-9, `_`, `.` and `-`, and not \
                        begin with one of the last two";
            return Err(wrong(text, rule));
        }
        let is_official = registry == HUB && !repository.contains('/');
        let repository = if is_official {
            format!("library/{repository}")
        } else {
            repository.to_owned()
        };
        let tag = tag.or(if digest.is_none() {
            Some("latest")
        } else {
            None
        });
        Ok(Self {
            user,
            registry: registry.to_owned(),
            repository,
            tag: tag.map(str::to_owned),
            digest,
        })
    }

    /// Where the registry answers, with the port if it is not the usual one.
    pub fn host(&self) -> &str {
        if self.registry == HUB {
            HUB_HOST
        } else {
            &self.registry
        }
    }

    /// What the registry calls the manifest: its digest, or the tag.
    pub fn manifest_name(&self) -> String {
        match (&self.digest, &self.tag) {
            (Some(digest), _) => digest.to_string(),
            (None, Some(tag)) => tag.clone(),
            (None, None) => "latest".to_owned(),
        }
    }
}

/// Without a user.
impl fmt::Display for RegistryReference {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "docker://{}/{}", self.registry, self.repository)?;
        if let Some(tag) = &self.tag {
            write!(formatter, ":{tag}")?;
        }
        match &self.digest {
            Some(digest) => write!(formatter, "@{digest}"),
            None => Ok(()),
        }
    }
}

/// Whether the first part of a name is a registry: as in all tools, by what a repository lacks.
fn is_host(part: &str) -> bool {
    part == "localhost" || part.contains(['.', ':']) || part.contains(|it: char| it.is_uppercase())
}

fn is_authority(text: &str) -> bool {
    let (host, port) = match text.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, Some(port)),
        _ => (text, None),
    };
    let is_name = !host.is_empty()
        && host
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b".-_".contains(&byte));
    let inner = host
        .strip_prefix('[')
        .and_then(|host| host.strip_suffix(']'));
    let is_address = inner.is_some_and(|host| {
        host.bytes()
            .all(|byte| byte.is_ascii_hexdigit() || byte == b':' || byte == b'.')
    });
    (is_name || is_address) && port.is_none_or(|port| port.parse::<u16>().is_ok())
}

fn is_repository(name: &str) -> bool {
    let is_part = |part: &str| {
        let is_inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
        let bytes = part.as_bytes();
        bytes.first().is_some_and(|it| is_inner(*it))
            && bytes.last().is_some_and(|it| is_inner(*it))
            && bytes.iter().all(|it| is_inner(*it) || b"._-".contains(it))
    };
    name.len() <= 255 && name.split('/').all(is_part)
}

fn is_tag(tag: &str) -> bool {
    let is_inner = |byte: u8| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte);
    (1..=128).contains(&tag.len()) && tag.bytes().all(is_inner) && !tag.starts_with(['.', '-'])
}

#[cfg(test)]
mod tests;
