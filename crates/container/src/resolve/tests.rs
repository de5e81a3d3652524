use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use super::*;
use crate::blobs::Blob;
use crate::document::LAYERS_MAX;

/// Blobs in memory.
#[derive(Default)]
struct Memory(RefCell<HashMap<Digest, Vec<u8>>>);

impl Blobs for Memory {
    fn name(&self) -> &'static str {
        "image"
    }

    fn open(&self, descriptor: &Descriptor) -> Result<Blob, Error> {
        let blobs = self.0.borrow();
        let bytes = blobs
            .get(&descriptor.digest)
            .ok_or_else(|| Error::Missing {
                image: "image".to_owned(),
                what: "blob".to_owned(),
            })?;
        Ok(Blob {
            bytes: Arc::new(bytes.clone()),
            file: None,
            index: None,
        })
    }
}

impl Memory {
    /// Keeps a blob; returns a descriptor.
    fn put(&self, media_type: &str, bytes: &[u8], more: &str) -> String {
        let digest = Digest::sha256_of(bytes);
        self.0.borrow_mut().insert(digest, bytes.to_vec());
        let size = bytes.len();
        format!(r#"{{"mediaType":"{media_type}","digest":"{digest}","size":{size}{more}}}"#)
    }

    fn manifest(&self, platform: &str, layers: usize, more: &str) -> String {
        let parsed: Platform = platform.parse().unwrap();
        let layer = self.put("application/vnd.oci.image.layer.v1.tar", b"layer", "");
        let ids = vec![format!("\"{}\"", Digest::sha256_of(b"layer")); layers].join(",");
        let variant = parsed.variant.clone().unwrap_or_default();
        let config = format!(
            r#"{{"os":"{}","architecture":"{}","variant":"{variant}","rootfs":{{"diff_ids":[{ids}]}}}}"#,
            parsed.os, parsed.architecture
        );
        let config = self.put(
            "application/vnd.oci.image.config.v1+json",
            config.as_bytes(),
            "",
        );
        let layers = vec![layer; layers].join(",");
        let text = format!(r#"{{"config":{config},"layers":[{layers}]}}"#);
        self.put(
            "application/vnd.oci.image.manifest.v1+json",
            text.as_bytes(),
            more,
        )
    }

    fn index(&self, entries: &[String], more: &str) -> String {
        let text = format!(r#"{{"manifests":[{}]}}"#, entries.join(","));
        self.put(INDEXES[0], text.as_bytes(), more)
    }

    fn find(&self, entries: &[String], wanted: &Wanted) -> Result<ContainerImage, Error> {
        let text = format!(r#"{{"manifests":[{}]}}"#, entries.join(","));
        image(self, parse("image", "index", text.as_bytes())?, wanted)
    }
}

fn platform(text: &str) -> String {
    let platform: Platform = text.parse().unwrap();
    let (os, architecture) = (platform.os, platform.architecture);
    let variant = platform.variant.unwrap_or_default();
    let variant = if variant.is_empty() {
        String::new()
    } else {
        format!(r#","variant":"{variant}""#)
    };
    format!(r#","platform":{{"os":"{os}","architecture":"{architecture}"{variant}}}"#)
}

fn named(name: &str) -> String {
    format!(r#","annotations":{{"org.opencontainers.image.ref.name":"{name}"}}"#)
}

fn wanted(name: Option<&str>, platform: Option<&str>) -> Wanted {
    Wanted {
        name: name.map(str::to_owned),
        digest: None,
        platform: platform.map(|text| text.parse().unwrap()),
    }
}

#[test]
fn the_image_for_the_platform_is_taken_and_attestations_are_passed_over() {
    let blobs = Memory::default();
    let all = [
        "linux/amd64",
        "linux/arm/v6",
        "linux/arm/v7",
        "linux/arm64",
        "linux/riscv64",
    ];
    let entry = |text: &&str| blobs.manifest(text, 2, &platform(text));
    let mut entries: Vec<String> = all.iter().map(entry).collect();
    entries.push(blobs.manifest("unknown/unknown", 1, &platform("unknown/unknown")));
    let about = r#","annotations":{"vnd.docker.reference.type":"attestation-manifest"}"#;
    entries.push(blobs.manifest("linux/amd64", 3, about));
    let index = blobs.index(&entries, "");
    for entries in [entries, vec![index]] {
        for (asked, found) in [
            ("linux/arm64/v8", "linux/arm64"),
            ("linux/arm/v7", "linux/arm/v7"),
            ("linux/arm/v6", "linux/arm/v6"),
            ("linux/amd64/v3", "linux/amd64"),
        ] {
            let image = blobs.find(&entries, &wanted(None, Some(asked))).unwrap();
            let expected: Platform = found.parse().unwrap();
            assert_eq!(image.config.platform, expected, "{asked}");
            assert_eq!((image.layers.len(), image.platforms.len()), (2, 5));
        }
        let error = blobs
            .find(&entries, &wanted(None, Some("linux/s390x")))
            .unwrap_err();
        assert!(
            error
                .to_string()
                .contains("it has linux/amd64, linux/arm/v6"),
            "{error}"
        );
    }
}

#[test]
fn names_come_from_annotations_and_from_the_index_above() {
    let blobs = Memory::default();
    let inner = [
        blobs.manifest("linux/amd64", 1, ""),
        blobs.manifest("linux/arm64", 1, ""),
    ];
    let containerd = r#","annotations":{"io.containerd.image.name":"docker.io/library/b:1"}"#;
    let entries = [
        blobs.index(&inner[..1], &named("a")),
        blobs.index(&inner[1..], containerd),
    ];
    for (name, architecture) in [
        ("a", Some("amd64")),
        ("b:1", Some("arm64")),
        ("docker.io/library/b:1", Some("arm64")),
        ("1", Some("arm64")),
        ("b", None),
        ("c", None),
    ] {
        let image = blobs.find(&entries, &wanted(Some(name), None));
        let found = image.ok().map(|image| image.config.platform.architecture);
        assert_eq!(found.as_deref(), architecture, "{name}");
    }
    let error = blobs
        .find(&entries, &wanted(None, None))
        .unwrap_err()
        .to_string();
    assert_eq!(
        error,
        "`image` holds several images; name one of `a`, `docker.io/library/b:1`"
    );
    let error = blobs
        .find(&entries, &wanted(Some("c"), None))
        .unwrap_err()
        .to_string();
    assert!(error.contains("has no image `c`; it has `a`"), "{error}");
}

#[test]
fn a_platform_that_was_asked_for_is_checked_even_without_a_choice() {
    let blobs = Memory::default();
    let only = [blobs.manifest("linux/amd64", 1, "")];
    assert!(blobs.find(&only, &wanted(None, None)).is_ok());
    let error = blobs
        .find(&only, &wanted(None, Some("linux/arm64")))
        .unwrap_err();
    assert!(matches!(error, Error::NoPlatform { .. }), "{error}");
}

#[test]
fn documents_that_lie_are_refused() {
    let blobs = Memory::default();
    let manifest = blobs.manifest("linux/amd64", 1, "");
    let larger = manifest.replace("\"size\":", "\"size\":1");
    let huge = manifest.replace("\"size\":", "\"size\":10000000");
    let many = blobs.manifest("linux/amd64", LAYERS_MAX + 1, "");
    let mut deep = blobs.index(std::slice::from_ref(&manifest), "");
    for _ in 0..DEPTH_MAX {
        deep = blobs.index(&[deep], "");
    }
    let crowd = vec![manifest.clone(); ENTRIES_MAX + 1];
    let absent = manifest
        .replace("sha256:", "sha256:0")
        .replacen("sha256:0", "sha256:", 0);
    for (entries, part) in [
        (vec![larger], "bytes, must have"),
        (vec![huge], "more than the 4 MiB"),
        (vec![many], "501 layers, more than 500"),
        (vec![deep], "more than 8 others in each other"),
        (crowd, "more than 4096 entries"),
        (vec![absent], "is not a digest"),
        (Vec::new(), "has no image in it"),
    ] {
        let error = blobs
            .find(&entries, &wanted(None, None))
            .unwrap_err()
            .to_string();
        assert!(error.contains(part), "{error}");
    }
    // A blob that is another: only who keeps them can make an index contain itself.
    let index = blobs.index(&[manifest], "");
    let digest: Descriptor = serde_json::from_str(&index).unwrap();
    let itself = format!(r#"{{"manifests":[{index}]}}"#);
    blobs
        .0
        .borrow_mut()
        .insert(digest.digest, itself.clone().into_bytes());
    let sized = index.replace(
        &format!("\"size\":{}", digest.size),
        &format!("\"size\":{}", itself.len()),
    );
    let error = blobs.find(&[sized], &wanted(None, None)).unwrap_err();
    assert!(matches!(error, Error::Digest { .. }), "{error}");
}

#[test]
fn layers_that_cannot_be_merged_are_named() {
    let blobs = Memory::default();
    let config = blobs.put("application/vnd.oci.image.config.v1+json", b"{}", "");
    let with = |media_type: &str| {
        let layer = blobs.put(media_type, b"layer", "");
        let text = format!(r#"{{"config":{config},"layers":[{layer}]}}"#);
        let manifest = blobs.put(
            "application/vnd.oci.image.manifest.v1+json",
            text.as_bytes(),
            "",
        );
        blobs.find(&[manifest], &wanted(None, None))
    };
    let error = with("application/vnd.oci.image.layer.v1.tar+gzip+encrypted").unwrap_err();
    assert!(
        error.to_string().contains("layer 1 (`application/vnd.oci"),
        "{error}"
    );
    assert!(error.to_string().contains("is encrypted"), "{error}");
    let error = with("application/vnd.oci.image.layer.v1.tar").unwrap_err();
    assert!(
        error
            .to_string()
            .contains("0 diff_ids, but there are 1 layers"),
        "{error}"
    );
    let artifact = with("application/x-squashfs").unwrap();
    assert_eq!(
        artifact.layers[0].kind,
        coldpress_writer::LayerKind::SquashFs
    );
}
