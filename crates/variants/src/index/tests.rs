use coldpress_cost::{AccessStep, Extent, Geometry};
use coldpress_format::{BlockSize, Compressor};
use coldpress_trace::Access;
use serde_json::{Value, json};

use super::*;

impl ImageEntry {
    /// One that is sound, of an image that no start asks for anything.
    pub(crate) fn example() -> Self {
        let geometry = Geometry {
            compressor: Compressor::Xz,
            block_size: BlockSize::DEFAULT,
            image_bytes: 4000,
            places: Vec::new(),
            names: std::collections::HashMap::new(),
            fragments: Vec::new(),
            metadata: vec![Extent {
                start_byte: 96,
                stored_bytes: 20,
                len_bytes: 30,
                is_stored: false,
            }],
            fragment_table: None,
            id_table: 0,
            hash_tree: None,
        };
        Self {
            file: "xz.sqfs".to_owned(),
            description: "xz 6, 128K".to_owned(),
            size_bytes: 4096,
            digest: Digest::sha256_of(b"").to_string(),
            demands: Demands {
                compressor: "xz".to_owned(),
                block_size_bytes: 128 << 10,
                used_bytes: 4000,
                xattrs: false,
                xz_filters: BTreeSet::from(["x86".to_owned()]),
                xz_checks: BTreeSet::from([1]),
                xz_dictionary_bytes: Some(8192),
                window_bytes: 8192,
                longest_target_bytes: 3,
            },
            geometry: crate::geometry::pack(&geometry, &sequence()),
        }
    }
}

fn sequence() -> AccessSequence {
    AccessSequence {
        paths: vec![b"/a".to_vec()],
        steps: vec![AccessStep {
            access: Access::Lookup,
            path: 0,
            pid: 0,
            compute_share: 1.0,
        }],
        compute_s: 0.25,
    }
}

fn index() -> Index {
    Index::new(
        "a.trace".to_owned(),
        &sequence(),
        vec![ImageEntry::example()],
    )
}

#[test]
fn an_index_comes_back() {
    let bytes = index().bytes().unwrap();
    let read = Index::parse(&bytes).unwrap();
    assert_eq!(read, index());
    assert_eq!(read.sequence().unwrap(), sequence());
    let geometry = read.geometry(0, &sequence()).unwrap();
    assert_eq!((geometry.image_bytes, geometry.metadata.len()), (4000, 1));
}

/// A value that does not hold, and what is said of it.
fn lies() -> [(&'static str, Value, &'static str); 13] {
    [
        (
            "/coldpress_variants",
            json!(2),
            "`coldpress_variants` of the index is 2, and this coldpress reads 1",
        ),
        (
            "/images",
            json!([]),
            "`images` of the index has 0 images, not 1 to 64",
        ),
        (
            "/images/0/file",
            json!("../x"),
            "`images[0].file` of the index is `../x`, not the name of a file beside the index",
        ),
        (
            "/images/0/file",
            json!("a/b"),
            "`images[0].file` of the index is `a/b`, not the name of a file beside the index",
        ),
        (
            "/images/0/digest",
            json!("md5:1"),
            "`images[0].digest` of the index is wrong: `md5:1` is not a digest",
        ),
        (
            "/images/0/size_bytes",
            json!(100),
            "`images[0].demands.used_bytes` of the index is 4000, more than the 100 of `size_bytes`",
        ),
        (
            "/images/0/size_bytes",
            json!(-1),
            "the index is not one of variants: invalid value: integer `-1`",
        ),
        (
            "/images/0/demands/compressor",
            json!("rar"),
            "`images[0].demands.compressor` of the index is `rar`, which is no compressor",
        ),
        (
            "/images/0/demands/compressor",
            json!("gzip"),
            "`images[0].geometry` of the index is of xz, blocks of 131072 bytes and 4000 bytes, but `demands` say gzip",
        ),
        (
            "/images/0/demands/block_size_bytes",
            json!(5),
            "`images[0].demands.block_size_bytes` of the index is 5, which is no block size",
        ),
        (
            "/images/0/demands/xz_filters",
            json!(["rot13"]),
            "`images[0].demands.xz_filters` of the index has `rot13`, which is no filter of xz",
        ),
        (
            "/images/0/geometry",
            json!("AA=="),
            "`images[0].geometry` of the index is no gzip",
        ),
        (
            "/start/packed",
            json!("*"),
            "`start.packed` of the index is no base64",
        ),
    ]
}

#[test]
fn an_index_that_lies_is_refused_where_it_does() {
    let sound: Value = serde_json::from_slice(&index().bytes().unwrap()).unwrap();
    let geometry = |bytes: &[u8]| {
        let index = Index::parse(bytes)?;
        index.geometry(0, &index.sequence()?).map(drop)
    };
    geometry(sound.to_string().as_bytes()).unwrap();
    for (place, value, expected) in lies() {
        let mut document = sound.clone();
        *document.pointer_mut(place).unwrap() = value;
        let error = geometry(document.to_string().as_bytes())
            .unwrap_err()
            .to_string();
        assert!(error.starts_with(expected), "{error}");
    }
    let mut twice = sound.clone();
    let image = twice["images"][0].clone();
    twice["images"].as_array_mut().unwrap().push(image);
    let error = Index::parse(twice.to_string().as_bytes())
        .unwrap_err()
        .to_string();
    assert_eq!(
        error,
        "`images[1].file` of the index is `xz.sqfs`, as that of an image before"
    );
}
