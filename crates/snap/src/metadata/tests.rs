use super::*;

const WHOLE: &str = "\
name: hello-world
version: '1.0'
type: app
base: core22
environment:
  LANG: C
apps:
  hello-world:
    command: bin/hello --greeting  Hello
    command-chain: [bin/one, bin/two]
    environment: {A: $SNAP/a}
    plugs: [network]
  served:
    command: bin/served
    daemon: simple
    stop-command: bin/stop now
  bare:
";

#[test]
fn everything_of_a_snap_that_concerns_its_image_is_read() {
    let found = Metadata::parse(WHOLE.as_bytes()).unwrap();
    let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    assert_eq!(
        (found.name.as_str(), found.version.as_str(), found.kind),
        ("hello-world", "1.0", Kind::App)
    );
    assert_eq!(found.base.as_deref(), Some("core22"));
    assert_eq!(found.environment, [pair("LANG", "C")]);
    let (name, app) = found.app("hello-world.hello-world").unwrap();
    assert_eq!(name, "hello-world");
    assert_eq!(found.app("hello-world"), Some((name, app)));
    assert_eq!(app.command_chain, ["bin/one", "bin/two"]);
    assert_eq!(app.environment, [pair("A", "$SNAP/a")]);
    assert_eq!(app.programs().collect::<Vec<_>>(), ["bin/hello"]);
    let served: Vec<_> = found.apps["served"].programs().collect();
    assert_eq!(served, ["bin/served", "bin/stop"]);
    assert_eq!(found.apps["bare"].programs().count(), 0);
    assert_eq!(found.app("other"), None);
}

#[test]
fn each_type_has_its_name() {
    for (name, kind) in Kind::NAMES {
        let text = format!("name: ab\nversion: 1\ntype: {name}\n");
        let found = Metadata::parse(text.as_bytes()).unwrap().kind;
        assert_eq!(found, kind);
        assert!(Kind::NAMES.contains(&(kind.name(), kind)));
    }
}

#[test]
fn what_snapd_refuses_is_refused_with_its_line() {
    let long = "x: y\n".repeat(300_000);
    for (text, expected) in [
        ("version: 1", "meta/snap.yaml has no `name`"),
        ("name: ab", "meta/snap.yaml has no `version`"),
        ("name: [a]\nversion: 1", "line 1: `name` is `a`"),
        ("name: ab\nversion: 1\nname: A b", "line 3: `name` is `A b`"),
        ("name: a--b", "line 1: `name` is `a--b`"),
        ("name: '12'", "line 1: `name` is `12`"),
        ("version: 1\ntype: other", "line 2: `type` is `other`"),
        (
            "apps: {a: {command: \"a\\0b\"}}",
            "line 1: `command` is `a\\0b`",
        ),
        ("environment:\n  A=B: 1", "line 2: `environment` is `1`"),
        ("a: *b", "line 1:"),
        (&long, "has 1500000 bytes, more than 1048576 are not read"),
    ] {
        let error = Metadata::parse(text.as_bytes()).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
    let error = Metadata::parse(b"name: \xff").unwrap_err();
    assert_eq!(error, Error::Text { start: 6 });
}
