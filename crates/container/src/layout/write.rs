//! Adding an image to an OCI layout.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Seek as _, Write};
use std::path::{Path, PathBuf};

use coldpress_writer::Digest;
use rustix::fs::{FlockOperation, flock};
use serde_json::{Value, json};

use crate::artifact::Artifact;
use crate::document::DOCUMENT_MAX_BYTES;
use crate::error::Error;
use crate::media_type::{INDEXES, MANIFEST};
use crate::reference::Place;

/// The annotation that names an image of a layout.
const NAME: &str = "org.opencontainers.image.ref.name";
const NAME_POINTER: &str = "/annotations/org.opencontainers.image.ref.name";
/// The file that is written before it gets its name. Whoever writes has the lock of the layout, so
/// one name is enough, and what a kill leaves is overwritten.
const BESIDE: &str = ".coldpress-new";
const LAYOUT: &[u8] = br#"{"imageLayoutVersion":"1.0.0"}"#;

/// Adds an image to a layout, which is made if there is none. Another image of the same name leaves
/// the index, as with skopeo; its blobs stay.
///
/// The layout is as it was or has the whole image at every moment: blobs come first, the index
/// last, each beside its place, synced and renamed. Others who add at the same time wait.
///
/// # Errors
///
/// [`Error::File`] if something cannot be written, [`Error::Json`] and [`Error::Rule`] if the
/// directory has an `index.json` that is none.
///
/// # Cost
///
/// A copy of the image, which is none where the file system shares blocks.
pub fn push_to_layout(artifact: &Artifact, place: &Place) -> Result<(), Error> {
    let directory = &place.path;
    let (blobs, _lock) = locked(directory)?;
    put_artifact(artifact, directory, &blobs)?;
    let index = index(descriptor(&artifact.manifest, MANIFEST), place)?;
    finish(directory, &index)
}

/// Adds several images to a layout under one name, as an image index with annotations.
///
/// * `images`: each with the annotations of its descriptor in the index.
/// * `annotations`: of the index.
///
/// # Errors
///
/// As [`push_to_layout`]; [`Error::Rule`] if the index is larger than registries take.
///
/// # Cost
///
/// As [`push_to_layout`] for each image.
pub fn push_index_to_layout(
    images: &[(Artifact, BTreeMap<String, String>)],
    annotations: &BTreeMap<String, String>,
    place: &Place,
) -> Result<(), Error> {
    let directory = &place.path;
    let manifests = images.iter().map(|(artifact, annotations)| {
        let mut manifest = descriptor(&artifact.manifest, MANIFEST);
        manifest["annotations"] = json!(annotations);
        manifest
    });
    let document = json!({
        "schemaVersion": 2,
        "mediaType": INDEXES[0],
        "manifests": manifests.collect::<Vec<Value>>(),
        "annotations": annotations,
    })
    .to_string();
    if document.len() as u64 > DOCUMENT_MAX_BYTES {
        return Err(Error::Rule {
            image: directory.display().to_string(),
            what: "the image index".to_owned(),
            rule: format!(
                "would take {} bytes, and registries take 4 MiB",
                document.len()
            ),
        });
    }
    let (blobs, _lock) = locked(directory)?;
    for (artifact, _) in images {
        put_artifact(artifact, directory, &blobs)?;
    }
    let path = blobs.join(Digest::sha256_of(document.as_bytes()).hex());
    put(directory, &path, |target| {
        target.write_all(document.as_bytes())
    })?;
    finish(
        directory,
        &index(descriptor(document.as_bytes(), INDEXES[0]), place)?,
    )
}

/// The directory of blobs, which is made if there is none, and the lock of the layout.
fn locked(directory: &Path) -> Result<(PathBuf, File), Error> {
    let blobs = directory.join("blobs/sha256");
    fs::create_dir_all(&blobs).map_err(failed("make", &blobs))?;
    let lock = File::open(directory).map_err(failed("open", directory))?;
    flock(&lock, FlockOperation::LockExclusive)
        .map_err(|error| failed("lock", directory)(error.into()))?;
    Ok((blobs, lock))
}

/// The blobs of an image.
fn put_artifact(artifact: &Artifact, directory: &Path, blobs: &Path) -> Result<(), Error> {
    let layer = blobs.join(artifact.layer.digest.hex());
    put(directory, &layer, |target| {
        (&artifact.file).rewind()?;
        io::copy(&mut &artifact.file, target).map(drop)
    })?;
    for document in [&artifact.config, &artifact.manifest] {
        let path = blobs.join(Digest::sha256_of(document).hex());
        put(directory, &path, |target| target.write_all(document))?;
    }
    Ok(())
}

/// A document as an index names it.
fn descriptor(document: &[u8], media_type: &str) -> Value {
    json!({
        "mediaType": media_type,
        "digest": Digest::sha256_of(document).to_string(),
        "size": document.len(),
    })
}

/// The index of the layout, which comes last.
fn finish(directory: &Path, index: &Value) -> Result<(), Error> {
    put(directory, &directory.join("oci-layout"), |target| {
        target.write_all(LAYOUT)
    })?;
    replace(directory, &directory.join("index.json"), |target| {
        target.write_all(index.to_string().as_bytes())
    })
}

/// The index of the layout with an image in it. What else it states stays.
fn index(mut added: Value, place: &Place) -> Result<Value, Error> {
    let path = place.path.join("index.json");
    let name = place.path.display().to_string();
    let rule = |rule: &str| Error::Rule {
        image: name.clone(),
        what: "`index.json`".to_owned(),
        rule: rule.to_owned(),
    };
    let mut index = match fs::metadata(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            json!({"schemaVersion": 2, "manifests": []})
        }
        metadata => {
            if metadata.map_err(failed("read", &path))?.len() > DOCUMENT_MAX_BYTES {
                return Err(rule("has more than the 4 MiB that are read of one"));
            }
            let bytes = fs::read(&path).map_err(failed("read", &path))?;
            crate::document::parse(&name, "`index.json`", &bytes)?
        }
    };
    if let Some(name) = &place.name {
        added["annotations"] = json!({ NAME: name });
    }
    let manifests = index
        .as_object_mut()
        .map(|index| index.entry("manifests").or_insert_with(|| json!([])));
    let Some(Value::Array(manifests)) = manifests else {
        return Err(rule("is no index: it has no list `manifests`"));
    };
    let name_of = |entry: &Value| entry.pointer(NAME_POINTER).cloned();
    let name = name_of(&added);
    manifests.retain(|other| match name_of(other) {
        None => other["digest"] != added["digest"],
        other => other != name,
    });
    manifests.push(added);
    Ok(index)
}

/// Writes a file that has one possible content, unless it is there.
fn put(
    layout: &Path,
    path: &Path,
    write: impl FnOnce(&mut File) -> io::Result<()>,
) -> Result<(), Error> {
    if path.exists() {
        return Ok(());
    }
    replace(layout, path, write)
}

/// Writes a file beside, and gives it its name when it is whole.
fn replace(
    layout: &Path,
    path: &Path,
    write: impl FnOnce(&mut File) -> io::Result<()>,
) -> Result<(), Error> {
    let beside = layout.join(BESIDE);
    let written = (|| {
        let mut file = File::create(&beside)?;
        write(&mut file)?;
        file.sync_all()?;
        fs::rename(&beside, path)?;
        File::open(path.parent().unwrap_or(layout))?.sync_all()
    })();
    written.map_err(|error| {
        let _ = fs::remove_file(&beside);
        failed("write", path)(error)
    })
}

fn failed<'a>(action: &'static str, path: &'a Path) -> impl FnOnce(io::Error) -> Error + 'a {
    move |error| Error::File {
        action,
        path: path.to_path_buf(),
        error,
    }
}
