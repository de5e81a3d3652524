//! What `apptainer build` adds to an image, as layers below and above its own, and as objects of a
//! SIF container.
//!
//! `apptainer run` reads `/.singularity.d/env/*.sh` and starts `/.singularity.d/runscript`;
//! `apptainer inspect` reads the objects (Apptainer 1.4, `internal/pkg/build`). What is in the
//! files is this project's own: Apptainer's do the same.

mod scripts;
mod write;

use std::collections::BTreeMap;

use coldpress_sif::{Architecture, Kind, Object};
use coldpress_writer::Layer;
use serde_json::{Value, json};

use crate::added::AddedLayer;
use crate::config::RunConfig;
use crate::image::ContainerImage;
use scripts::{environment, runscript};

/// What a SIF container has beside what its source has.
#[derive(Clone, Debug)]
pub struct ApptainerFiles {
    /// What every container has; what the source has of it replaces it.
    pub below: Layer,
    /// What replaces what the source has.
    pub above: Option<Layer>,
    /// What the container holds beside its file system.
    pub objects: Vec<Object>,
    /// What its programs are compiled for.
    pub architecture: Architecture,
}

/// A file of a layer: path, mode, content.
type File = (&'static str, u16, String);

/// Directories on which Apptainer mounts something, and those of its own.
const DIRECTORIES: [&str; 13] = [
    ".singularity.d",
    ".singularity.d/actions",
    ".singularity.d/env",
    ".singularity.d/libs",
    "dev",
    "etc",
    "home",
    "proc",
    "root",
    "sys",
    "tmp",
    "var",
    "var/tmp",
];

/// Names by which older versions and users find them.
const LINKS: [(&str, &str); 6] = [
    (".exec", ".singularity.d/actions/exec"),
    (".run", ".singularity.d/actions/run"),
    (".shell", ".singularity.d/actions/shell"),
    (".test", ".singularity.d/actions/test"),
    ("environment", ".singularity.d/env/90-environment.sh"),
    ("singularity", ".singularity.d/runscript"),
];

/// Files that are the same in every container.
const SCRIPTS: [(&str, &str); 12] = [
    (
        ".singularity.d/actions/exec",
        include_str!("apptainer/exec.sh"),
    ),
    (
        ".singularity.d/actions/run",
        include_str!("apptainer/run.sh"),
    ),
    (
        ".singularity.d/actions/shell",
        include_str!("apptainer/shell.sh"),
    ),
    (
        ".singularity.d/actions/start",
        include_str!("apptainer/start.sh"),
    ),
    (
        ".singularity.d/actions/test",
        include_str!("apptainer/test.sh"),
    ),
    (".singularity.d/env/01-base.sh", "#!/bin/sh\n"),
    (".singularity.d/env/90-environment.sh", "#!/bin/sh\n"),
    (".singularity.d/env/94-appsbase.sh", "#!/bin/sh\n"),
    (
        ".singularity.d/env/95-apps.sh",
        include_str!("apptainer/95-apps.sh"),
    ),
    (
        ".singularity.d/env/99-base.sh",
        include_str!("apptainer/99-base.sh"),
    ),
    (
        ".singularity.d/env/99-runtimevars.sh",
        include_str!("apptainer/99-runtimevars.sh"),
    ),
    (".singularity.d/startscript", "#!/bin/sh\n"),
];

const ENVIRONMENT: &str = ".singularity.d/env/10-docker2singularity.sh";

impl ApptainerFiles {
    /// Those of a source that is no container image: a system that says nothing of how it is run.
    ///
    /// * `architecture`: as container images have it, `amd64`.
    /// * `time_s`: the time of what is added, seconds since 1970.
    pub fn of_system(architecture: &str, time_s: u32) -> Self {
        let architecture = Architecture::named(architecture);
        let labels = labels(&BTreeMap::new(), architecture, None);
        let files = files(&RunConfig::default(), &labels);
        Self {
            below: skeleton(&files, time_s).layer(BELOW.to_owned()),
            above: None,
            objects: Vec::new(),
            architecture,
        }
    }
}

impl ContainerImage {
    /// What `apptainer build` adds to this image.
    ///
    /// * `time_s`: the time of what is added, seconds since 1970.
    pub fn apptainer_files(&self, time_s: u32) -> ApptainerFiles {
        let run = &self.config.config;
        let architecture = Architecture::named(&self.config.platform.architecture);
        let definition = Definition::of(&self.name);
        let labels = labels(&run.labels, architecture, Some(&definition));
        let mut files = files(run, &labels);
        files.push((ENVIRONMENT, 0o755, environment(&run.env)));
        files.push((".singularity.d/Singularity", 0o644, definition.text()));
        let config: Value = serde_json::from_slice(&self.config_json).unwrap_or_default();
        let object = |kind, name: &str, text: String| Object {
            kind,
            name: name.to_owned(),
            bytes: text.into_bytes(),
        };
        let inspected = inspected(&files, &labels);
        let objects = vec![
            object(Kind::Definition, "", definition.text()),
            object(Kind::Json, "inspect-metadata.json", inspected.to_string()),
            object(Kind::Json, "oci-config.json", config["config"].to_string()),
        ];
        let mut above = AddedLayer::new(time_s);
        add_files(&mut above, &files);
        ApptainerFiles {
            below: skeleton(&[], time_s).layer(BELOW.to_owned()),
            above: Some(above.layer(format!("{}, what Apptainer adds", self.name))),
            objects,
            architecture,
        }
    }
}

/// The recipe by which Apptainer would build the same.
struct Definition {
    bootstrap: String,
    from: String,
}

impl Definition {
    fn of(reference: &str) -> Self {
        let (bootstrap, from) = reference.split_once(':').unwrap_or(("docker", reference));
        let bootstrap = match bootstrap {
            "dockerd" | "podman" => "docker-daemon",
            other => other,
        };
        let line = |text: &str| text.replace(char::is_control, " ");
        Self {
            bootstrap: line(bootstrap),
            from: line(from.trim_start_matches("//")),
        }
    }

    fn text(&self) -> String {
        format!("bootstrap: {}\nfrom: {}\n", self.bootstrap, self.from)
    }
}

/// Labels of the image, and those that Apptainer adds.
fn labels(
    own: &BTreeMap<String, String>,
    architecture: Architecture,
    definition: Option<&Definition>,
) -> BTreeMap<String, String> {
    let mut labels = own.clone();
    let mut add = |name: &str, value: &str| labels.insert(name.to_owned(), value.to_owned());
    add("org.label-schema.schema-version", "1.0");
    add("org.label-schema.build-arch", architecture.name());
    if let Some(Definition { bootstrap, from }) = definition {
        add(
            "org.label-schema.usage.singularity.deffile.bootstrap",
            bootstrap,
        );
        add("org.label-schema.usage.singularity.deffile.from", from);
    }
    labels
}

/// All files of a container but those that only container images have.
fn files(run: &RunConfig, labels: &BTreeMap<String, String>) -> Vec<File> {
    let scripts = SCRIPTS.map(|(path, text)| (path, 0o755, text.to_owned()));
    let mut files = scripts.to_vec();
    let labels = serde_json::to_string_pretty(labels).unwrap_or_default();
    files.extend([
        (".singularity.d/labels.json", 0o644, labels),
        (".singularity.d/runscript", 0o755, runscript(run)),
        // Apptainer mounts those of the host on them.
        ("etc/hosts", 0o644, String::new()),
        ("etc/resolv.conf", 0o644, String::new()),
    ]);
    files
}

/// What `apptainer inspect` prints of a container without starting it.
fn inspected(files: &[File], labels: &BTreeMap<String, String>) -> Value {
    let text = |wanted: &str| {
        let found = files.iter().find(|(path, ..)| *path == wanted);
        found.map_or("", |(.., text)| text.as_str())
    };
    let environment = [ENVIRONMENT, ".singularity.d/env/90-environment.sh"];
    let environment = environment.map(|path| (format!("/{path}"), text(path)));
    json!({
        "data": {"attributes": {
            "deffile": text(".singularity.d/Singularity"),
            "environment": BTreeMap::from(environment),
            "labels": labels,
            "runscript": text(".singularity.d/runscript"),
            "startscript": text(".singularity.d/startscript"),
        }},
        "type": "container",
    })
}

/// Directories, links and files as they stand below everything else.
fn skeleton(files: &[File], time_s: u32) -> AddedLayer {
    let mut added = AddedLayer::new(time_s);
    for path in DIRECTORIES {
        let mode = if path.ends_with("tmp") { 0o1777 } else { 0o755 };
        added.directory(path, mode);
    }
    for (path, target) in LINKS {
        added.link(path, target);
    }
    add_files(&mut added, files);
    added
}

fn add_files(added: &mut AddedLayer, files: &[File]) {
    for (path, mode, content) in files {
        added.file(path, *mode, content.as_bytes());
    }
}

/// What messages call the lower layer.
const BELOW: &str = "what every container has";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_definition_names_the_source_as_apptainer_does() {
        for (reference, expected) in [
            ("docker://q.io/a:1", "bootstrap: docker\nfrom: q.io/a:1\n"),
            (
                "oci-archive:./a.tar",
                "bootstrap: oci-archive\nfrom: ./a.tar\n",
            ),
            ("podman://a", "bootstrap: docker-daemon\nfrom: a\n"),
            ("oci:a\n%post", "bootstrap: oci\nfrom: a %post\n"),
        ] {
            assert_eq!(Definition::of(reference).text(), expected);
        }
    }
}
