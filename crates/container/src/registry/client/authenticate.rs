//! Who one is, as a registry asks for it: passwords, and tokens of token servers.

use std::io::Read as _;

use serde::Deserialize;
use ureq::http::{Uri, header};

use super::super::challenge::Challenge;
use super::super::credentials::Credentials;
use super::{Client, Failure};
use crate::document::DOCUMENT_MAX_BYTES;

/// What token servers answer.
#[derive(Deserialize)]
struct Token {
    #[serde(default)]
    token: Option<String>,
    #[serde(default)]
    access_token: Option<String>,
}

impl Client<'_> {
    /// Gets what requests prove with who one is.
    pub(super) fn authenticate(&self, header: &str) -> Result<String, Failure> {
        let basic = self.credentials.as_ref().and_then(Credentials::basic);
        Ok(match Challenge::parse(header) {
            Some(Challenge::Basic) => basic.ok_or_else(|| {
                self.wrong(
                    "the registry wants a user and a password; `docker login` or \
                            `podman login` keeps them, or --authfile names where they are",
                )
            })?,
            Some(Challenge::Bearer {
                realm,
                service,
                scope,
            }) => self.token(&realm, service.as_deref(), scope.as_deref(), basic)?,
            None => return Err(self.wrong("the registry asks who one is in an unknown way")),
        })
    }

    fn token(
        &self,
        realm: &str,
        service: Option<&str>,
        scope: Option<&str>,
        basic: Option<String>,
    ) -> Result<String, Failure> {
        let uri: Uri = realm
            .parse()
            .map_err(|_| self.wrong("its token server is no URL"))?;
        self.demand_tls(&uri)?;
        let scope = scope.unwrap_or(&self.scope);
        let answer = if let Some(Credentials::IdentityToken(token)) = &self.credentials {
            let form = [
                ("grant_type", "refresh_token"),
                ("service", service.unwrap_or_default()),
                ("scope", scope),
                ("refresh_token", token),
                ("client_id", "coldpress"),
            ];
            self.agent.post(&uri).send_form(form)
        } else {
            let mut request = self.agent.get(&uri).query("scope", scope);
            if let Some(service) = service {
                request = request.query("service", service);
            }
            if let Some(basic) = basic {
                request = request.header(header::AUTHORIZATION, basic);
            }
            request.call()
        };
        let mut response = answer.map_err(|error| self.no_answer(&error))?;
        if !response.status().is_success() {
            return Err(match self.refused(response.status(), response.headers()) {
                Failure::Final(_) => self.wrong(&format!(
                    "the token server answers {}; are the credentials right, and may one pull \
                     the image?",
                    response.status()
                )),
                passing @ Failure::Passing(..) => passing,
            });
        }
        let mut bytes = Vec::new();
        let mut body = response.body_mut().as_reader().take(DOCUMENT_MAX_BYTES);
        body.read_to_end(&mut bytes)
            .map_err(|error| Failure::Passing(format!("the token broke off: {error}"), None))?;
        // The document is not repeated: it is secret.
        let token: Token = serde_json::from_slice(&bytes)
            .map_err(|_| self.wrong("the token server answers with something else"))?;
        let token = token
            .token
            .or(token.access_token)
            .filter(|token| !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_graphic()));
        let token = token.ok_or_else(|| self.wrong("the token server gives no token"))?;
        Ok(format!("Bearer {token}"))
    }
}
