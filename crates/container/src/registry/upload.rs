//! Pushing an image: what the registry lacks of it, then its manifest.

use std::fs::File;
use std::io::{self, Read, Seek as _};

use coldpress_writer::Digest;
use serde::Deserialize;
use ureq::Body;
use ureq::http::{Method, Response, StatusCode, Uri, header};

use super::client::{Client, Content, Failure, Payload, text};
use super::{Fetched, RegistryMeans, Watch, interrupted};
use crate::artifact::Artifact;
use crate::document::Descriptor;
use crate::error::Error;
use crate::media_type::MANIFEST;
use crate::reference::RegistryReference;

/// Bytes of a refusal that are read.
const REASON_MAX_BYTES: u64 = 1 << 14;

/// What a registry took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pushed {
    /// The digest of the manifest, by which the image can be pulled.
    pub digest: Digest,
    /// Bytes of the image that were sent: none if the registry had it.
    pub sent_bytes: u64,
}

/// Pushes an image under a tag, or under its digest alone.
///
/// A part that the registry has is not sent. The tag means the image when everything else is
/// there, so that it is never half there.
///
/// # Errors
///
/// [`Error::Registry`] if the registry does not take it, [`Error::File`] if the image cannot be
/// read any more, [`Error::Archive`] if `watch` stops it.
///
/// # Cost
///
/// The bytes that the registry lacks, in one request for each part. Where a connection breaks off,
/// the part is sent again from its beginning: not every registry takes parts in pieces.
pub fn push(
    reference: &RegistryReference,
    artifact: &Artifact,
    means: &RegistryMeans,
    watch: Watch,
) -> Result<Pushed, Error> {
    let client = Client::new(reference, means, "pull,push", watch)?;
    if let Some(expected) = reference.digest
        && expected != artifact.digest
    {
        return Err(client.error(&format!(
            "the digest of the image is {}, so it cannot be pushed under another",
            artifact.digest
        )));
    }
    let layer = &artifact.layer;
    let mut image = Sent {
        file: &artifact.file,
        total_bytes: layer.size,
        done_bytes: 0,
        watch,
        is_stopped: false,
    };
    let is_sent = client.repeated(|| {
        let sent = client.upload(layer, Payload::Content(&mut image));
        // What the reader of the body answers looks like a broken connection.
        sent.map_err(|failure| {
            if image.is_stopped {
                Failure::Final(interrupted())
            } else {
                failure
            }
        })
    })?;
    let config = descriptor(&artifact.config);
    client.repeated(|| client.upload(&config, Payload::Document(&artifact.config)))?;
    let name = reference.manifest_name();
    client.repeated(|| client.put_manifest(&name, &artifact.manifest))?;
    Ok(Pushed {
        digest: artifact.digest,
        sent_bytes: if is_sent { layer.size } else { 0 },
    })
}

impl Client<'_> {
    /// Sends a part, unless the registry has it; returns whether it was sent.
    fn upload(&self, part: &Descriptor, payload: Payload) -> Result<bool, Failure> {
        let url = self.url(&format!("blobs/{}", part.digest));
        let found = self.ask(&Method::HEAD, &url, &[], Payload::Nothing)?;
        match found.status() {
            status if status.is_success() => return Ok(false),
            StatusCode::NOT_FOUND => {}
            status => return Err(self.refused(status, found.headers())),
        }
        let url = self.url("blobs/uploads/");
        let begun = self.ask(
            &Method::POST,
            &url,
            &[("Content-Length", "0")],
            Payload::Nothing,
        )?;
        let begun = self.demand(begun)?;
        let from: Uri = url
            .parse()
            .map_err(|_| self.wrong("its name makes no URL"))?;
        let location = text(begun.headers(), header::LOCATION.as_str());
        let place = self.followed(&from, &location)?.to_string();
        // Registries put words of their own there.
        let mark = if place.contains('?') { '&' } else { '?' };
        let place = format!("{place}{mark}digest={}", part.digest);
        let length = part.size.to_string();
        let headers = [
            ("Content-Length", &*length),
            ("Content-Type", "application/octet-stream"),
        ];
        self.demand(self.ask(&Method::PUT, &place, &headers, payload)?)?;
        Ok(true)
    }

    fn put_manifest(&self, name: &str, manifest: &[u8]) -> Result<(), Failure> {
        let url = self.url(&format!("manifests/{name}"));
        let length = manifest.len().to_string();
        let headers = [("Content-Length", &*length), ("Content-Type", MANIFEST)];
        let answer = self.ask(&Method::PUT, &url, &headers, Payload::Document(manifest))?;
        self.demand(answer).map(drop)
    }

    /// An answer that is no refusal.
    fn demand(&self, mut response: Response<Body>) -> Result<Response<Body>, Failure> {
        let status = response.status();
        match status {
            status if status.is_success() => Ok(response),
            // A pull is refused so if there is no image; here the repository is meant.
            StatusCode::NOT_FOUND => {
                Err(self.wrong("the registry has no such repository, or one may not push to it"))
            }
            StatusCode::BAD_REQUEST => {
                let reason = reason(&mut response).unwrap_or_else(|| status.to_string());
                Err(self.wrong(&format!("the registry refuses it: {reason}")))
            }
            status => Err(self.refused(status, response.headers())),
        }
    }
}

/// Why a registry refuses something, in its own words (distribution specification, "Error Codes").
fn reason(response: &mut Response<Body>) -> Option<String> {
    #[derive(Deserialize)]
    struct Refusal {
        errors: Vec<Reason>,
    }
    #[derive(Deserialize)]
    struct Reason {
        code: String,
        #[serde(default)]
        message: String,
    }
    let body = response.body_mut().as_reader().take(REASON_MAX_BYTES);
    let refusal: Refusal = serde_json::from_reader(body).ok()?;
    let first = refusal.errors.into_iter().next()?;
    let (code, message) = (first.code.escape_debug(), first.message.escape_debug());
    Some(format!("{code} ({message})"))
}

/// A part that is a document.
fn descriptor(document: &[u8]) -> Descriptor {
    Descriptor {
        media_type: String::new(),
        digest: Digest::sha256_of(document),
        size: document.len() as u64,
        annotations: std::collections::BTreeMap::new(),
        platform: None,
        urls: Vec::new(),
    }
}

/// The image on its way.
struct Sent<'a> {
    file: &'a File,
    total_bytes: u64,
    done_bytes: u64,
    watch: Watch<'a>,
    is_stopped: bool,
}

impl Content for Sent<'_> {
    fn rewind(&mut self) -> io::Result<()> {
        self.done_bytes = 0;
        self.file.rewind()
    }
}

impl Read for Sent<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let fetched = Fetched {
            part: None,
            done_bytes: self.done_bytes,
            total_bytes: self.total_bytes,
        };
        if (self.watch)(fetched).is_break() {
            self.is_stopped = true;
            return Err(io::Error::other("stopped"));
        }
        let len = self.file.read(buffer)?;
        self.done_bytes += len as u64;
        Ok(len)
    }
}
