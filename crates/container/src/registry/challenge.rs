//! What a registry asks for before it answers (RFC 9110, section 11.6.1).

/// How to authenticate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Challenge {
    /// User and password with each request.
    Basic,
    /// A token that another server gives.
    Bearer {
        realm: String,
        service: Option<String>,
        scope: Option<String>,
    },
}

impl Challenge {
    /// The best challenge of a `WWW-Authenticate` header.
    pub(super) fn parse(header: &str) -> Option<Self> {
        let (scheme, rest) = header.trim().split_once(' ').unwrap_or((header.trim(), ""));
        if scheme.eq_ignore_ascii_case("basic") {
            return Some(Self::Basic);
        }
        if !scheme.eq_ignore_ascii_case("bearer") {
            return None;
        }
        let parameters = parameters(rest);
        let value = |name: &str| {
            let found = parameters
                .iter()
                .find(|(key, _)| key.eq_ignore_ascii_case(name));
            found.map(|(_, value)| value.clone())
        };
        Some(Self::Bearer {
            realm: value("realm")?,
            service: value("service"),
            scope: value("scope"),
        })
    }
}

/// `key="value"` or `key=value`, separated by commas.
fn parameters(mut text: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    while let Some((key, rest)) = text.split_once('=') {
        let key = key.trim_matches([' ', ',', '\t']).to_owned();
        let (value, rest) = if let Some(rest) = rest.strip_prefix('"') {
            quoted(rest)
        } else {
            let (value, rest) = rest.split_once(',').unwrap_or((rest, ""));
            (value.trim().to_owned(), rest)
        };
        found.push((key, value));
        text = rest;
    }
    found
}

/// A value up to its closing quotation mark, and what follows that.
fn quoted(text: &str) -> (String, &str) {
    let mut value = String::new();
    let mut chars = text.char_indices();
    let mut end = text.len();
    while let Some((at, it)) = chars.next() {
        match it {
            '"' => {
                end = at + 1;
                break;
            }
            '\\' => value.extend(chars.next().map(|(_, it)| it)),
            it => value.push(it),
        }
    }
    (value, text.get(end..).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn challenges_are_read_as_registries_write_them() {
        let bearer = |realm: &str, service: Option<&str>, scope: Option<&str>| {
            Some(Challenge::Bearer {
                realm: realm.to_owned(),
                service: service.map(str::to_owned),
                scope: scope.map(str::to_owned),
            })
        };
        for (header, challenge) in [
            (
                r#"Bearer realm="https://auth.docker.io/token",service="registry.docker.io",scope="repository:a/b:pull""#,
                bearer(
                    "https://auth.docker.io/token",
                    Some("registry.docker.io"),
                    Some("repository:a/b:pull"),
                ),
            ),
            (
                r#"bearer realm="https://x/y?a=b", service=z, scope="repository:a:pull,push""#,
                bearer("https://x/y?a=b", Some("z"), Some("repository:a:pull,push")),
            ),
            (r#"Bearer realm="a\"b""#, bearer("a\"b", None, None)),
            (r#"Basic realm="x""#, Some(Challenge::Basic)),
            ("Bearer service=x", None),
            ("Negotiate", None),
            ("", None),
            (r#"Bearer realm="unended"#, bearer("unended", None, None)),
        ] {
            assert_eq!(Challenge::parse(header), challenge, "{header}");
        }
    }
}
