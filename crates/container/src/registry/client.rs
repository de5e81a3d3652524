//! Requests to a registry.

mod authenticate;

use std::io::{self, Read};
use std::sync::{Mutex, PoisonError};
use std::thread::sleep;
use std::time::Duration;

use ureq::http::{HeaderMap, Method, Request, Response, StatusCode, Uri, header, request};
use ureq::{Agent, Body, SendBody};

use super::credentials::{Credentials, find};
use super::{Fetched, RegistryMeans, Watch, interrupted};
use crate::document::DOCUMENT_MAX_BYTES;
use crate::error::Error;
use crate::media_type::MANIFESTS;
use crate::reference::RegistryReference;

/// How long connecting, an answer, and each piece of content may take.
const TIMEOUT: Duration = Duration::from_mins(1);
/// Redirections that are followed: registries lead to where blobs are kept, which may lead on.
const REDIRECTS_MAX: usize = 8;
/// How often one request is tried that fails for a reason that may pass; of a blob, without a byte
/// that comes.
pub(super) const TRIES: u32 = 6;
/// The pause before the second try; it doubles with each.
pub(super) const FIRST_PAUSE: Duration = Duration::from_millis(250);
/// The longest pause that a registry is granted.
pub(super) const PAUSE_MAX: Duration = Duration::from_mins(2);

/// How long a pause lasts until it is asked whether to go on.
pub(super) const PATIENCE: Duration = Duration::from_millis(100);

/// A repository of a registry.
pub(super) struct Client<'a> {
    agent: Agent,
    name: String,
    /// `https://host/v2/repository`
    base: String,
    scope: String,
    credentials: Option<Credentials>,
    plain_http: bool,
    /// What the last authentication gave, as the value of `Authorization`.
    authorization: Mutex<Option<String>>,
    watch: Watch<'a>,
}

/// Why a request failed.
pub(super) enum Failure {
    /// It may succeed after a pause, which the registry may have asked for.
    Passing(String, Option<Duration>),
    Final(Error),
}

/// What a request sends. It may be sent again, to where the registry leads.
pub(super) enum Payload<'a> {
    Nothing,
    Document(&'a [u8]),
    Content(&'a mut dyn Content),
}

/// Bytes that can be read again from their beginning.
pub(super) trait Content: Read {
    fn rewind(&mut self) -> io::Result<()>;
}

impl<'a> Client<'a> {
    /// * `actions`: what is to be done in the repository, as token servers name it: `pull`.
    pub(super) fn new(
        reference: &RegistryReference,
        means: &RegistryMeans,
        actions: &str,
        watch: Watch<'a>,
    ) -> Result<Self, Error> {
        let mut config = Agent::config_builder()
            .http_status_as_error(false)
            .accept_encoding("identity")
            .user_agent(concat!("coldpress/", env!("CARGO_PKG_VERSION")))
            // They lead to other hosts, which must not see who one is.
            .max_redirects(0)
            .timeout_connect(Some(TIMEOUT))
            .timeout_recv_response(Some(TIMEOUT))
            .timeout_per_read(Some(TIMEOUT));
        if !means.proxy_from_environment {
            config = config.proxy(None);
        }
        #[cfg(feature = "https")]
        {
            let tls = coldpress_image::tls_config(reference.host());
            config = config.tls_config(tls.map_err(|error| Error::Registry {
                image: reference.to_string(),
                reason: error.to_string(),
            })?);
        }
        let plain_http = means.plain_http || is_loopback(reference.host());
        let scheme = if plain_http { "http" } else { "https" };
        Ok(Self {
            agent: config.build().into(),
            name: reference.to_string(),
            base: format!(
                "{scheme}://{}/v2/{}",
                reference.host(),
                reference.repository
            ),
            scope: format!("repository:{}:{actions}", reference.repository),
            credentials: find(&means.credentials, reference)?,
            plain_http,
            authorization: Mutex::new(None),
            watch,
        })
    }

    /// A manifest or index by its digest or tag, and what the registry calls it.
    pub(super) fn manifest(&self, name: &str) -> Result<(Vec<u8>, String), Error> {
        let url = self.url(&format!("manifests/{name}"));
        self.repeated(|| {
            let mut response = self.get(&url, &[("Accept", &MANIFESTS.join(", "))])?;
            let content_type = text(response.headers(), header::CONTENT_TYPE.as_str());
            let mut bytes = Vec::new();
            let mut body = response.body_mut().as_reader().take(DOCUMENT_MAX_BYTES + 1);
            body.read_to_end(&mut bytes).map_err(|error| {
                Failure::Passing(format!("the manifest broke off: {error}"), None)
            })?;
            if bytes.len() as u64 > DOCUMENT_MAX_BYTES {
                return Err(self.wrong("the manifest has more than the 4 MiB that are read of one"));
            }
            let content_type = content_type.split(';').next().unwrap_or_default();
            Ok((bytes, content_type.trim().to_owned()))
        })
    }

    /// A URL of the repository: `blobs/DIGEST`.
    pub(super) fn url(&self, path: &str) -> String {
        format!("{}/{path}", self.base)
    }

    /// Tries a request again that fails for a reason that may pass.
    pub(super) fn repeated<T>(
        &self,
        mut request: impl FnMut() -> Result<T, Failure>,
    ) -> Result<T, Error> {
        let mut pause = FIRST_PAUSE;
        for _ in 1..TRIES {
            match request() {
                Ok(answer) => return Ok(answer),
                Err(Failure::Final(error)) => return Err(error),
                Err(Failure::Passing(_, asked)) => self.wait(asked.unwrap_or(pause))?,
            }
            pause *= 2;
        }
        request().map_err(|failure| match failure {
            Failure::Final(error) => error,
            Failure::Passing(reason, _) => self.error(&reason),
        })
    }

    /// Waits; an error if the work is to stop meanwhile.
    fn wait(&self, pause: Duration) -> Result<(), Error> {
        let mut left = pause.min(PAUSE_MAX);
        while !left.is_zero() {
            if (self.watch)(Fetched::default()).is_break() {
                return Err(interrupted());
            }
            let step = left.min(PATIENCE);
            sleep(step);
            left -= step;
        }
        Ok(())
    }

    /// Asks for a URL of the registry. The answer is good.
    pub(super) fn get(
        &self,
        url: &str,
        headers: &[(&str, &str)],
    ) -> Result<Response<Body>, Failure> {
        let response = self.ask(&Method::GET, url, headers, Payload::Nothing)?;
        if response.status().is_success() {
            Ok(response)
        } else {
            Err(self.refused(response.status(), response.headers()))
        }
    }

    /// Sends a request to the registry, authenticates if it asks who one is, and follows where it
    /// leads. The answer may be a refusal.
    pub(super) fn ask(
        &self,
        method: &Method,
        url: &str,
        headers: &[(&str, &str)],
        mut payload: Payload,
    ) -> Result<Response<Body>, Failure> {
        let mut url = url.to_owned();
        let mut is_registry = self.is_registry(&url);
        let mut own: Option<String> = None;
        for _ in 0..REDIRECTS_MAX {
            let uri: Uri = url
                .parse()
                .map_err(|_| self.wrong("it leads to what is no URL"))?;
            let mut request = Request::builder().method(method).uri(&uri);
            for (name, value) in headers {
                request = request.header(*name, *value);
            }
            let known = own.clone().or_else(|| self.authorization().clone());
            if let Some(authorization) = known.as_ref().filter(|_| is_registry) {
                request = request.header(header::AUTHORIZATION, authorization);
            }
            let response = self.run(request, &mut payload)?;
            let status = response.status();
            if let Some(own) = own.as_ref().filter(|_| status != StatusCode::UNAUTHORIZED) {
                *self.authorization() = Some(own.clone());
            }
            match status {
                // Tokens end in the middle of a pull. The new one is shared after it was good, so
                // that other threads cannot use it up before.
                StatusCode::UNAUTHORIZED if is_registry && own.is_none() => {
                    own = Some(self.authenticate(&text(response.headers(), "www-authenticate"))?);
                }
                StatusCode::MOVED_PERMANENTLY
                | StatusCode::FOUND
                | StatusCode::SEE_OTHER
                | StatusCode::TEMPORARY_REDIRECT
                | StatusCode::PERMANENT_REDIRECT => {
                    let location = text(response.headers(), header::LOCATION.as_str());
                    let next = self.followed(&uri, &location)?;
                    is_registry &= is_same_place(&uri, &next);
                    url = next.to_string();
                }
                _ => return Ok(response),
            }
        }
        Err(self.wrong("it leads on and on"))
    }

    /// Sends one request.
    fn run(
        &self,
        request: request::Builder,
        payload: &mut Payload,
    ) -> Result<Response<Body>, Failure> {
        let no_request = |_| self.wrong("it leads to what is no URL");
        let answer = match payload {
            Payload::Nothing => self.agent.run(request.body(()).map_err(no_request)?),
            Payload::Document(bytes) => self.agent.run(request.body(*bytes).map_err(no_request)?),
            Payload::Content(content) => {
                let rewound = content.rewind();
                rewound.map_err(|error| self.wrong(&format!("the image is gone: {error}")))?;
                let body = SendBody::from_reader(*content);
                self.agent.run(request.body(body).map_err(no_request)?)
            }
        };
        answer.map_err(|error| self.no_answer(&error))
    }

    /// Whether a URL is one of the registry, which may know who one is.
    fn is_registry(&self, url: &str) -> bool {
        let parsed = |url: &str| url.parse::<Uri>().ok();
        match (parsed(&self.base), parsed(url)) {
            (Some(base), Some(url)) => is_same_place(&base, &url),
            _ => false,
        }
    }

    fn authorization(&self) -> std::sync::MutexGuard<'_, Option<String>> {
        self.authorization
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Where a redirection leads.
    pub(super) fn followed(&self, from: &Uri, location: &str) -> Result<Uri, Failure> {
        let scheme = from.scheme_str().unwrap_or("https");
        let authority = from.authority().map_or("", |authority| authority.as_str());
        let url = if location.starts_with("//") {
            format!("{scheme}:{location}")
        } else if location.starts_with('/') {
            format!("{scheme}://{authority}{location}")
        } else {
            location.to_owned()
        };
        let uri: Uri = url
            .parse()
            .map_err(|_| self.wrong("it leads to what is no URL"))?;
        self.demand_tls(&uri)?;
        Ok(uri)
    }

    fn demand_tls(&self, uri: &Uri) -> Result<(), Failure> {
        match uri.scheme_str() {
            Some("https") => Ok(()),
            Some("http") if self.plain_http => Ok(()),
            Some("http") => {
                Err(self.wrong("it leads to a place without TLS; --plain-http allows it"))
            }
            _ => Err(self.wrong("it leads to what is no URL")),
        }
    }

    pub(super) fn refused(&self, status: StatusCode, headers: &HeaderMap) -> Failure {
        let asked = text(headers, header::RETRY_AFTER.as_str());
        let asked = asked.trim().parse().ok().map(Duration::from_secs);
        match status {
            StatusCode::TOO_MANY_REQUESTS | StatusCode::REQUEST_TIMEOUT => {
                Failure::Passing(format!("the registry answers {status}"), asked)
            }
            status if status.is_server_error() => {
                Failure::Passing(format!("the registry answers {status}"), asked)
            }
            StatusCode::NOT_FOUND => self.wrong("the registry has no such image"),
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => self.wrong(&format!(
                "the registry answers {status}; `docker login` or `podman login` keeps \
                 credentials, or --authfile names where they are"
            )),
            status => self.wrong(&format!("the registry answers {status}")),
        }
    }

    fn no_answer(&self, error: &ureq::Error) -> Failure {
        match error {
            ureq::Error::TlsRequired => {
                self.wrong("https is not built in (feature `https`); --plain-http does without")
            }
            ureq::Error::HostNotFound | ureq::Error::BadUri(_) | ureq::Error::Tls(_) => {
                self.wrong(&format!("the registry cannot be reached: {error}"))
            }
            // The error of rustls, inside that of the connection.
            error if error.to_string().contains("invalid peer certificate") => {
                self.wrong(&format!(
                    "the registry's certificate is not trusted: {error}; if its authority is your \
                     own, put its certificate in /etc/containers/certs.d/{}/ca.crt, or name a \
                     file with it in SSL_CERT_FILE",
                    self.base.split('/').nth(2).unwrap_or_default()
                ))
            }
            error => Failure::Passing(format!("the registry does not answer: {error}"), None),
        }
    }

    pub(super) fn wrong(&self, reason: &str) -> Failure {
        Failure::Final(self.error(reason))
    }

    pub(super) fn error(&self, reason: &str) -> Error {
        Error::Registry {
            image: self.name.clone(),
            reason: reason.to_owned(),
        }
    }
}

/// The text of a header; nothing if there is none.
pub(super) fn text(headers: &HeaderMap, name: &str) -> String {
    let value = headers.get(name).and_then(|value| value.to_str().ok());
    value.unwrap_or_default().to_owned()
}

fn is_same_place(left: &Uri, right: &Uri) -> bool {
    (left.scheme_str(), left.authority()) == (right.scheme_str(), right.authority())
}

/// Whether a registry is on this machine, where nobody listens on the way.
fn is_loopback(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if !port.ends_with(']') => name,
        _ => host,
    };
    name == "localhost"
        || name == "[::1]"
        || name
            .parse()
            .is_ok_and(|ip: std::net::Ipv4Addr| ip.is_loopback())
}
