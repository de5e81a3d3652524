use super::*;

const HEX: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

fn registry(text: &str) -> Option<RegistryReference> {
    match Reference::parse(text)? {
        Ok(Reference::Registry(reference)) => Some(reference),
        _ => None,
    }
}

#[test]
fn names_of_registries_are_read_as_by_docker_and_enroot() {
    for (text, read, host) in [
        (
            "docker://alpine",
            "docker://docker.io/library/alpine:latest",
            HUB_HOST,
        ),
        (
            "docker://alpine:3.20",
            "docker://docker.io/library/alpine:3.20",
            HUB_HOST,
        ),
        (
            "docker://me/app",
            "docker://docker.io/me/app:latest",
            HUB_HOST,
        ),
        (
            "docker://index.docker.io/a/b",
            "docker://docker.io/a/b:latest",
            HUB_HOST,
        ),
        (
            "docker://localhost/app",
            "docker://localhost/app:latest",
            "localhost",
        ),
        (
            "docker://localhost:5000/a/b:1",
            "docker://localhost:5000/a/b:1",
            "localhost:5000",
        ),
        (
            "docker://[::1]:5000/a",
            "docker://[::1]:5000/a:latest",
            "[::1]:5000",
        ),
        (
            "docker://nvcr.io/nvidia/cuda:12",
            "docker://nvcr.io/nvidia/cuda:12",
            "nvcr.io",
        ),
        (
            "docker://nvcr.io#nvidia/cuda:12",
            "docker://nvcr.io/nvidia/cuda:12",
            "nvcr.io",
        ),
        (
            "docker://$oauthtoken@nvcr.io#a/b",
            "docker://nvcr.io/a/b:latest",
            "nvcr.io",
        ),
        ("docker://host#app", "docker://host/app:latest", "host"),
        (
            "docker://quay.io/a/b__c--d.e",
            "docker://quay.io/a/b__c--d.e:latest",
            "quay.io",
        ),
    ] {
        let reference = registry(text).unwrap_or_else(|| panic!("{text}"));
        assert_eq!(reference.to_string(), read);
        assert_eq!(reference.host(), host);
    }
    let digest = format!("docker://me@q.io/a:1@sha256:{HEX}");
    let read = registry(&digest).unwrap();
    assert_eq!(read.user.as_deref(), Some("me"));
    assert_eq!(read.manifest_name(), format!("sha256:{HEX}"));
    assert_eq!(read.to_string(), format!("docker://q.io/a:1@sha256:{HEX}"));
    let read = registry(&format!("docker://alpine@sha256:{HEX}")).unwrap();
    assert_eq!(read.tag, None);
}

#[test]
fn places_have_a_path_a_name_and_a_digest() {
    let place = |path: &str, name: Option<&str>| Place {
        path: path.into(),
        name: name.map(str::to_owned),
        digest: None,
    };
    let parse = |text| Reference::parse(text).unwrap().unwrap();
    for (text, reference) in [
        ("oci:./layout", Reference::Layout(place("./layout", None))),
        (
            "oci:layout:tag",
            Reference::Layout(place("layout", Some("tag"))),
        ),
        (
            "oci:l:docker.io/a:1",
            Reference::Layout(place("l", Some("docker.io/a:1"))),
        ),
        (
            "oci-archive:a.tar:x",
            Reference::OciArchive(place("a.tar", Some("x"))),
        ),
        (
            "docker-archive:-",
            Reference::DockerArchive(place("-", None)),
        ),
        (
            "podman://app:1",
            Reference::Daemon(Daemon::Podman, "app:1".into()),
        ),
        (
            "dockerd://app",
            Reference::Daemon(Daemon::Docker, "app".into()),
        ),
    ] {
        assert_eq!(parse(text), reference, "{text}");
    }
    let with = format!("oci:layout@sha256:{HEX}");
    let Reference::Layout(read) = parse(&with) else {
        panic!()
    };
    assert_eq!(read.digest.unwrap().hex(), HEX);
    assert_eq!(read.path, PathBuf::from("layout"));
}

#[test]
fn what_names_nothing_is_refused_and_paths_are_none() {
    for text in [
        "docker://",
        "docker://Alpine",
        "docker://a//b",
        "docker://a/",
        "docker://-a",
        "docker://a:",
        "docker://a:.x",
        "docker://a:b c",
        "docker://a@sha256:12",
        "docker://#a",
        "docker://@q.io/a",
        "docker://q.io:99999/a",
        "docker://q.io:5000/",
        "docker://q.io?x/a",
        "oci:",
        "oci::tag",
        "oci:layout:",
        "oci:layout@sha256:xyz",
        "podman://",
        "podman://--help",
    ] {
        assert!(
            Reference::parse(text).is_some_and(|read| read.is_err()),
            "{text}"
        );
    }
    for text in [
        "alpine",
        "./oci:x",
        "/oci:x",
        "-",
        "",
        "http://host/image",
        "docker:x",
    ] {
        assert!(Reference::parse(text).is_none(), "{text}");
    }
}
