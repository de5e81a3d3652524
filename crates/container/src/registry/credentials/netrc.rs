//! `.credentials` of enroot, in the form of netrc.

use super::Credentials;
use crate::reference::RegistryReference;

/// `machine HOST login USER password PASSWORD`; the user of the reference counts, if it has one.
pub(super) fn in_netrc(text: &str, reference: &RegistryReference) -> Option<Credentials> {
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
