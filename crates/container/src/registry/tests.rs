mod pushing;
mod server;

use std::collections::HashMap;
use std::fs;
use std::io::Write as _;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::AtomicUsize;
use std::thread;
use std::time::{Duration, SystemTime};

use coldpress_writer::Digest;
use flate2::write::GzEncoder;

use self::server::Served;
use super::*;
use crate::reference::Reference;

/// An image with two layers, one of which is large.
fn parts() -> HashMap<String, Vec<u8>> {
    parts_of(&[vec![7_u8; 300_000], b"small".to_vec()])
}

/// An image with these layers.
fn parts_of(layers: &[Vec<u8>]) -> HashMap<String, Vec<u8>> {
    let mut parts = HashMap::new();
    let mut put = |kind: &str, media_type: &str, bytes: &[u8]| {
        let digest = Digest::sha256_of(bytes);
        parts.insert(format!("{kind}/{digest}"), bytes.to_vec());
        let size = bytes.len();
        format!(r#"{{"mediaType":"{media_type}","digest":"{digest}","size":{size}}}"#)
    };
    let ids: Vec<String> = layers
        .iter()
        .map(|layer| format!("\"{}\"", Digest::sha256_of(layer)))
        .collect();
    let config = format!(
        r#"{{"os":"linux","architecture":"amd64","rootfs":{{"diff_ids":[{}]}}}}"#,
        ids.join(",")
    );
    let config = put(
        "blobs",
        "application/vnd.oci.image.config.v1+json",
        config.as_bytes(),
    );
    let tar = "application/vnd.oci.image.layer.v1.tar";
    let layers: Vec<String> = layers
        .iter()
        .map(|layer| put("blobs", tar, layer))
        .collect();
    let layers = layers.join(",");
    let manifest = format!(r#"{{"config":{config},"layers":[{layers}]}}"#);
    let manifest_type = "application/vnd.oci.image.manifest.v1+json";
    let manifest = put("manifests", manifest_type, manifest.as_bytes());
    let index = format!(r#"{{"manifests":[{manifest}]}}"#);
    put("manifests", "x", index.as_bytes());
    parts.insert("manifests/1".to_owned(), index.into_bytes());
    parts
}

fn means(cache: &Path) -> RegistryMeans {
    RegistryMeans {
        credentials: CredentialFiles::default(),
        plain_http: false,
        cache: cache.to_path_buf(),
        proxy_from_environment: false,
    }
}

fn pull_with(address: &str, means: &RegistryMeans) -> Result<ContainerImage, Error> {
    let text = format!("docker://{address}/app:1");
    let Some(Ok(Reference::Registry(reference))) = Reference::parse(&text) else {
        panic!("{text}");
    };
    pull(&reference, &Wanted::default(), means, &|_| {
        ControlFlow::Continue(())
    })
}

fn demand_whole(image: &ContainerImage) {
    assert_eq!(image.layers.len(), 2);
    for layer in &image.layers {
        // Another pull that finds it changes its time, which is no change of the image.
        assert!(layer.blob.file.is_none());
        let size = usize::try_from(layer.size_bytes).unwrap();
        let mut bytes = vec![0; size + 1];
        let mut len = 0;
        loop {
            match layer
                .blob
                .bytes
                .read_at(&mut bytes[len..], len as u64)
                .unwrap()
            {
                0 => break,
                read => len += read,
            }
        }
        assert_eq!(Some(Digest::sha256_of(&bytes[..len])), layer.digest);
    }
}

fn whole() -> Served {
    Served {
        parts: parts(),
        knows_ranges: true,
        ..Served::default()
    }
}

#[test]
fn an_image_is_pulled_once_and_then_found_in_the_cache() {
    let cache = tempfile::tempdir().unwrap();
    let (address, served) = whole().start();
    for requests in [5, 6] {
        demand_whole(&pull_with(&address, &means(cache.path())).unwrap());
        // Afterwards only what the tag means is asked for.
        assert_eq!(served.asked.lock().unwrap().len(), requests);
    }
    let listed = Cache::open(cache.path()).unwrap().list().unwrap();
    assert_eq!(listed.iter().filter(|blob| blob.is_whole).count(), 5);
    let kept = Cache::prune(cache.path(), SystemTime::now() - Duration::from_hours(1)).unwrap();
    assert!(kept.is_empty());
    let gone = Cache::prune(cache.path(), SystemTime::now() + Duration::from_hours(1)).unwrap();
    assert_eq!(gone.len(), 5);
    assert!(
        Cache::open(cache.path())
            .unwrap()
            .list()
            .unwrap()
            .is_empty()
    );
}

#[test]
fn a_layer_gets_its_index_when_it_is_pulled() {
    let tar = [0; 1024];
    let gzip = |bytes: &[u8]| {
        let mut encoder = GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    };
    let broken = gzip(&tar)[..20].to_vec();
    let layers = [gzip(&tar), broken, tar.to_vec()];
    let served = Served {
        parts: parts_of(&layers),
        knows_ranges: true,
        ..Served::default()
    };
    let (address, _) = served.start();
    let directory = tempfile::tempdir().unwrap();
    let image = pull_with(&address, &means(directory.path())).unwrap();
    let indexes = image.layers.iter().map(|layer| &layer.blob.index);
    let exist: Vec<bool> = indexes
        .map(|index| index.as_ref().unwrap().exists())
        .collect();
    // One that is damaged has none, nor one that is not compressed.
    assert_eq!(exist, [true, false, false]);
}

#[test]
fn what_breaks_off_goes_on_where_it_did() {
    for knows_ranges in [true, false] {
        let cache = tempfile::tempdir().unwrap();
        let cut_bytes = Some(if knows_ranges { 100_000 } else { 400_000 });
        let served = Served {
            cut_bytes,
            knows_ranges,
            ..whole()
        };
        let (address, served) = served.start();
        demand_whole(&pull_with(&address, &means(cache.path())).unwrap());
        let asked = served.asked.lock().unwrap();
        let ranges = asked
            .iter()
            .filter(|(_, range, _)| !range.is_empty())
            .count();
        assert_eq!(ranges > 0, knows_ranges);
    }
    // What an earlier run left is used too.
    let cache = tempfile::tempdir().unwrap();
    let large = Digest::sha256_of(&vec![7; 300_000]);
    let blobs = cache.path().join("blobs/sha256");
    fs::create_dir_all(&blobs).unwrap();
    fs::write(
        blobs.join(format!("{}.partial", large.hex())),
        vec![7; 250_000],
    )
    .unwrap();
    let (address, served) = whole().start();
    demand_whole(&pull_with(&address, &means(cache.path())).unwrap());
    let asked = served.asked.lock().unwrap();
    assert!(asked.iter().any(|(_, range, _)| range == "bytes=250000-"));
}

#[test]
fn tokens_are_renewed_in_the_middle_of_a_pull() {
    let cache = tempfile::tempdir().unwrap();
    let served = Served {
        token_uses: Some(1),
        cut_bytes: Some(70_000),
        ..whole()
    };
    let (address, served) = served.start();
    demand_whole(&pull_with(&address, &means(cache.path())).unwrap());
    let asked = served.asked.lock().unwrap();
    let tokens = asked.iter().filter(|(path, ..)| path.starts_with("/token"));
    assert!(tokens.clone().count() >= 5);
    assert!(
        tokens
            .clone()
            .all(|(path, ..)| path.contains("service=s") && path.contains("app"))
    );
}

#[test]
fn a_registry_that_is_busy_is_asked_again() {
    let cache = tempfile::tempdir().unwrap();
    let served = Served {
        busy: AtomicUsize::new(3),
        ..whole()
    };
    let (address, _) = served.start();
    demand_whole(&pull_with(&address, &means(cache.path())).unwrap());
}

#[test]
fn credentials_go_to_the_registry_and_to_nobody_else() {
    let cache = tempfile::tempdir().unwrap();
    let (other, others) = whole().start();
    let served = Served {
        wants_password: true,
        blobs_at: Some(other),
        ..whole()
    };
    let (address, served) = served.start();
    let error = pull_with(&address, &means(cache.path()))
        .unwrap_err()
        .to_string();
    assert!(error.contains("wants a user and a password"), "{error}");
    let auth = cache.path().join("auth.json");
    fs::write(
        &auth,
        format!(r#"{{"auths":{{"{address}":{{"auth":"dTpw"}}}}}}"#),
    )
    .unwrap();
    let mut means = means(cache.path());
    means.credentials.auth_files = vec![auth];
    demand_whole(&pull_with(&address, &means).unwrap());
    assert!(
        served
            .asked
            .lock()
            .unwrap()
            .iter()
            .any(|(.., sent)| sent == "Basic dTpw")
    );
    let asked = others.asked.lock().unwrap();
    assert!(asked.len() >= 3 && asked.iter().all(|(.., sent)| sent.is_empty()));
}

#[test]
fn a_blob_that_is_another_is_never_kept() {
    let cache = tempfile::tempdir().unwrap();
    let mut served = whole();
    let large = format!("blobs/{}", Digest::sha256_of(&vec![7; 300_000]));
    served.parts.get_mut(&large).unwrap()[150_000] = 8;
    let (address, _) = served.start();
    let error = pull_with(&address, &means(cache.path())).unwrap_err();
    assert!(matches!(error, Error::Digest { .. }), "{error}");
    let cache = Cache::open(cache.path()).unwrap();
    for blob in &cache.list().unwrap() {
        let path = format!("blobs/{}", blob.digest);
        assert_ne!(path, large);
    }
}

#[test]
fn two_pulls_at_once_share_what_comes() {
    let cache = tempfile::tempdir().unwrap();
    let (address, served) = whole().start();
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| demand_whole(&pull_with(&address, &means(cache.path())).unwrap()));
        }
    });
    let large = format!("/v2/app/blobs/{}", Digest::sha256_of(&vec![7; 300_000]));
    let asked = served.asked.lock().unwrap();
    assert_eq!(asked.iter().filter(|(path, ..)| *path == large).count(), 1);
}

#[test]
fn a_pull_that_is_stopped_leaves_what_it_has() {
    let cache = tempfile::tempdir().unwrap();
    let (address, _) = whole().start();
    let text = format!("docker://{address}/app:1");
    let Some(Ok(Reference::Registry(reference))) = Reference::parse(&text) else {
        panic!()
    };
    let stop = |fetched: Fetched| match fetched.done_bytes {
        0 => ControlFlow::Continue(()),
        _ => ControlFlow::Break(()),
    };
    let stopped = pull(&reference, &Wanted::default(), &means(cache.path()), &stop);
    let is_interrupted = matches!(
        stopped,
        Err(Error::Archive(coldpress_writer::Error::Interrupted))
    );
    assert!(is_interrupted);
    demand_whole(&pull_with(&address, &means(cache.path())).unwrap());
}
