//! Container images as sources.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;

use coldpress_writer::Digest;

use crate::run::{Ran, Stage, command, program};
use crate::skip::{without_peer, without_root};

/// Keeps a blob in the OCI layout `layout`; returns its descriptor.
pub(crate) fn put(stage: &Stage, media_type: &str, bytes: &[u8]) -> String {
    let digest = Digest::sha256_of(bytes);
    let blobs = stage.at("layout/blobs/sha256");
    fs::create_dir_all(&blobs).unwrap();
    fs::write(blobs.join(digest.hex()), bytes).unwrap();
    let size = bytes.len();
    format!(r#"{{"mediaType":"{media_type}","digest":"{digest}","size":{size}}}"#)
}

pub(crate) fn tar(directory: &Path) -> Vec<u8> {
    let mut tar = Command::new("tar");
    tar.args([
        "--sort=name",
        "--numeric-owner",
        "--mtime=@1000000000",
        "-cf",
        "-",
        ".",
    ]);
    program(tar.current_dir(directory)).stdout
}

/// Makes the trees of two layers, `lower` and `upper`, and the tree `merged` that they are.
fn trees(stage: &Stage) {
    let write = |path: &str, content: &str| {
        let path = stage.at(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    };
    let long = "content ".repeat(50_000);
    for (tree, files) in [
        (
            "lower",
            &[
                ("etc/a", "1"),
                ("etc/gone", &*long),
                ("opt/x/old", "1"),
                ("bin/tool", &*long),
            ][..],
        ),
        (
            "upper",
            &[
                ("etc/.wh.gone", ""),
                ("opt/x/.wh..wh..opq", ""),
                ("opt/x/new", "2"),
                ("etc/a", "22"),
            ],
        ),
        (
            "merged",
            &[("etc/a", "22"), ("opt/x/new", "2"), ("bin/tool", &*long)],
        ),
    ] {
        for (path, content) in files {
            write(&format!("{tree}/{path}"), content);
        }
    }
    for tree in ["lower", "merged"] {
        symlink("bin/tool", stage.at(format!("{tree}/link"))).unwrap();
        let touch = [
            "-c",
            &format!("find {tree} -exec touch -h -d @1000000000 {{}} +"),
        ];
        program(
            Command::new("sh")
                .args(touch)
                .current_dir(stage.directory()),
        );
    }
}

/// Makes the layout `layout` of `lower` and `upper`, and its archives; returns the digests of the
/// layers.
pub(crate) fn image(stage: &Stage) -> Vec<Digest> {
    trees(stage);
    let (lower, upper) = (tar(&stage.at("lower")), tar(&stage.at("upper")));
    fs::write(stage.at("lower.tar"), &lower).unwrap();
    let gzip = program(
        Command::new("gzip")
            .args(["-nc", "lower.tar"])
            .current_dir(stage.directory()),
    );
    let ids = [&lower, &upper].map(|layer| Digest::sha256_of(layer));
    let config = format!(
        r#"{{"os":"linux","architecture":"amd64","config":{{"Env":["A=1"],"Entrypoint":["/bin/tool"]}},
            "rootfs":{{"type":"layers","diff_ids":["{}","{}"]}}}}"#,
        ids[0], ids[1]
    );
    let layer = "application/vnd.oci.image.layer.v1.tar";
    let layers = [
        put(stage, &format!("{layer}+gzip"), &gzip.stdout),
        put(stage, layer, &upper),
    ];
    let config_descriptor = put(
        stage,
        "application/vnd.oci.image.config.v1+json",
        config.as_bytes(),
    );
    let manifest = format!(
        r#"{{"config":{config_descriptor},"layers":[{}]}}"#,
        layers.join(",")
    );
    let manifest = put(
        stage,
        "application/vnd.oci.image.manifest.v1+json",
        manifest.as_bytes(),
    );
    let name = r#","annotations":{"org.opencontainers.image.ref.name":"app"}}"#;
    let named = manifest.replacen('}', name, 1);
    fs::write(
        stage.at("layout/index.json"),
        format!(r#"{{"manifests":[{named}]}}"#),
    )
    .unwrap();
    fs::write(
        stage.at("layout/oci-layout"),
        r#"{"imageLayoutVersion":"1.0.0"}"#,
    )
    .unwrap();
    save(stage, &config, &[lower, upper.clone()]);
    fs::write(stage.at("layout.tar"), tar(&stage.at("layout"))).unwrap();
    program(Command::new("gzip").arg("-k").arg(stage.at("layout.tar")));
    vec![Digest::sha256_of(&gzip.stdout), Digest::sha256_of(&upper)]
}

/// Makes the archive `saved.tar` of an image, as `docker save` does.
fn save(stage: &Stage, config: &str, [lower, upper]: &[Vec<u8>; 2]) {
    let saved = stage.at("saved");
    fs::create_dir_all(saved.join("one")).unwrap();
    fs::create_dir_all(saved.join("two")).unwrap();
    fs::write(saved.join("config.json"), config).unwrap();
    fs::write(saved.join("one/layer.tar"), lower).unwrap();
    fs::write(saved.join("two/real.tar"), upper).unwrap();
    symlink("../two/real.tar", saved.join("two/layer.tar")).unwrap();
    let list = r#"[{"Config":"config.json","RepoTags":["app:1"],
                    "Layers":["one/layer.tar","two/layer.tar"]}]"#;
    fs::write(saved.join("manifest.json"), list).unwrap();
    fs::write(stage.at("saved.tar"), tar(&saved)).unwrap();
}

/// Builds with this as standard input.
fn build_from(stage: &Stage, source: &str, input: &str, output: &str) -> Ran {
    let mut command = command();
    command
        .args(["-q", "build", source, output])
        .current_dir(stage.directory());
    command.stdin(Stdio::from(fs::File::open(stage.at(input)).unwrap()));
    Ran::of(command.output().unwrap())
}

#[test]
fn every_form_of_an_image_builds_the_same() {
    let stage = Stage::new();
    image(&stage);
    stage.done(["-q", "build", "oci:layout", "first.sqfs", "--verify"]);
    // Directories that layers share have the times of the last.
    let same = stage.run(["diff", "first.sqfs", "merged", "--no-modes", "--no-times"]);
    assert_eq!(same.code, Some(0), "{}{}", same.text(), same.stderr);
    let first = fs::read(stage.at("first.sqfs")).unwrap();
    for source in [
        "oci:layout:app",
        "oci-archive:layout.tar",
        "oci-archive:layout.tar.gz:app",
        "docker-archive:saved.tar",
        "docker-archive:saved.tar:app:1",
        // Each side of what Docker writes serves for the other.
        "oci-archive:saved.tar",
    ] {
        stage.done(["-q", "build", source, "again.sqfs"]);
        assert!(
            fs::read(stage.at("again.sqfs")).unwrap() == first,
            "{source}"
        );
    }
    for (source, input) in [
        ("docker-archive:-", "saved.tar"),
        ("oci-archive:-", "layout.tar.gz"),
    ] {
        let ran = build_from(&stage, source, input, "again.sqfs");
        assert_eq!(ran.code, Some(0), "{source}: {}", ran.stderr);
        assert!(
            fs::read(stage.at("again.sqfs")).unwrap() == first,
            "{source}"
        );
    }
}

#[test]
fn a_program_that_keeps_images_is_asked_for_them() {
    let stage = Stage::new();
    image(&stage);
    stage.done(["-q", "build", "oci:layout", "first.sqfs"]);
    let podman = "#!/bin/sh\ncase \"$*\" in\n*app) cat \"$SAVED\";;\n*) echo no such image >&2; exit 125;;\nesac\n";
    fs::create_dir(stage.at("bin")).unwrap();
    for name in ["podman", "docker"] {
        fs::write(stage.at("bin").join(name), podman).unwrap();
        let executable = fs::Permissions::from_mode(0o755);
        fs::set_permissions(stage.at("bin").join(name), executable).unwrap();
    }
    let path = format!(
        "{}:{}",
        stage.at("bin").display(),
        std::env::var("PATH").unwrap()
    );
    let build = |source: &str| {
        let mut command = command();
        command
            .args(["-q", "build", source, "again.sqfs"])
            .current_dir(stage.directory());
        command
            .env("PATH", &path)
            .env("SAVED", stage.at("saved.tar"));
        Ran::of(command.output().unwrap())
    };
    for source in ["podman://app", "dockerd://app"] {
        let ran = build(source);
        assert_eq!(ran.code, Some(0), "{source}: {}", ran.stderr);
        let same =
            fs::read(stage.at("again.sqfs")).unwrap() == fs::read(stage.at("first.sqfs")).unwrap();
        assert!(same, "{source}");
    }
    let ran = build("podman://other");
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("no such image"), "{}", ran.stderr);
}

#[test]
fn verbs_that_read_images_read_container_images() {
    let stage = Stage::new();
    let digests = image(&stage);
    stage.done(["-q", "build", "oci:layout", "image.sqfs"]);
    for line in [
        "ls -lR IMAGE",
        "find IMAGE --json",
        "cat IMAGE /bin/tool",
        "tar IMAGE",
        "tree IMAGE",
    ] {
        let ran = |image: &str| stage.done(line.replace("IMAGE", image).split(' ')).stdout;
        assert!(ran("oci:layout:app") == ran("image.sqfs"), "{line}");
    }
    let same = stage.run([
        "diff",
        "--tree-only",
        "docker-archive:saved.tar",
        "image.sqfs",
    ]);
    assert_eq!(same.code, Some(0), "{}{}", same.text(), same.stderr);
    let inspected = stage
        .done(["inspect", "oci:layout", "--merged", "--json"])
        .json();
    assert_eq!(inspected["layers"][0]["digest"], digests[0].to_string());
    assert_eq!(inspected["command"][0], "/bin/tool");
    assert_eq!(inspected["tree"]["files"], 3);
    let text = stage.done(["inspect", "oci:layout"]).text();
    assert!(text.contains("environment  A=1\n"), "{text}");
}

#[test]
fn what_is_not_the_image_that_is_named_leaves_no_output() {
    let stage = Stage::new();
    let digests = image(&stage);
    let demand = |source: &str, part: &str| {
        let ran = stage.run(["build", source, "image.sqfs"]);
        assert_eq!(ran.code, Some(2), "{source}");
        assert!(ran.stderr.contains(part), "{source}: {}", ran.stderr);
        assert!(!stage.at("image.sqfs").exists(), "{source}");
    };
    demand("oci:layout:other", "has no image `other`; it has `app`");
    demand("oci:none", "cannot open `none/index.json`");
    demand(
        "docker-archive:saved.tar:b",
        "has no image `b`; it has `app:1`",
    );
    demand("oci:layout@sha256:1", "is not a reference");
    demand(
        "docker://localhost/X",
        "`docker://localhost/X` is not a reference",
    );
    let ran = stage.run([
        "build",
        "oci:layout",
        "image.sqfs",
        "--platform",
        "linux/arm64",
    ]);
    assert!(
        ran.stderr
            .contains("no image for linux/arm64; it has linux/amd64"),
        "{}",
        ran.stderr
    );
    let blob = stage.at("layout/blobs/sha256").join(digests[1].hex());
    let mut bytes = fs::read(&blob).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&blob, bytes).unwrap();
    demand("oci:layout", &format!("layer 2 of 2 ({})`", digests[1]));
}

/// Serves the layout `layout` as the repository `app` until the process ends; returns the host.
pub(crate) fn serve(stage: &Stage) -> String {
    let layout = stage.at("layout");
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let host = listener.local_addr().unwrap().to_string();
    thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let layout = layout.clone();
            thread::spawn(move || while answer(&stream, &layout) {});
        }
    });
    host
}

/// Answers a request; false if the connection is over.
fn answer(mut stream: &TcpStream, layout: &Path) -> bool {
    let mut path = String::new();
    for line in BufReader::new(stream).lines().map_while(Result::ok) {
        if path.is_empty() {
            let word = line.split(' ').nth(1).unwrap_or_default();
            word.clone_into(&mut path);
        } else if line.is_empty() {
            break;
        }
    }
    let file = match path.rsplit_once("/app/") {
        Some((_, "manifests/1")) => layout.join("index.json"),
        Some((_, name)) => layout.join(name.replace("manifests/", "blobs/").replace(':', "/")),
        None => return false,
    };
    let content = fs::read(file);
    let status = if content.is_ok() {
        "200 OK"
    } else {
        "404 Not Found"
    };
    let content = content.unwrap_or_default();
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Length: {}\r\n\r\n",
        content.len()
    );
    stream
        .write_all(&[head.as_bytes(), &content].concat())
        .is_ok()
}

#[test]
fn an_image_of_a_registry_is_pulled_once() {
    let stage = Stage::new();
    let layers = image(&stage);
    stage.done(["-q", "build", "oci:layout", "first.sqfs"]);
    let source = format!("docker://{}/app:1", serve(&stage));
    let run = |words: &[&str]| {
        let mut command = command();
        command.args(words).current_dir(stage.directory());
        command
            .env("XDG_CACHE_HOME", stage.at("cache"))
            .env("NO_PROXY", "127.0.0.1");
        Ran::of(command.output().unwrap())
    };
    for _ in 0..2 {
        let ran = run(&["-q", "build", &source, "image.sqfs"]);
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        let is_same =
            fs::read(stage.at("image.sqfs")).unwrap() == fs::read(stage.at("first.sqfs")).unwrap();
        assert!(is_same);
    }
    assert_eq!(run(&["cat", &source, "/etc/a"]).text(), "22");
    // What an older image has is not read from layers whose names are known.
    let blobs = stage.at("cache/coldpress/containers/blobs/sha256");
    let kept: Vec<_> = layers.iter().map(|layer| blobs.join(layer.hex())).collect();
    let contents: Vec<_> = kept.iter().map(|path| fs::read(path).unwrap()).collect();
    for (path, content) in kept.iter().zip(&contents) {
        fs::write(path, vec![0; content.len()]).unwrap();
    }
    let reuse = ["-q", "build", &source, "again.sqfs", "--reuse"];
    let ran = run(&[&reuse[..], &["image.sqfs"]].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let is_same =
        fs::read(stage.at("again.sqfs")).unwrap() == fs::read(stage.at("first.sqfs")).unwrap();
    assert!(is_same);
    // Where they are read, they are compared with their digests.
    fs::create_dir(stage.at("empty")).unwrap();
    run(&["-q", "build", "empty", "empty.sqfs"]);
    for words in [&[&reuse[..], &["empty.sqfs"]].concat()[..], &reuse[..4]] {
        let ran = run(words);
        assert_eq!(ran.code, Some(2), "{words:?}");
        assert!(ran.stderr.contains("fetch it again"), "{}", ran.stderr);
    }
    for (path, content) in kept.iter().zip(&contents) {
        fs::write(path, content).unwrap();
    }
    let listed = run(&["cache", "ls", "--json"]).json();
    // An index, a manifest, a configuration, two layers.
    assert_eq!(listed.as_array().unwrap().len(), 5);
    assert!(run(&["cache", "prune"]).stderr.contains("in 5 parts"));
    assert_eq!(run(&["cache", "ls"]).text(), "");
    let missing = run(&["build", &source.replace("app:1", "app:2"), "none.sqfs"]);
    assert_eq!(missing.code, Some(2));
    assert!(
        missing.stderr.contains("the registry has no such image"),
        "{}",
        missing.stderr
    );
}

#[test]
fn layers_of_umoci_merge_as_umoci_unpacks_them() {
    if without_root() || without_peer("umoci") {
        return;
    }
    let stage = Stage::new();
    let umoci = |args: &[&str]| {
        program(
            Command::new("umoci")
                .args(args)
                .current_dir(stage.directory()),
        )
    };
    umoci(&["init", "--layout", "made"]);
    umoci(&["new", "--image", "made:app"]);
    for (tag, script) in [
        (
            "one",
            "mkdir -p a/b c/d; echo 1 > a/b/f; ln a/b/f c/hard; ln -s ../c a/link; echo 1 > c/d/g; \
                 chown 5:6 a/b/f; chmod 4755 a/b/f; mkfifo pipe; mknod null c 1 3",
        ),
        (
            "two",
            "rm -r a/b; echo file > a/b; rm c/hard; mkdir c/hard; echo 2 > c/hard/in; rm pipe",
        ),
        (
            "three",
            "rm -r c; mkdir c; echo 3 > c/only; chmod 700 c; ln a/b another; rm null",
        ),
    ] {
        let bundle = format!("bundle-{tag}");
        umoci(&["unpack", "--image", "made:app", &bundle]);
        let root = stage.at(&bundle).join("rootfs");
        program(Command::new("sh").args(["-ec", script]).current_dir(root));
        umoci(&["repack", "--image", "made:app", &bundle]);
    }
    umoci(&["unpack", "--image", "made:app", "last"]);
    stage.done(["-q", "build", "oci:made:app", "image.sqfs"]);
    let same = stage.run(["diff", "image.sqfs", "last/rootfs"]);
    assert_eq!(same.code, Some(0), "{}{}", same.text(), same.stderr);
}
