//! What a layer is by what its manifest calls it.

use coldpress_writer::LayerKind;

/// A tar archive, by the specifications of OCI and Docker, without the compression. Those that
/// may not be distributed are in some registries all the same.
const TAR: [&str; 4] = [
    "application/vnd.oci.image.layer.v1.tar",
    "application/vnd.oci.image.layer.nondistributable.v1.tar",
    "application/vnd.docker.image.rootfs.diff.tar",
    "application/vnd.docker.image.rootfs.foreign.diff.tar",
];
/// What stacker, `SingularityCE` and uenv call a layer that is an image.
const SQUASHFS: [&str; 3] = [
    STACKER_LAYER,
    "application/vnd.sylabs.image.layer.v1.squashfs",
    UENV_LAYER,
];
pub(crate) const STACKER_LAYER: &str = "application/vnd.stacker.image.layer.squashfs";
pub(crate) const UENV_LAYER: &str = "application/x-squashfs";

pub(crate) const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
pub(crate) const CONFIG: &str = "application/vnd.oci.image.config.v1+json";
/// The configuration of artifacts that have none (image specification 1.1, "Guidance for an empty
/// descriptor").
pub(crate) const EMPTY: &str = "application/vnd.oci.empty.v1+json";

/// Indexes of images.
pub(crate) const INDEXES: [&str; 2] = [
    "application/vnd.oci.image.index.v1+json",
    "application/vnd.docker.distribution.manifest.list.v2+json",
];
/// Indexes and manifests.
#[cfg(feature = "http")]
pub(crate) const MANIFESTS: [&str; 4] = [
    INDEXES[0],
    INDEXES[1],
    MANIFEST,
    "application/vnd.docker.distribution.manifest.v2+json",
];

/// Whether something is an index or a manifest, which registries keep apart from other blobs.
#[cfg(feature = "http")]
pub(crate) fn is_manifest(media_type: &str) -> bool {
    MANIFESTS.contains(&media_type)
}

/// What a layer is by its media type.
///
/// # Errors
///
/// What to say about one that cannot be a layer.
pub(crate) fn layer_kind(media_type: &str) -> Result<LayerKind, &'static str> {
    // `docker save` states none.
    if media_type.is_empty() {
        return Ok(LayerKind::Tar);
    }
    let (kind, rest) = match media_type.find(['+', ';']) {
        Some(at) => media_type.split_at(at),
        None => (media_type, ""),
    };
    if rest.contains("encrypted") {
        return Err(
            "is encrypted; decrypt the image first, as `skopeo copy --decryption-key` does",
        );
    }
    // Docker writes the compression with a dot.
    let kind = [".gzip", ".zstd"]
        .iter()
        .find_map(|suffix| kind.strip_suffix(suffix))
        .unwrap_or(kind);
    if TAR.contains(&kind) {
        Ok(LayerKind::Tar)
    } else if SQUASHFS.contains(&kind) {
        Ok(LayerKind::SquashFs)
    } else {
        Err("is of a media type that is no layer of files")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layers_are_known_by_their_media_types() {
        let oci = "application/vnd.oci.image.layer.v1.tar";
        let docker = "application/vnd.docker.image.rootfs.diff.tar";
        for (media_type, kind) in [
            (oci.to_owned(), Some(LayerKind::Tar)),
            (format!("{oci}+gzip"), Some(LayerKind::Tar)),
            (format!("{oci}+zstd"), Some(LayerKind::Tar)),
            (format!("{oci}+gzip+encrypted"), None),
            (format!("{docker}.gzip"), Some(LayerKind::Tar)),
            (docker.to_owned(), Some(LayerKind::Tar)),
            (String::new(), Some(LayerKind::Tar)),
            (
                "application/x-squashfs".to_owned(),
                Some(LayerKind::SquashFs),
            ),
            (
                "application/vnd.stacker.image.layer.squashfs+zstd+verity".to_owned(),
                Some(LayerKind::SquashFs),
            ),
            ("application/vnd.in-toto+json".to_owned(), None),
            ("text/plain".to_owned(), None),
        ] {
            assert_eq!(layer_kind(&media_type).ok(), kind, "{media_type}");
        }
        assert!(
            layer_kind(&format!("{oci}+encrypted"))
                .unwrap_err()
                .contains("encrypted")
        );
    }
}
