//! Who one is to a registry: the files of Docker, Podman and enroot.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use serde::Deserialize;

use crate::document::{DOCUMENT_MAX_BYTES, null_is_empty};
use crate::error::Error;
use crate::reference::RegistryReference;

/// Base64 as programs write it that keep credentials (RFC 4648, section 4).
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_allow_trailing_bits(true)
        .with_decode_padding_mode(DecodePaddingMode::RequireNone),
);

/// Where credentials may be. Nothing of them is ever shown.
#[derive(Clone, Debug, Default)]
pub struct CredentialFiles {
    /// `auth.json` of containers or `config.json` of Docker: the first that knows the registry.
    pub auth_files: Vec<PathBuf>,
    /// Whether the first of them was asked for, so that it must be there.
    pub is_first_required: bool,
    /// `.credentials` of enroot, in the form of netrc.
    pub netrc: Option<PathBuf>,
}

/// What proves who one is.
#[derive(Clone, PartialEq, Eq)]
pub(super) enum Credentials {
    Password {
        user: String,
        password: String,
    },
    /// What tokens are refreshed with.
    IdentityToken(String),
}

impl fmt::Debug for Credentials {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Credentials")
    }
}

impl Credentials {
    /// `Authorization` of those who have a password.
    pub(super) fn basic(&self) -> Option<String> {
        match self {
            Self::Password { user, password } => {
                let both = BASE64.encode(format!("{user}:{password}"));
                Some(format!("Basic {both}"))
            }
            Self::IdentityToken(_) => None,
        }
    }
}

/// `auth.json`, `config.json`.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct AuthFile {
    #[serde(default, deserialize_with = "null_is_empty")]
    auths: BTreeMap<String, Auth>,
    #[serde(default, deserialize_with = "null_is_empty")]
    cred_helpers: BTreeMap<String, String>,
    #[serde(default, deserialize_with = "null_is_empty")]
    creds_store: String,
}

#[derive(Default, Deserialize)]
struct Auth {
    #[serde(default)]
    auth: Option<String>,
    #[serde(default)]
    identitytoken: Option<String>,
}

impl fmt::Debug for Auth {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Auth")
    }
}

/// What `docker-credential-X get` prints.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Kept {
    username: String,
    secret: String,
}

/// The credentials for a repository, if there are some.
///
/// # Errors
///
/// [`Error::File`] if a file that was asked for cannot be read, [`Error::Json`] if one is damaged.
pub(super) fn find(
    files: &CredentialFiles,
    reference: &RegistryReference,
) -> Result<Option<Credentials>, Error> {
    for (path, at) in files.auth_files.iter().zip(0..) {
        let is_required = at == 0 && files.is_first_required;
        let Some(bytes) = read(path, is_required)? else {
            continue;
        };
        let file: AuthFile = serde_json::from_slice(&bytes).map_err(|error| Error::Json {
            image: reference.to_string(),
            what: format!("`{}`", path.display()),
            error,
        })?;
        if let Some(found) = in_auth_file(&file, reference)? {
            return Ok(Some(found));
        }
    }
    let Some(path) = &files.netrc else {
        return Ok(None);
    };
    let text = read(path, false)?.unwrap_or_default();
    Ok(in_netrc(&String::from_utf8_lossy(&text), reference))
}

fn read(path: &Path, is_required: bool) -> Result<Option<Vec<u8>>, Error> {
    let failed = |error| Error::File {
        action: "read",
        path: path.to_path_buf(),
        error,
    };
    match fs::metadata(path) {
        Ok(metadata) if metadata.is_file() && metadata.len() <= DOCUMENT_MAX_BYTES => {
            fs::read(path).map(Some).map_err(failed)
        }
        Ok(_) => Err(failed(std::io::Error::other(
            "it is no file of up to 4 MiB",
        ))),
        Err(error) if is_required => Err(failed(error)),
        Err(_) => Ok(None),
    }
}

/// What a repository is listed by, the most exact first.
fn keys(reference: &RegistryReference) -> Vec<String> {
    let mut keys = Vec::new();
    let mut repository = Some(reference.repository.as_str());
    while let Some(path) = repository {
        keys.push(format!("{}/{path}", reference.registry));
        repository = path.rsplit_once('/').map(|(parent, _)| parent);
    }
    keys.push(reference.registry.clone());
    keys
}

/// A key as Docker writes it, with a scheme and a version for its own registry.
fn normal(key: &str) -> &str {
    let key = key
        .trim_start_matches("https://")
        .trim_start_matches("http://");
    let key = key.trim_end_matches('/');
    let key = key
        .strip_suffix("/v1")
        .or_else(|| key.strip_suffix("/v2"))
        .unwrap_or(key);
    if key == "index.docker.io" || key == "registry-1.docker.io" {
        "docker.io"
    } else {
        key
    }
}

fn in_auth_file(
    file: &AuthFile,
    reference: &RegistryReference,
) -> Result<Option<Credentials>, Error> {
    for key in keys(reference) {
        let helper = file
            .cred_helpers
            .iter()
            .find(|(name, _)| normal(name) == key);
        if let Some((server, helper)) = helper {
            return from_helper(helper, server, reference);
        }
        let mut found = file.auths.iter().filter(|(name, _)| normal(name) == key);
        if let Some(found) = found.find_map(|(_, auth)| from_auth(auth)) {
            return Ok(Some(found));
        }
    }
    if file.creds_store.is_empty() {
        return Ok(None);
    }
    let server = match reference.registry.as_str() {
        "docker.io" => "https://index.docker.io/v1/",
        registry => registry,
    };
    from_helper(&file.creds_store, server, reference)
}

/// Bytes from Base64; `None` if it is none. Fillers may be missing.
fn decoded(text: &str) -> Option<Vec<u8>> {
    BASE64.decode(text.trim().trim_end_matches('=')).ok()
}

fn from_auth(auth: &Auth) -> Option<Credentials> {
    if let Some(token) = auth
        .identitytoken
        .as_ref()
        .filter(|token| !token.is_empty())
    {
        return Some(Credentials::IdentityToken(token.clone()));
    }
    let both = String::from_utf8(decoded(auth.auth.as_deref()?)?).ok()?;
    let (user, password) = both.trim_end_matches('\0').split_once(':')?;
    Some(Credentials::Password {
        user: user.to_owned(),
        password: password.to_owned(),
    })
}

/// Asks a program that keeps credentials.
fn from_helper(
    helper: &str,
    server: &str,
    reference: &RegistryReference,
) -> Result<Option<Credentials>, Error> {
    let program = format!("docker-credential-{helper}");
    let failed = |reason: String| Error::Command {
        command: format!("{program} get"),
        reason: format!("{reason}, for {}", reference.registry),
    };
    // Part of the name of a program that is run.
    if helper.contains('/') || helper.is_empty() {
        return Err(failed("it is not a name".to_owned()));
    }
    let child = Command::new(&program)
        .arg("get")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn();
    let mut child = child.map_err(|error| failed(error.to_string()))?;
    if let Some(mut input) = child.stdin.take() {
        // One that does not listen has ended, which shows below.
        let _ = input.write_all(server.as_bytes());
    }
    let output = child
        .wait_with_output()
        .map_err(|error| failed(error.to_string()))?;
    if !output.status.success() {
        // So helpers say that they have none.
        return Ok(None);
    }
    // What it printed may hold a secret, so that it is not repeated.
    let kept: Kept = serde_json::from_slice(&output.stdout)
        .map_err(|_| failed("it printed something else than user and secret".to_owned()))?;
    Ok(Some(if kept.username == "<token>" {
        Credentials::IdentityToken(kept.secret)
    } else {
        Credentials::Password {
            user: kept.username,
            password: kept.secret,
        }
    }))
}

/// `machine HOST login USER password PASSWORD`; the user of the reference counts, if it has one.
fn in_netrc(text: &str, reference: &RegistryReference) -> Option<Credentials> {
    let lines = text
        .lines()
        .filter(|line| !line.trim_start().starts_with('#'));
    let words: Vec<&str> = lines.flat_map(str::split_whitespace).collect();
    let machines = words.split(|word| *word == "machine").skip(1);
    let hosts = [
        reference.registry.as_str(),
        reference.host(),
        "auth.docker.io",
    ];
    let hosts = if reference.registry == "docker.io" {
        &hosts[..]
    } else {
        &hosts[..2]
    };
    let value = |words: &[&str], name: &str| {
        let at = words.iter().position(|word| *word == name)?;
        words.get(at + 1).map(|value| (*value).to_owned())
    };
    let mut found = machines.filter_map(|words| {
        let (host, words) = words.split_first()?;
        let (user, password) = (value(words, "login")?, value(words, "password")?);
        let is_meant = reference.user.as_ref().is_none_or(|wanted| *wanted == user);
        (hosts.contains(host) && is_meant).then_some(Credentials::Password { user, password })
    });
    found.next()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reference::Reference;

    fn reference(text: &str) -> RegistryReference {
        match Reference::parse(text) {
            Some(Ok(Reference::Registry(reference))) => reference,
            other => panic!("{other:?}"),
        }
    }

    fn password(text: &str) -> Credentials {
        let (user, password) = text.split_once(':').unwrap();
        Credentials::Password {
            user: user.to_owned(),
            password: password.to_owned(),
        }
    }

    #[test]
    fn the_longest_key_of_an_auth_file_counts() {
        let auth = |text: &str| format!(r#"{{"auth":"{}"}}"#, BASE64.encode(text));
        let text = format!(
            r#"{{"auths":{{"q.io":{},"q.io/a/b":{},"https://index.docker.io/v1/":{},
                "t.io":{{"auth":"","identitytoken":"x"}}}},"credHelpers":null}}"#,
            auth("u:host"),
            auth("u:exact:1"),
            auth("u:hub")
        );
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("auth.json");
        fs::write(&path, text).unwrap();
        let files = CredentialFiles {
            auth_files: vec![directory.path().join("none"), path],
            ..CredentialFiles::default()
        };
        for (name, found) in [
            ("docker://q.io/a/b/c", Some(password("u:exact:1"))),
            ("docker://q.io/a/x", Some(password("u:host"))),
            ("docker://alpine", Some(password("u:hub"))),
            (
                "docker://t.io/a",
                Some(Credentials::IdentityToken("x".to_owned())),
            ),
            ("docker://z.io/a", None),
        ] {
            assert!(find(&files, &reference(name)).unwrap() == found, "{name}");
        }
        let required = CredentialFiles {
            is_first_required: true,
            ..files
        };
        assert!(find(&required, &reference("docker://q.io/a")).is_err());
    }

    #[test]
    fn credentials_of_enroot_are_read() {
        let text = "# machine q.io login no password no\nmachine nvcr.io login $oauthtoken\n\
                    password key\nmachine auth.docker.io login me password p\n\
                    machine q.io login a password 1\nmachine q.io login b password 2\n";
        for (name, found) in [
            ("docker://nvcr.io#a/b", Some(password("$oauthtoken:key"))),
            ("docker://alpine", Some(password("me:p"))),
            ("docker://b@q.io#x", Some(password("b:2"))),
            ("docker://q.io/x", Some(password("a:1"))),
            ("docker://z.io/x", None),
        ] {
            assert!(in_netrc(text, &reference(name)) == found, "{name}");
        }
    }

    #[test]
    fn what_is_encoded_is_decoded() {
        for (bytes, text) in [
            (&b""[..], ""),
            (b"f", "Zg=="),
            (b"fo", "Zm8="),
            (b"foo", "Zm9v"),
            (b"user:pa\xffs", "dXNlcjpwYf9z"),
        ] {
            assert_eq!(BASE64.encode(bytes), text);
            assert_eq!(decoded(text).as_deref(), Some(bytes));
        }
        assert_eq!(decoded("Zm8").as_deref(), Some(&b"fo"[..]));
        assert_eq!((decoded("Z"), decoded("Z-==")), (None, None));
    }

    #[test]
    fn credentials_are_not_shown() {
        let text = format!("{:?}", password("user:secret"));
        assert!(!text.contains("secret") && !text.contains("user"));
    }
}
