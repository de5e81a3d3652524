use std::os::unix::ffi::OsStrExt as _;

use super::*;

fn environment(name: &str) -> Option<OsString> {
    match name {
        "DISPLAY" => Some(":7".into()),
        "DBUS_SESSION_BUS_ADDRESS" => Some("unix:path=/run/bus".into()),
        _ => None,
    }
}

#[test]
fn conditions_are_read_and_written_alike() {
    for text in [
        "exit",
        "line=^ready$",
        "line=a=b",
        "port=8080",
        "socket={root}/run/a.sock",
        "file=/tmp/with blank",
        "window",
        "window=Calculator",
        "dbus=org.example.App",
        "dbus=system:org.example.App",
        "cmd=test -e {root}/x && true",
    ] {
        let ready = Ready::parse(OsStr::new(text), &environment).unwrap();
        assert_eq!(ready.text(), text);
    }
}

#[test]
fn what_is_wrong_is_named() {
    for (text, rule) in [
        ("", "begins with no known word"),
        ("Exit", "begins with no known word"),
        ("exit=0", "`exit` has no value"),
        ("line", "a value must follow"),
        ("line=", "nothing follows `=`"),
        ("line=(", "no regular expression: unclosed group"),
        ("port=0", "`0` is no port from 1 to 65535"),
        ("port=65536", "`65536` is no port"),
        ("port=http", "`http` is no port"),
        ("dbus=app", "`app` is no name of a message bus"),
        ("window=", "nothing follows `=`"),
        ("cmd", "a value must follow"),
    ] {
        let error = Ready::parse(OsStr::new(text), &environment).unwrap_err();
        assert!(error.to_string().contains(rule), "{text}: {error}");
    }
    let error = Ready::parse(OsStr::new("window"), &|_| None).unwrap_err();
    assert!(
        error.to_string().contains("DISPLAY names no X display"),
        "{error}"
    );
}

#[test]
fn paths_are_bytes() {
    let text = OsStr::from_bytes(b"file=/tmp/\xff\n");
    let Ready::File(path) = Ready::parse(text, &environment).unwrap() else {
        panic!("a file");
    };
    assert_eq!(path.as_bytes(), b"/tmp/\xff\n");
}
