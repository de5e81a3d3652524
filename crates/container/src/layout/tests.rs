//! Images that are added to layouts.

use std::collections::BTreeMap;
use std::fs;
use std::ops::ControlFlow;
use std::path::Path;

use super::write::push_to_layout;
use crate::artifact::{Artifact, ArtifactForm, ArtifactSettings};
use crate::config::RunConfig;
use crate::open::{Means, open};
use crate::platform::Platform;
use crate::reference::{Place, Reference};

fn push(directory: &Path, content: &str, name: Option<&str>) -> Result<(), crate::Error> {
    let path = directory.join("image");
    fs::write(&path, content).unwrap();
    let settings = ArtifactSettings {
        form: ArtifactForm::SquashFs,
        file_name: "image".to_owned(),
        compressor: "gzip".to_owned(),
        platform: Platform::host(),
        config: RunConfig::default(),
        annotations: BTreeMap::new(),
    };
    let artifact = Artifact::new(&path, &settings, &mut |_| ControlFlow::Continue(())).unwrap();
    let place = Place {
        path: directory.join("layout"),
        name: name.map(str::to_owned),
        digest: None,
    };
    push_to_layout(&artifact, &place)
}

/// The bytes of the first layer of an image in the layout.
fn layer(directory: &Path, name: &str) -> Vec<u8> {
    let text = format!("oci:{}:{name}", directory.join("layout").display());
    let reference = Reference::parse(&text).unwrap().unwrap();
    let means = Means {
        platform: None,
        spool_directory: directory.to_path_buf(),
    };
    let image = open(
        &reference,
        &text,
        &means,
        &mut |_| ControlFlow::Continue(()),
    )
    .unwrap();
    let mut bytes = vec![0; usize::try_from(image.size_bytes()).unwrap()];
    image.layers[0].blob.bytes.fill_at(&mut bytes, 0).unwrap();
    bytes
}

#[test]
fn images_are_added_and_replaced_by_their_names() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    for (content, name) in [("one", "a"), ("two", "b"), ("three", "a"), ("two", "b")] {
        push(directory, content, Some(name)).unwrap();
    }
    push(directory, "four", None).unwrap();
    assert_eq!(layer(directory, "a"), b"three");
    assert_eq!(layer(directory, "b"), b"two");
    let index = fs::read(directory.join("layout/index.json")).unwrap();
    let index: serde_json::Value = serde_json::from_slice(&index).unwrap();
    assert_eq!(index["manifests"].as_array().unwrap().len(), 3);
    let mut names: Vec<_> = fs::read_dir(directory.join("layout"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    names.sort();
    assert_eq!(names, ["blobs", "index.json", "oci-layout"]);
}

#[test]
fn what_is_no_index_is_not_replaced() {
    let directory = tempfile::tempdir().unwrap();
    let index = directory.path().join("layout/index.json");
    fs::create_dir(index.parent().unwrap()).unwrap();
    for content in ["[]", "{\"manifests\": 7}", "no json"] {
        fs::write(&index, content).unwrap();
        let error = push(directory.path(), "one", Some("a")).unwrap_err();
        assert!(error.to_string().contains("index.json"), "{error}");
        assert_eq!(fs::read_to_string(&index).unwrap(), content);
    }
}
