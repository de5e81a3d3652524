//! SquashFS images in layouts and registries: pushed, read again, and as layers of others.

use std::fs;
use std::path::Path;

use coldpress_writer::Digest;

use crate::run::Stage;

/// A tree below another one, and the trees that they are together.
fn trees(stage: &Stage) {
    let long = "content ".repeat(50_000);
    for (path, content) in [
        ("lower/etc/a", "1"),
        ("lower/etc/gone", "1"),
        ("lower/opt/old", &*long),
        ("lower/bin/tool", &*long),
        ("lower/was/directory/x", "1"),
        ("upper/etc/a", "22"),
        ("upper/opt/new", "2"),
        ("upper/was", "a file now"),
        ("merged/etc/a", "22"),
        ("merged/opt/new", "2"),
        ("merged/bin/tool", &*long),
        ("merged/was", "a file now"),
    ] {
        let path = stage.at(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
}

/// Puts an image of these layers into the layout.
fn layout_of(stage: &Stage, layers: &[&str]) {
    let blobs = stage.at("layout/blobs/sha256");
    fs::create_dir_all(&blobs).unwrap();
    let put = |media_type: &str, bytes: &[u8]| {
        let digest = Digest::sha256_of(bytes);
        fs::write(blobs.join(digest.hex()), bytes).unwrap();
        let size = bytes.len();
        format!(r#"{{"mediaType":"{media_type}","digest":"{digest}","size":{size}}}"#)
    };
    let layer_type = "application/vnd.stacker.image.layer.squashfs+zstd";
    let layers = layers
        .iter()
        .map(|name| put(layer_type, &fs::read(stage.at(name)).unwrap()));
    let layers: Vec<_> = layers.collect();
    let config = put("application/vnd.oci.image.config.v1+json", b"{}");
    let manifest = format!(r#"{{"config":{config},"layers":[{}]}}"#, layers.join(","));
    let manifest_type = "application/vnd.oci.image.manifest.v1+json";
    let manifest = put(manifest_type, manifest.as_bytes());
    let index = format!(r#"{{"manifests":[{manifest}]}}"#);
    fs::write(stage.at("layout/index.json"), index).unwrap();
}

fn demand_same(stage: &Stage, image: &str, tree: &str) {
    let ignored = ["--no-modes", "--no-times", "--no-owners", "--no-xattrs"];
    let same = stage.run(["diff", image, tree].into_iter().chain(ignored));
    assert_eq!(same.code, Some(0), "{}{}", same.text(), same.stderr);
}

#[test]
fn layers_that_are_images_hide_as_an_overlay_does() {
    let stage = Stage::new();
    trees(&stage);
    stage.done(["-q", "build", "lower", "lower.sqfs"]);
    let marks = [
        "/etc/gone c 644 0 0 0 0",
        "/never c 644 0 0 0 0",
        "/opt x trusted.overlay.opaque=y",
        "/etc x trusted.overlay.impure=y",
        "/etc x trusted.own=1",
    ];
    let marks = marks.iter().flat_map(|mark| ["--pseudo", mark]);
    let words = ["-q", "build", "upper", "upper.sqfs", "-c", "zstd"];
    stage.done(words.into_iter().chain(marks));
    layout_of(&stage, &["lower.sqfs", "upper.sqfs"]);
    stage.done(["-q", "build", "oci:layout", "image.sqfs", "--verify"]);
    demand_same(&stage, "image.sqfs", "merged");
    demand_same(&stage, "oci:layout", "merged");
    // Marks of the overlay do not stay, xattrs of files do.
    let xattrs = stage
        .done(["stat", "oci:layout", "/etc", "/opt", "--json"])
        .text();
    assert!(xattrs.contains("trusted.own"), "{xattrs}");
    assert!(!xattrs.contains("overlay"), "{xattrs}");
}

#[test]
fn a_layer_whose_content_is_elsewhere_is_refused() {
    let stage = Stage::new();
    trees(&stage);
    let redirect = "/was x trusted.overlay.redirect=other";
    stage.done(["-q", "build", "upper", "upper.sqfs", "--pseudo", redirect]);
    layout_of(&stage, &["upper.sqfs"]);
    let ran = stage.run(["-q", "build", "oci:layout", "image.sqfs"]);
    assert_eq!(ran.code, Some(2));
    let expected = "layer 1 of 1";
    assert!(ran.stderr.contains(expected), "{}", ran.stderr);
    let expected = "`was` has the xattr trusted.overlay.redirect";
    assert!(ran.stderr.contains(expected), "{}", ran.stderr);
    assert!(!stage.at("image.sqfs").exists());
}

#[test]
fn a_layer_that_is_another_image_is_refused() {
    let stage = Stage::new();
    trees(&stage);
    stage.done(["-q", "build", "upper", "upper.sqfs"]);
    layout_of(&stage, &["upper.sqfs"]);
    let digest = Digest::sha256_of(&fs::read(stage.at("upper.sqfs")).unwrap());
    let blob = stage.at("layout/blobs/sha256").join(digest.hex());
    let mut bytes = fs::read(&blob).unwrap();
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    fs::write(&blob, bytes).unwrap();
    let ran = stage.run(["-q", "build", "oci:layout", "image.sqfs"]);
    assert_eq!(ran.code, Some(2));
    assert!(
        ran.stderr.contains("its digest is sha256:"),
        "{}",
        ran.stderr
    );
    assert!(!stage.at("image.sqfs").exists());
}

#[test]
fn what_is_pushed_to_a_layout_is_read_there() {
    let stage = Stage::new();
    trees(&stage);
    stage.done(["-q", "build", "lower", "app.sqfs", "-c", "zstd"]);
    for (destination, form) in [("oci:made:app", "artifact"), ("oci:made:image", "stacker")] {
        let ran = stage.done(["push", "app.sqfs", destination, "--as", form]);
        let named = ran.text().trim_end().to_owned();
        assert!(named.starts_with("oci:made@sha256:"), "{named}");
        demand_same(&stage, &named, "lower");
        demand_same(&stage, destination, "lower");
    }
    let inspected = stage.done(["inspect", "oci:made:image", "--json"]).text();
    assert!(inspected.contains("squashfs+zstd"), "{inspected}");
    // Entrypoint and environment come from the image that the pressed one was made from.
    let config = r#"{"config":{"Env":["A=1"],"Entrypoint":["/bin/tool"]},"os":"linux",
        "architecture":"amd64"}"#;
    with_config(&stage, "made", config);
    let words = ["--as", "stacker", "--config-of", "oci:made:configured"];
    stage.done(
        ["-q", "push", "app.sqfs", "oci:other:app"]
            .into_iter()
            .chain(words),
    );
    let inspected = stage.done(["inspect", "oci:other:app", "--json"]).text();
    assert!(
        inspected.contains("/bin/tool") && inspected.contains("A=1"),
        "{inspected}"
    );
}

/// Adds an image without layers but with a configuration to a layout.
fn with_config(stage: &Stage, layout: &str, config: &str) {
    let put = |bytes: &str| {
        let digest = Digest::sha256_of(bytes.as_bytes());
        let path = Path::new(layout).join("blobs/sha256").join(digest.hex());
        fs::write(stage.at(path.to_str().unwrap()), bytes).unwrap();
        format!(r#""digest":"{digest}","size":{}"#, bytes.len())
    };
    let config = config.replacen('{', r#"{"rootfs":{"diff_ids":[]},"#, 1);
    let config = put(&config);
    let media_type = "application/vnd.oci.image.config.v1+json";
    let config = format!(r#"{{"mediaType":"{media_type}",{config}}}"#);
    let manifest = put(&format!(
        r#"{{"schemaVersion":2,"config":{config},"layers":[]}}"#
    ));
    let path = stage.at(format!("{layout}/index.json"));
    let index = fs::read_to_string(&path).unwrap();
    let media_type = "application/vnd.oci.image.manifest.v1+json";
    let name = "org.opencontainers.image.ref.name";
    let entry = format!(
        r#""manifests":[{{"mediaType":"{media_type}",{manifest},
            "annotations":{{"{name}":"configured"}}}},"#
    );
    fs::write(&path, index.replacen(r#""manifests":["#, &entry, 1)).unwrap();
}

#[test]
fn what_cannot_be_pushed_is_refused() {
    let stage = Stage::new();
    trees(&stage);
    stage.done(["-q", "build", "lower", "app.sqfs"]);
    for (words, expected) in [
        ("app.sqfs somewhere", "cannot push to `somewhere`"),
        (
            "app.sqfs oci-archive:x.tar",
            "cannot push to `oci-archive:x.tar`",
        ),
        ("lower/etc/a oci:made", "error"),
        ("missing oci:made", "missing"),
        ("app.sqfs oci:made --platform linux/arm64", "--as stacker"),
        ("app.sqfs oci:made --file-name ../x", "--file-name"),
        ("app.sqfs oci:made --annotation x", "a key"),
    ] {
        let ran = stage.run(["push"].into_iter().chain(words.split(' ')));
        assert_eq!(ran.code, Some(2), "{words}: {}", ran.stderr);
        assert!(ran.stderr.contains(expected), "{words}: {}", ran.stderr);
        assert!(!stage.at("made").exists(), "{words}");
    }
}
