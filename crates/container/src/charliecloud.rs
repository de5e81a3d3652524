//! What Charliecloud expects in an image.
//!
//! `ch-run` mounts an image read-only, so that all places at which it mounts something must be
//! there. `ch-run --set-env` reads `/ch/environment`, and `ch-image` reads `/ch/metadata.json`
//! (Charliecloud 0.39, `lib/image.py` and `bin/ch-convert`).

use std::collections::BTreeMap;
use std::fmt::Write as _;

use coldpress_writer::Layer;
use serde_json::{Value, json};

use crate::added::AddedLayer;
use crate::image::ContainerImage;

/// Directories that `ch-convert` makes where an image has nothing of that name.
const DIRECTORIES: [&str; 8] = ["bin", "dev", "etc", "mnt", "proc", "sys", "tmp", "usr"];
/// Files over which `ch-run` mounts those of the host.
const FILES: [&str; 2] = ["etc/hosts", "etc/resolv.conf"];

impl ContainerImage {
    /// The layer below all others: places to mount at, which everything of the image replaces.
    ///
    /// * `time_s`: the time of what is added, seconds since 1970.
    pub fn charliecloud_mount_points(&self, time_s: u32) -> Layer {
        let mut added = AddedLayer::new(time_s);
        for directory in DIRECTORIES {
            added.directory(directory, 0o755);
        }
        for number in 0..10 {
            added.directory(&format!("mnt/{number}"), 0o755);
        }
        for file in FILES {
            added.file(file, 0o644, b"");
        }
        for volume in self.config.config.volumes.keys() {
            let path = volume.trim_matches('/');
            if !path.is_empty() && !path.split('/').any(|part| part == "..") {
                added.directory(path, 0o755);
            }
        }
        added.layer(format!("{}, what Charliecloud mounts at", self.name))
    }

    /// The layer above all others: `/ch/environment`, `/ch/metadata.json`, and the configuration as
    /// it was found.
    ///
    /// * `time_s`: the time of what is added, seconds since 1970.
    pub fn charliecloud_layer(&self, time_s: u32) -> Layer {
        let variables: BTreeMap<&str, &str> = self
            .config
            .config
            .env
            .iter()
            .filter_map(|line| line.split_once('='))
            .collect();
        let mut environment = String::new();
        for (name, value) in &variables {
            // A line break would begin another variable.
            let _ = writeln!(environment, "{name}={}", value.replace('\n', " "));
        }
        let metadata = format!("{:#}\n", self.charliecloud_metadata(&variables));
        let mut added = AddedLayer::new(time_s);
        added.file("ch/environment", 0o644, environment.as_bytes());
        added.file("ch/metadata.json", 0o644, metadata.as_bytes());
        added.file("ch/config.pulled.json", 0o644, &self.config_json);
        added.layer(format!("{}, what Charliecloud adds", self.name))
    }

    fn charliecloud_metadata(&self, variables: &BTreeMap<&str, &str>) -> Value {
        let pulled: Value = serde_json::from_slice(&self.config_json).unwrap_or_default();
        let run = &self.config.config;
        let directory = match run.working_dir.as_str() {
            "" => "/",
            directory => directory,
        };
        let shell = &pulled["config"]["Shell"];
        let history = &pulled["history"];
        json!({
            "arch": self.config.platform.architecture,
            "arg": {},
            "cwd": directory,
            "env": variables,
            "history": if history.is_array() { history.clone() } else { json!([]) },
            "labels": run.labels,
            "shell": if shell.is_array() { shell.clone() } else { json!(["/bin/sh", "-c"]) },
            "volumes": run.volumes.keys().collect::<Vec<_>>(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metadata_is_what_the_configuration_says() {
        let text = r#"{"architecture":"arm64","os":"linux","history":[{"created_by":"x"}],
            "config":{"Env":["B=2","A=1=1"],"WorkingDir":"/w","Labels":{"l":"m"},
            "Volumes":{"/data":{}},"Shell":["/bin/bash","-c"]}}"#;
        let image = ContainerImage {
            name: "image".to_owned(),
            manifest: None,
            platforms: Vec::new(),
            config: serde_json::from_str(text).unwrap(),
            config_json: text.as_bytes().to_vec(),
            layers: Vec::new(),
        };
        let variables = BTreeMap::from([("A", "1=1"), ("B", "2")]);
        let expected = json!({
            "arch": "arm64", "arg": {}, "cwd": "/w", "env": {"A": "1=1", "B": "2"},
            "history": [{"created_by": "x"}], "labels": {"l": "m"},
            "shell": ["/bin/bash", "-c"], "volumes": ["/data"],
        });
        assert_eq!(image.charliecloud_metadata(&variables), expected);
    }
}
