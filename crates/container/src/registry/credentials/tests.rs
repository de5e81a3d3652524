use super::*;
use crate::reference::Reference;

fn reference(text: &str) -> RegistryReference {
    match Reference::parse(text) {
        Some(Ok(Reference::Registry(reference))) => reference,
        other => panic!("{other:?}"),
    }
}

fn password(text: &str) -> Credentials {
    let (user, password) = text.split_once(':').unwrap();
    Credentials::Password {
        user: user.to_owned(),
        password: password.to_owned(),
    }
}

#[test]
fn the_longest_key_of_an_auth_file_counts() {
    let auth = |text: &str| format!(r#"{{"auth":"{}"}}"#, BASE64.encode(text));
    let text = format!(
        r#"{{"auths":{{"q.io":{},"q.io/a/b":{},"https://index.docker.io/v1/":{},
            "t.io":{{"auth":"","identitytoken":"x"}}}},"credHelpers":null}}"#,
        auth("u:host"),
        auth("u:exact:1"),
        auth("u:hub")
    );
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("auth.json");
    fs::write(&path, text).unwrap();
    let files = CredentialFiles {
        auth_files: vec![directory.path().join("none"), path],
        ..CredentialFiles::default()
    };
    for (name, found) in [
        ("docker://q.io/a/b/c", Some(password("u:exact:1"))),
        ("docker://q.io/a/x", Some(password("u:host"))),
        ("docker://alpine", Some(password("u:hub"))),
        (
            "docker://t.io/a",
            Some(Credentials::IdentityToken("x".to_owned())),
        ),
        ("docker://z.io/a", None),
    ] {
        assert!(find(&files, &reference(name)).unwrap() == found, "{name}");
    }
    let required = CredentialFiles {
        is_first_required: true,
        ..files
    };
    assert!(find(&required, &reference("docker://q.io/a")).is_err());
}

#[test]
fn credentials_of_enroot_are_read() {
    let text = "# machine q.io login no password no\nmachine nvcr.io login $oauthtoken\n\
                password key\nmachine auth.docker.io login me password p\n\
                machine q.io login a password 1\nmachine q.io login b password 2\n";
    for (name, found) in [
        ("docker://nvcr.io#a/b", Some(password("$oauthtoken:key"))),
        ("docker://alpine", Some(password("me:p"))),
        ("docker://b@q.io#x", Some(password("b:2"))),
        ("docker://q.io/x", Some(password("a:1"))),
        ("docker://z.io/x", None),
    ] {
        assert!(in_netrc(text, &reference(name)) == found, "{name}");
    }
}

#[test]
fn what_is_encoded_is_decoded() {
    for (bytes, text) in [
        (&b""[..], ""),
        (b"f", "Zg=="),
        (b"fo", "Zm8="),
        (b"foo", "Zm9v"),
        (b"user:pa\xffs", "dXNlcjpwYf9z"),
    ] {
        assert_eq!(BASE64.encode(bytes), text);
        assert_eq!(decoded(text).as_deref(), Some(bytes));
    }
    assert_eq!(decoded("Zm8").as_deref(), Some(&b"fo"[..]));
    assert_eq!((decoded("Z"), decoded("Z-==")), (None, None));
}

#[test]
fn credentials_are_not_shown() {
    let text = format!("{:?}", password("user:secret"));
    assert!(!text.contains("secret") && !text.contains("user"));
}
