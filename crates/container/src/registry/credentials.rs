//! Who one is to a registry: the files of Docker, Podman and enroot.

mod helper;
mod netrc;

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use serde::Deserialize;

use self::helper::from_helper;
use self::netrc::in_netrc;
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

#[cfg(test)]
mod tests;
