//! Images on their way to a registry.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::*;
use crate::artifact::{Artifact, ArtifactForm, ArtifactSettings};
use crate::config::RunConfig;
use crate::platform::Platform;

const IMAGE: &[u8] = &[9; 200_000];

fn artifact(directory: &Path, form: ArtifactForm) -> Artifact {
    let path = directory.join("app.sqfs");
    fs::write(&path, IMAGE).unwrap();
    let settings = ArtifactSettings {
        form,
        file_name: "app.sqfs".to_owned(),
        compressor: "zstd".to_owned(),
        platform: "linux/arm64".parse::<Platform>().unwrap(),
        config: RunConfig {
            entrypoint: vec!["/bin/app".to_owned()],
            ..RunConfig::default()
        },
        annotations: BTreeMap::from([("a".to_owned(), "b".to_owned())]),
    };
    Artifact::new(&path, &settings, &mut |_| ControlFlow::Continue(())).unwrap()
}

/// Pushes to what `served` serves.
fn push_to(
    served: Served,
    form: ArtifactForm,
    go_on: ControlFlow<()>,
) -> (Result<Pushed, Error>, Arc<Served>) {
    let directory = tempfile::tempdir().unwrap();
    let artifact = artifact(directory.path(), form);
    let (address, served) = served.start();
    let text = format!("docker://{address}/app:1");
    let Some(Ok(Reference::Registry(reference))) = Reference::parse(&text) else {
        panic!("{text}");
    };
    let means = means(directory.path());
    (push(&reference, &artifact, &means, &|_| go_on), served)
}

#[test]
fn parts_that_are_missing_are_sent_before_the_manifest() {
    for form in [ArtifactForm::SquashFs, ArtifactForm::Stacker] {
        let (pushed, served) = push_to(Served::default(), form, ControlFlow::Continue(()));
        let pushed = pushed.unwrap();
        assert_eq!(pushed.sent_bytes, IMAGE.len() as u64);
        let taken = served.taken.lock().unwrap();
        assert_eq!(taken[&format!("blobs/{}", Digest::sha256_of(IMAGE))], IMAGE);
        let manifest = &taken["manifests/1"];
        assert_eq!(Digest::sha256_of(manifest), pushed.digest);
        let manifest: serde_json::Value = serde_json::from_slice(manifest).unwrap();
        let config = manifest["config"]["digest"].as_str().unwrap();
        let config = String::from_utf8(taken[&format!("blobs/{config}")].clone()).unwrap();
        let (layer_type, expected) = match form {
            ArtifactForm::SquashFs => ("application/x-squashfs", "{}".to_owned()),
            ArtifactForm::Stacker => (
                "application/vnd.stacker.image.layer.squashfs+zstd",
                format!(
                    r#"{{"os":"linux","architecture":"arm64","config":{{"Entrypoint":["/bin/app"]}},"rootfs":{{"type":"layers","diff_ids":["{}"]}}}}"#,
                    Digest::sha256_of(IMAGE)
                ),
            ),
        };
        assert_eq!(config, expected);
        assert_eq!(manifest["layers"][0]["mediaType"], layer_type);
        assert_eq!(manifest["annotations"]["a"], "b");
        let asked = served.asked.lock().unwrap();
        assert_eq!(asked.last().unwrap().0, "/v2/app/manifests/1");
    }
}

#[test]
fn what_the_registry_has_is_not_sent() {
    let name = format!("blobs/{}", Digest::sha256_of(IMAGE));
    let served = Served {
        parts: HashMap::from([(name.clone(), IMAGE.to_vec())]),
        ..Served::default()
    };
    let (pushed, served) = push_to(served, ArtifactForm::SquashFs, ControlFlow::Continue(()));
    assert_eq!(pushed.unwrap().sent_bytes, 0);
    assert!(!served.taken.lock().unwrap().contains_key(&name));
}

#[test]
fn a_part_whose_connection_ends_is_sent_again() {
    let served = Served {
        cut_payloads: AtomicUsize::new(2),
        token_uses: Some(3),
        ..Served::default()
    };
    let (pushed, served) = push_to(served, ArtifactForm::SquashFs, ControlFlow::Continue(()));
    pushed.unwrap();
    let taken = served.taken.lock().unwrap();
    assert_eq!(taken[&format!("blobs/{}", Digest::sha256_of(IMAGE))], IMAGE);
    assert!(taken.contains_key("manifests/1"));
}

#[test]
fn a_push_that_is_stopped_ends_at_once_and_leaves_no_manifest() {
    let stop = ControlFlow::Break(());
    let (pushed, served) = push_to(Served::default(), ArtifactForm::SquashFs, stop);
    assert!(matches!(
        pushed,
        Err(Error::Archive(coldpress_writer::Error::Interrupted))
    ));
    assert!(served.taken.lock().unwrap().is_empty());
}
