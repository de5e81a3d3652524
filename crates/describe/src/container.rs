//! The SIF container around an image.

use coldpress_image::Sif;
use coldpress_report::text::escaped;
use serde::Serialize;

/// A SIF container, as `coldpress info` prints it.
#[derive(Debug, Serialize)]
pub struct Container {
    id: String,
    architecture: &'static str,
    created: i64,
    objects: Vec<Object>,
    /// What of its table cannot be true; `null` if nothing.
    damage: Option<String>,
}

#[derive(Debug, Serialize)]
struct Object {
    kind: &'static str,
    name: String,
    start: u64,
    size_bytes: u64,
}

impl Container {
    /// What a table says.
    pub fn new(container: &Sif) -> Self {
        let objects = container.descriptors.iter().map(|descriptor| Object {
            kind: descriptor.kind.name(),
            name: escaped(&descriptor.name),
            start: descriptor.start,
            size_bytes: descriptor.size_bytes,
        });
        Self {
            id: container.header.uuid(),
            architecture: container.header.architecture.name(),
            created: container.header.created_s,
            objects: objects.collect(),
            damage: container.damage.as_ref().map(ToString::to_string),
        }
    }

    /// What cannot be true, for people.
    pub fn damage(&self) -> Option<&str> {
        self.damage.as_deref()
    }

    pub(crate) fn row(&self) -> (&'static str, String) {
        let Self {
            id, architecture, ..
        } = self;
        ("container", format!("SIF, {architecture}, id {id}"))
    }

    /// A table of its objects.
    pub(crate) fn lines(&self) -> Vec<String> {
        let title = format!("\n{:<24} {:>10} {:>13}\n", "object", "start byte", "bytes");
        let lines = self.objects.iter().map(|object| {
            let name = if object.name.is_empty() {
                object.kind
            } else {
                &object.name
            };
            format!(
                "{name:<24} {:>10} {:>13}\n",
                object.start, object.size_bytes
            )
        });
        [title].into_iter().chain(lines).collect()
    }
}
