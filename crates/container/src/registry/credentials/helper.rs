//! Programs that keep credentials: `docker-credential-NAME get`.

use std::io::Write as _;
use std::process::{Command, Stdio};

use serde::Deserialize;

use super::Credentials;
use crate::error::Error;
use crate::reference::RegistryReference;

/// What `docker-credential-X get` prints.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Kept {
    username: String,
    secret: String,
}

/// Asks a program that keeps credentials.
pub(super) fn from_helper(
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
