//! `coldpress tree`.

use super::{stage, with};

#[test]
fn a_tree_is_drawn_with_branches_and_counted() {
    let stage = stage();
    let text = "\
/
├── bin -> usr/bin
├── empty
├── new\\x0aline\\xff
├── sparse
├── usr
│   └── bin
│       ├── link -> tool
│       ├── other
│       └── tool
└── void

3 directories, 7 files
";
    assert_eq!(with(&stage, "tree", &[]).text(), text);
    let rows = with(&stage, "find", &["--json", "/usr", "--max-depth", "1"]).json();
    let size = |row: usize| rows[row]["size"].as_u64().unwrap();
    let text = format!(
        "[{:>11}]  /usr\n└── [{:>11}]  bin\n\n1 directory, 0 files\n",
        size(0),
        size(1)
    );
    let ran = with(&stage, "tree", &["-L", "1", "-s", "usr"]);
    assert_eq!(ran.text(), text);
    assert_eq!(
        with(&stage, "tree", &["bin"]).text().lines().next(),
        Some("/usr/bin")
    );
    assert_eq!(
        with(&stage, "tree", &["/usr/bin/link"]).text(),
        "/usr/bin/link -> tool\n\n0 directories, 0 files\n"
    );
    assert_eq!(
        with(&stage, "tree", &["-L", "0"]).text(),
        "/\n\n0 directories, 0 files\n"
    );
    let ran = with(&stage, "tree", &["/none"]);
    assert_eq!(
        (ran.code, ran.stderr.as_str()),
        (
            Some(1),
            "error: cannot show `/none`: the image has no such file\n"
        )
    );
}

#[test]
fn a_tree_as_json_nests() {
    let stage = stage();
    let tree = with(&stage, "tree", &["--json"]).json();
    assert_eq!(
        (&tree["directories"], &tree["files"]),
        (&3.into(), &7.into())
    );
    let root = &tree["tree"];
    assert_eq!(
        (&root["name"], &root["type"]),
        (&"/".into(), &"directory".into())
    );
    let names = |node: &serde_json::Value| -> Vec<String> {
        let contents = node["contents"].as_array().unwrap().iter();
        contents
            .map(|node| node["name"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(
        names(root),
        ["bin", "empty", "new\nline\u{fffd}", "sparse", "usr", "void"]
    );
    assert_eq!(root["contents"][2]["name_bytes_hex"], "6e65770a6c696e65ff");
    assert_eq!(root["contents"][0]["target"], "usr/bin");
    let bin = &root["contents"][4]["contents"][0];
    assert_eq!(names(bin), ["link", "other", "tool"]);
    assert_eq!(
        (&bin["contents"][2]["size"], &bin["contents"][2]["mode"]),
        (&300_000.into(), &"4755".into())
    );
    assert!(names(&root["contents"][5]).is_empty());
    let single = with(&stage, "tree", &["--json", "/empty"]).json();
    assert_eq!(single["tree"]["name"], "/empty");
    assert_eq!(single["files"], 0);
}
