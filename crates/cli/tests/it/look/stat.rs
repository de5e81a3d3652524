//! `coldpress stat`: the bytes that it names are looked at.

use std::fs;
use std::process::Command;

use super::{stage, with};
use crate::run::program;
use crate::skip;

#[test]
fn stat_tells_where_the_bytes_lie() {
    let stage = stage();
    stage.done(["-q", "build", "s", "plain", "-c", "none"]);
    let image = fs::read(stage.at("plain")).unwrap();
    let stat = |path: &str| {
        stage
            .done(["stat", "--json", "--blocks", "plain", path])
            .json()[0]
            .clone()
    };
    let bytes = |place: &serde_json::Value| {
        let number = |key: &str| usize::try_from(place[key].as_u64().unwrap()).unwrap();
        &image[number("start")..number("start") + number("size_bytes")]
    };
    let tool = stat("/usr/bin/tool");
    let content = fs::read(stage.at("s/usr/bin/tool")).unwrap();
    let data = &tool["data"];
    assert_eq!(bytes(&data["extent"]), content);
    assert_eq!(
        (&data["block_count"], &data["stored_count"]),
        (&3.into(), &3.into())
    );
    for block in data["blocks"].as_array().unwrap() {
        let offset = usize::try_from(block["offset"].as_u64().unwrap()).unwrap();
        assert!(content[offset..].starts_with(bytes(block)), "{block}");
    }
    assert_eq!(
        (&tool["links"], &tool["form"]),
        (&2.into(), &"extended".into())
    );
    // The type of an extended file, little-endian.
    assert!(bytes(&tool["inode_place"]).starts_with(&[9, 0]));
    let odd = stage
        .done(["find", "plain", "--name", "new*", "--json"])
        .json()[0]
        .clone();
    assert_eq!(odd["size"], 3);
    let sparse = stat("/sparse");
    assert_eq!(sparse["data"]["sparse_count"], 3);
    assert!(sparse["data"]["blocks"][0]["kind"] == "sparse");
    let usr = stat("/usr");
    assert_eq!(bytes(&usr["listing"]["place"]).last_chunk(), Some(b"bin"));
    assert_eq!(usr["listing"]["entries"], 1);
    assert_eq!(stat("/void")["listing"]["place"], serde_json::Value::Null);
    assert_eq!(stat("/usr/bin/link")["target"], "tool");
    assert_eq!(stat("/empty")["data"]["extent"], serde_json::Value::Null);
}

#[test]
fn stat_finds_the_tail_end_in_its_fragment_block() {
    let stage = stage();
    stage.done(["-q", "build", "s", "plain", "-c", "none", "--tails", "all"]);
    let image = fs::read(stage.at("plain")).unwrap();
    let facts = stage
        .done(["stat", "--json", "plain", "/usr/bin/tool"])
        .json()[0]
        .clone();
    let tail = &facts["data"]["tail"];
    let number = |value: &serde_json::Value| usize::try_from(value.as_u64().unwrap()).unwrap();
    let start = number(&tail["block"]["start"]) + number(&tail["offset"]);
    let content = fs::read(stage.at("s/usr/bin/tool")).unwrap();
    assert_eq!(
        &image[start..start + number(&tail["len_bytes"])],
        &content[262_144..]
    );
    assert_eq!(tail["block_is_compressed"], false);
}

#[test]
fn stat_prints_lines_and_goes_on_behind_what_is_missing() {
    let stage = stage();
    let ran = with(
        &stage,
        "stat",
        &["/usr/bin/tool", "/none", "bin", "--blocks"],
    );
    assert_eq!(ran.code, Some(1));
    assert_eq!(
        ran.stderr,
        "error: cannot look at `/none`: the image has no such file\n"
    );
    let text = ran.text();
    for line in [
        "path               /usr/bin/tool\n",
        "mode               4755 -rwsr-xr-x\n",
        "size               300000 bytes\n",
        "  xattr            user.x = a b\n",
        "data blocks        3: 0 compressed, 3 stored, 0 sparse\n",
        "\nfile byte         image byte      size    length  block\n0      ",
        "    37856     37856  stored\n",
        "\n\npath               /bin\n",
        "target             usr/bin\n",
    ] {
        assert!(text.contains(line), "{line}: {text}");
    }
    let ran = with(&stage, "stat", &["--follow", "/bin"]);
    assert!(
        ran.text().starts_with("path               /usr/bin\n"),
        "{ran:?}"
    );
    assert_eq!(with(&stage, "stat", &["--json", "/none"]).text(), "[]\n");
}

#[test]
fn stat_agrees_with_rdsquashfs() {
    if skip::without_peer("rdsquashfs") {
        return;
    }
    let stage = stage();
    let stat = with(&stage, "stat", &["--json", "/usr/bin/tool"]).json()[0].clone();
    let mut theirs = Command::new("rdsquashfs");
    let text = program(
        theirs
            .args(["-s", "/usr/bin/tool", "image"])
            .current_dir(stage.directory()),
    )
    .text();
    for (name, value) in [
        ("Inode type:", "extended file".to_owned()),
        ("Inode number:", stat["inode"].to_string()),
        ("Blocks start:", stat["data"]["extent"]["start"].to_string()),
        ("Block count:", stat["data"]["block_count"].to_string()),
    ] {
        let line = text.lines().find(|line| line.starts_with(name));
        assert!(
            line.is_some_and(|line| line.ends_with(&value)),
            "{name} {value}: {text}"
        );
    }
}
