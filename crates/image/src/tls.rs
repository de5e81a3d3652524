//! Whom to trust behind `https://`: the certificates of the system, and those of single hosts.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls_native_certs::load_native_certs;
use ureq::tls::{Certificate, PemItem, RootCerts, TlsConfig, parse_pem};

/// Where podman, skopeo and Docker keep certificates by host (`containers-certs.d(5)`).
const DIRECTORIES: [&str; 2] = ["/etc/containers/certs.d", "/etc/docker/certs.d"];

/// The settings for a host: the certificates of the system, of `SSL_CERT_FILE` or `SSL_CERT_DIR`
/// instead, and those in `certs.d/HOST` of `/etc/containers` and `/etc/docker`. A system without
/// any has those of Mozilla.
///
/// * `host`: with its port, if it is not the usual one.
///
/// # Errors
///
/// If a file in `certs.d/HOST` cannot be read, or is no certificate.
pub fn tls_config(host: &str) -> io::Result<TlsConfig> {
    let system = load_native_certs().certs;
    let mut trusted: Vec<Certificate<'static>> = system
        .iter()
        .map(|der| Certificate::from_der(der).to_owned())
        .collect();
    for directory in DIRECTORIES {
        trusted.append(&mut certificates(&Path::new(directory).join(host))?);
    }
    let root_certs = if trusted.is_empty() {
        RootCerts::WebPki
    } else {
        RootCerts::Specific(Arc::new(trusted))
    };
    Ok(TlsConfig::builder().root_certs(root_certs).build())
}

/// The certificates in the `.crt` files of a directory, which need not be there.
fn certificates(directory: &Path) -> io::Result<Vec<Certificate<'static>>> {
    let entries = match fs::read_dir(directory) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(|error| failed(directory, &error))?,
    };
    let mut found = Vec::new();
    for entry in entries {
        let path = entry.map_err(|error| failed(directory, &error))?.path();
        if path.extension().is_none_or(|extension| extension != "crt") {
            continue;
        }
        let text = fs::read(&path).map_err(|error| failed(&path, &error))?;
        let before = found.len();
        for item in parse_pem(&text) {
            let item = item.map_err(|error| failed(&path, &error))?;
            if let PemItem::Certificate(certificate) = item {
                found.push(certificate);
            }
        }
        if found.len() == before {
            return Err(failed(&path, &"it has no certificate in PEM format"));
        }
    }
    Ok(found)
}

fn failed(path: &Path, why: &dyn std::fmt::Display) -> io::Error {
    let path: PathBuf = path.into();
    io::Error::other(format!("cannot use `{}`: {why}", path.display()))
}
