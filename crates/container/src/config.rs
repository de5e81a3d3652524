//! The configuration of an image: what runs in it, and how.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::document::null_is_empty;
use crate::platform::Platform;

/// What an image says about itself.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Config {
    /// What it was made for.
    #[serde(flatten)]
    pub platform: Platform,
    /// When, as written.
    #[serde(default)]
    pub created: Option<String>,
    /// How it is run.
    #[serde(default, deserialize_with = "null_is_empty")]
    pub config: RunConfig,
    /// What its layers are when they are decompressed.
    #[serde(default, deserialize_with = "null_is_empty")]
    pub rootfs: RootFs,
}

/// The digests of the plain layers.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct RootFs {
    /// From the lowest to the uppermost, as written.
    #[serde(default, deserialize_with = "null_is_empty")]
    pub diff_ids: Vec<String>,
}

/// How an image is run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct RunConfig {
    /// `NAME=VALUE`.
    #[serde(
        default,
        skip_serializing_if = "Vec::is_empty",
        deserialize_with = "null_is_empty"
    )]
    pub env: Vec<String>,
    /// The program, and its first arguments.
    #[serde(
        default,
        skip_serializing_if = "Vec::is_empty",
        deserialize_with = "null_is_empty"
    )]
    pub entrypoint: Vec<String>,
    /// Its further arguments, or the program if there is no entrypoint.
    #[serde(
        default,
        skip_serializing_if = "Vec::is_empty",
        deserialize_with = "null_is_empty"
    )]
    pub cmd: Vec<String>,
    /// Where it is run.
    #[serde(
        default,
        skip_serializing_if = "String::is_empty",
        deserialize_with = "null_is_empty"
    )]
    pub working_dir: String,
    /// Who runs it: a name or number, and after a colon the group.
    #[serde(
        default,
        skip_serializing_if = "String::is_empty",
        deserialize_with = "null_is_empty"
    )]
    pub user: String,
    /// Directories that are to outlive it.
    #[serde(
        default,
        skip_serializing_if = "BTreeMap::is_empty",
        deserialize_with = "null_is_empty"
    )]
    pub volumes: BTreeMap<String, Value>,
    /// Free texts.
    #[serde(
        default,
        skip_serializing_if = "BTreeMap::is_empty",
        deserialize_with = "null_is_empty"
    )]
    pub labels: BTreeMap<String, String>,
}

impl RunConfig {
    /// What is run if nobody says otherwise.
    pub fn command(&self) -> Vec<String> {
        [self.entrypoint.clone(), self.cmd.clone()].concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn configurations_are_read_as_docker_writes_them() {
        let text = r#"{"architecture":"arm64","os":"linux","variant":"v8",
            "config":{"Env":["A=1"],"Entrypoint":null,"Cmd":["sh"],"Labels":null,
                      "Volumes":{"/data":{}},"WorkingDir":"","ExposedPorts":{"80/tcp":{}}},
            "rootfs":{"type":"layers","diff_ids":["sha256:00"]},"history":[{}]}"#;
        let config: Config = serde_json::from_str(text).unwrap();
        assert_eq!(config.platform.to_string(), "linux/arm64/v8");
        assert_eq!(config.config.command(), ["sh"]);
        assert_eq!(config.config.volumes.keys().collect::<Vec<_>>(), ["/data"]);
        assert_eq!(config.rootfs.diff_ids.len(), 1);
        let empty: Config = serde_json::from_str(r#"{"config":null,"rootfs":null}"#).unwrap();
        assert_eq!(empty.config, RunConfig::default());
    }
}
