use std::fs;
use std::io;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use coldpress_format::Compressor;
use coldpress_image::{Image, ReadAt};
use coldpress_layout::{NodeId, Plan, Tails};
use coldpress_writer::{
    Digest, Error, IndexPlace, Input, Layer, LayerDefect, LayersInput, LazyImage, Options, Reuse,
    Source, SourceOptions, TarDefaults, gather,
};

use crate::tar::archive::Archive;
use crate::tar::compressed::compressed;
use crate::tar::listing;
use crate::trees::{built, content, differences, options};

/// Any layers, against a model that knows paths and nothing else.
mod model;

/// A layer whose manifest is right.
pub(crate) fn layer(number: usize, bytes: Vec<u8>) -> Layer {
    Layer {
        kind: coldpress_writer::LayerKind::Tar,
        name: format!("image, layer {number}").into(),
        size_bytes: bytes.len() as u64,
        digest: Some(Digest::sha256_of(&bytes)),
        diff_id: None,
        bytes: Arc::new(bytes),
        file: None,
        index: None,
    }
}

fn merged_with(layers: Vec<Layer>, follows_symlinks: bool) -> Result<Source, Error> {
    let input = LayersInput {
        layers,
        spool_directory: std::env::temp_dir(),
        defaults: TarDefaults::default(),
        follows_symlinks,
    };
    let options = SourceOptions::default();
    gather(&[Input::Layers(input)], &options, &mut |_| {
        ControlFlow::Continue(())
    })
}

/// The tree of these archives, the lowest first.
pub(crate) fn merged(archives: Vec<Archive>) -> Result<Source, Error> {
    let layers = archives.into_iter().map(Archive::end).enumerate();
    merged_with(layers.map(|(at, bytes)| layer(at, bytes)).collect(), false)
}

/// Paths and what is there, without owners and times.
fn names(source: &Source) -> Vec<String> {
    let lines = listing(source);
    let words = |line: &String| {
        let mut words = line.split(' ');
        let path = words.next().unwrap().trim_end_matches('/').to_owned();
        format!("{path} {}", words.next().unwrap())
    };
    lines.iter().skip(1).map(words).collect()
}

fn node(source: &Source, path: &str) -> NodeId {
    source.tree.find(path.as_bytes()).unwrap()
}

#[test]
fn whiteouts_hide_lower_layers_and_nothing_of_their_own() {
    let lower = Archive::default()
        .file("etc/a", b"1")
        .file("etc/b", b"1")
        .file("opt/x/deep/f", b"1")
        .file("opt/x/g", b"1")
        .file("var/f", b"1")
        .file("srv/d/lower", b"1")
        .file("gone", b"1")
        .file("lib/in/f", b"1");
    let upper = Archive::default()
        // In front of its siblings, and behind them.
        .file("etc/.wh.a", b"")
        .file("etc/b", b"22")
        .file("etc/.wh.b", b"")
        .file("opt/x/deep/new", b"22")
        .file("opt/x/.wh..wh..opq", b"")
        .link(".wh.gone", b'1', "etc/b")
        .file("var/.wh.missing", b"")
        .file("srv/d/upper", b"22")
        .file("srv/.wh.d", b"")
        .file("lib", b"22")
        .file("lib/.wh.in", b"")
        .file("lib/in/.wh..wh..opq", b"")
        .file(".wh..wh.plnk/1.2", b"");
    let source = merged(vec![lower, upper]).unwrap();
    let expected = [
        "/etc d",
        "/etc/b f2",
        "/lib f2",
        "/opt d",
        "/opt/x d",
        "/opt/x/deep d",
        "/opt/x/deep/new f2",
        "/srv d",
        "/srv/d d",
        "/srv/d/upper f2",
        "/var d",
        "/var/f f1",
    ];
    assert_eq!(names(&source), expected);
    assert_eq!(source.losses().count(), 0);
    assert_eq!(source.warnings.len(), 1);
    assert!(
        source.warnings[0]
            .to_string()
            .contains("`.wh..wh.plnk/1.2` is left out")
    );
}

/// Bytes whose readers are counted.
struct Counting {
    bytes: Vec<u8>,
    reads: AtomicUsize,
}

impl ReadAt for Counting {
    fn read_at(&self, buf: &mut [u8], start: u64) -> io::Result<usize> {
        self.reads.fetch_add(1, Ordering::Relaxed);
        self.bytes.read_at(buf, start)
    }

    fn size_bytes(&self) -> io::Result<u64> {
        Ok(self.bytes.len() as u64)
    }
}

#[test]
fn what_passed_by_is_not_read_again_to_find_duplicates() {
    let find = |contents: [&[u8]; 3]| {
        let files = ["a", "b", "c"]
            .into_iter()
            .zip(contents.map(<[u8]>::to_vec));
        let (layer, counting) = counted(&files.collect::<Vec<_>>());
        let mut source = merged_with(vec![layer], false).unwrap();
        let before = counting.reads.load(Ordering::Relaxed);
        let go_on = &mut |_| ControlFlow::Continue(());
        source
            .find_duplicates(None, NonZeroUsize::MIN, go_on)
            .unwrap();
        let reads = counting.reads.load(Ordering::Relaxed) - before;
        (source.tree.duplicates.len(), reads > 0)
    };
    assert_eq!(find([b"one", b"two", b"six"]), (0, false));
    assert_eq!(find([b"one", b"two", b"one"]), (1, false));
}

#[test]
fn whiteouts_do_not_follow_links_of_their_own_layer() {
    let lower = Archive::default()
        .file("lists/f", b"1")
        .file("lists/d/in", b"1")
        .file("cache/f", b"1")
        .file("cache/d/in", b"1");
    // As umoci writes that a directory became a link.
    let upper = Archive::default()
        .link("lists", b'2', "cache")
        .file("lists/.wh.f", b"")
        .file("lists/.wh.d", b"")
        .file("lists/d/.wh..wh..opq", b"");
    let layers = [lower, upper].map(Archive::end).into_iter().enumerate();
    let layers: Vec<Layer> = layers.map(|(at, bytes)| layer(at, bytes)).collect();
    for follows_symlinks in [false, true] {
        let source = merged_with(layers.clone(), follows_symlinks).unwrap();
        let expected = ["/cache d", "/cache/d d", "/cache/d/in f1", "/cache/f f1"];
        assert_eq!(names(&source)[..4], expected);
        assert!(source.tree.find(b"/lists").is_some() && source.warnings.is_empty());
    }
}

#[test]
fn what_is_no_directory_on_both_sides_is_replaced() {
    let lower = Archive::default()
        .entry("dir", b'5', 0, b"")
        .file("dir/kept", b"1")
        .file("to-file/f", b"1")
        .file("to-dir", b"1")
        .file("to-implied", b"1")
        .link("symlink", b'2', "dir");
    let upper = Archive::default()
        .entry("./", b'5', 0, b"")
        .entry("dir", b'5', 0, b"")
        .file("to-file", b"22")
        .entry("to-dir", b'5', 0, b"")
        .file("to-implied/f", b"22")
        .file("symlink", b"22");
    let source = merged(vec![lower, upper]).unwrap();
    let expected = [
        "/dir d",
        "/dir/kept f1",
        "/symlink f2",
        "/to-dir d",
        "/to-file f2",
        "/to-implied d",
        "/to-implied/f f2",
    ];
    assert_eq!(names(&source), expected);
    // That of the last layer that has one.
    assert_eq!(source.tree[NodeId::ROOT].mode, 0o644);
    assert_eq!(source.losses().count(), 0);
}

#[test]
fn layers_without_a_root_leave_its_metadata_to_the_next_input() {
    let directory = tempfile::tempdir().unwrap();
    fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o710)).unwrap();
    fs::write(directory.path().join("a"), "own").unwrap();
    let below = Archive::default().file("a", b"below").file("b", b"1");
    let layers = LayersInput {
        layers: vec![layer(0, below.end())],
        spool_directory: directory.path().to_path_buf(),
        defaults: TarDefaults::default(),
        follows_symlinks: false,
    };
    let inputs = [
        Input::Layers(layers),
        Input::Directory(directory.path().to_path_buf()),
    ];
    let go_on = &mut |_| ControlFlow::Continue(());
    let source = gather(&inputs, &SourceOptions::default(), go_on).unwrap();
    assert_eq!(names(&source), ["/a f3", "/b f1"]);
    assert_eq!(source.tree[NodeId::ROOT].mode, 0o710);
    let reversed = gather(
        &[inputs[1].clone(), inputs[0].clone()],
        &SourceOptions::default(),
        go_on,
    );
    let source = reversed.unwrap();
    assert_eq!(names(&source), ["/a f5", "/b f1"]);
    assert_eq!(source.tree[NodeId::ROOT].mode, 0o710);
}

#[test]
fn hard_links_lead_to_what_a_path_was_in_their_layer() {
    let layers = vec![
        Archive::default()
            .file("a", b"1")
            .file("b", b"22")
            .file("d/f", b"4444"),
        Archive::default()
            .link("link-a", b'1', "a")
            .link("b", b'1', "a")
            .link("new/later", b'1', "own")
            .file("own", b"333")
            .link("d", b'1', "d/f"),
        Archive::default()
            .file(".wh.a", b"")
            .link("lost", b'1', "a"),
    ];
    let source = merged(layers).unwrap();
    let expected = [
        "/b f1",
        "/d f4",
        "/link-a f1",
        "/new d",
        "/new/later f3",
        "/own f3",
    ];
    assert_eq!(names(&source), expected);
    assert_eq!(node(&source, "/b"), node(&source, "/link-a"));
    assert_eq!(node(&source, "/own"), node(&source, "/new/later"));
    let warnings: Vec<String> = source.warnings.iter().map(ToString::to_string).collect();
    assert_eq!(warnings.len(), 1);
    assert!(warnings[0].contains("image, layer 2") && warnings[0].contains("`lost`"));
}

#[test]
fn links_to_directories_are_followed_in_their_own_layer_and_hidden_by_others() {
    let own = || {
        Archive::default()
            .file("usr/lib/a", b"1")
            .link("lib", b'2', "usr/lib")
            .link("usr/up", b'2', "../../../usr/lib")
            .link("abs", b'2', "/usr")
    };
    let within = own()
        .file("lib/b", b"1")
        .file("usr/up/c", b"1")
        .file("abs/d", b"1");
    let source = merged(vec![within]).unwrap();
    let found = ["/usr/lib/a", "/usr/lib/b", "/usr/lib/c", "/usr/d"];
    assert!(
        found
            .iter()
            .all(|path| source.tree.find(path.as_bytes()).is_some())
    );
    let above = || Archive::default().file("lib/b", b"1");
    let source = merged(vec![own(), above()]).unwrap();
    assert!(source.tree.find(b"/lib/b").is_some() && source.tree.find(b"/usr/lib/b").is_none());
    let warnings: Vec<String> = source.losses().map(ToString::to_string).collect();
    assert!(matches!(&warnings[..], [it] if it.contains("makes a directory of `lib`")));
    let layers = [own(), above()].map(Archive::end).into_iter().enumerate();
    let layers = layers.map(|(at, bytes)| layer(at, bytes)).collect();
    let source = merged_with(layers, true).unwrap();
    assert!(source.tree.find(b"/usr/lib/b").is_some() && source.warnings.is_empty());
}

#[test]
fn what_leads_nowhere_is_an_error_that_names_layer_and_path() {
    let bottom = Archive::default().file("f", b"1");
    for (upper, part) in [
        (
            Archive::default().file("etc/.wh.", b""),
            "the whiteout `etc/.wh.` names no file",
        ),
        (
            Archive::default().file("etc/.wh...", b""),
            "the whiteout `etc/.wh...`",
        ),
        (
            Archive::default().file("a/../../f", b""),
            "`a/../../f` has a component `..`",
        ),
        (
            Archive::default().file("x", b"").file("x/y", b""),
            "`x/y` is below something",
        ),
        (
            Archive::default().link("l", b'2', "l").file("l/f", b""),
            "`l/f` is below something",
        ),
        (
            Archive::default().link("l", b'2', "none").file("l/f", b""),
            "`l/f` is below something",
        ),
        (
            Archive::default().file("./", b"").entry(".", b'0', 0, b""),
            "the root is not",
        ),
    ] {
        let text = merged(vec![bottom.clone(), upper]).unwrap_err().to_string();
        assert!(
            text.contains("image, layer 1") && text.contains(part),
            "{text}"
        );
    }
}

/// A layer with more than fits into the pieces in which layers are read.
fn large() -> Vec<u8> {
    let mut archive = Archive::default();
    for number in 0..40_u8 {
        archive = archive.file(
            &format!("dir{}/f{number}", number % 5),
            &content(number, 40_000),
        );
    }
    archive.file("hidden", &content(1, 500_000)).end()
}

#[test]
fn compressed_layers_make_the_image_of_plain_ones() {
    let plain = large();
    let upper = Archive::default()
        .file(".wh.hidden", b"")
        .file("dir0/f0", b"new")
        .end();
    let image = |bytes: Vec<u8>, index: Option<IndexPlace>| {
        let mut lower = layer(0, bytes);
        lower.diff_id = Some(Digest::sha256_of(&plain));
        lower.index = index;
        let source = merged_with(vec![lower, layer(1, upper.clone())], false).unwrap();
        let image = built(
            &source,
            &Plan::default(),
            &options(Some(Compressor::Zstd), 65_536),
        );
        assert_eq!(differences(&image, &source), Vec::<String>::new());
        image
    };
    let expected = image(plain.clone(), None);
    assert!(expected.len() < 1 << 20);
    let directory = tempfile::tempdir().unwrap();
    let plain_too = [("plain", plain.clone())];
    for (name, bytes) in compressed(&plain).into_iter().chain(plain_too) {
        assert!(image(bytes.clone(), None) == expected, "{name}");
        let path = directory.path().join(name);
        let place = || {
            let (path, serves) = (path.clone(), true);
            Some(IndexPlace { path, serves })
        };
        // The first makes it.
        assert!(image(bytes.clone(), place()) == expected, "{name}");
        assert!(path.exists(), "{name}");
        assert!(image(bytes, place()) == expected, "{name} by its index");
    }
}

/// A compressed layer with these files, and who counts its reads.
fn counted(files: &[(&str, Vec<u8>)]) -> (Layer, Arc<Counting>) {
    let mut archive = Archive::default();
    for (name, content) in files {
        archive = archive.file(name, content);
    }
    let (_, bytes) = compressed(&archive.end()).swap_remove(0);
    let counting = Arc::new(Counting {
        bytes: bytes.clone(),
        reads: AtomicUsize::new(0),
    });
    let bytes_of: Arc<dyn ReadAt> = counting.clone();
    let layer = Layer {
        bytes: bytes_of,
        ..layer(0, bytes)
    };
    (layer, counting)
}

#[test]
fn what_an_older_image_has_is_not_decompressed_again() {
    const BLOCK_BYTES: u32 = 65_536;
    let files = |changed: u8| -> Vec<(&str, Vec<u8>)> {
        // Whole blocks with and without tail ends, and tail ends that share a fragment block.
        vec![
            ("blocks", content(1, 3 * 65_536)),
            ("both", content(2, 200_000)),
            ("changed", content(changed, 70_000)),
            ("small", content(4, 30_000)),
            ("other", content(7, 20_000)),
        ]
    };
    let options = Options {
        tails: Tails::All,
        ..options(Some(Compressor::Zstd), BLOCK_BYTES)
    };
    let image = |source: &Source| built(source, &Plan::default(), &options);
    // The tail end of what changed shares a fragment block with all others.
    for (changed, is_read_again) in [(3, false), (8, true)] {
        let of = |changed| {
            let (layer, counting) = counted(&files(changed));
            (merged_with(vec![layer], false).unwrap(), counting)
        };
        let (old, expected) = (image(&of(changed).0), image(&of(3).0));
        let (mut source, counting) = of(3);
        let old = Image::new(Box::new(old)).unwrap();
        source.reuse = Some(Reuse::new(old, &source, &options).unwrap());
        let before = counting.reads.load(Ordering::Relaxed);
        assert!(image(&source) == expected, "{changed}");
        let reads = counting.reads.load(Ordering::Relaxed) - before;
        assert_eq!(reads > 0, is_read_again, "{changed}");
    }
}

#[test]
fn a_layer_with_an_index_is_read_when_contents_are_needed() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("index");
    let place = |serves| {
        let path = path.clone();
        Some(IndexPlace { path, serves })
    };
    let files: Vec<(String, Vec<u8>)> = (0..40_u8)
        .map(|number| {
            let name = format!("{}{number}", "long/".repeat(usize::from(number % 12)));
            (name, content(number, usize::from(number) * 3000))
        })
        .collect();
    let borrowed: Vec<_> = files
        .iter()
        .map(|(name, bytes)| (&**name, bytes.clone()))
        .collect();
    let options = options(Some(Compressor::Zstd), 65_536);
    let image = |source: &Source| built(source, &Plan::default(), &options);
    let go_on = &mut |_| ControlFlow::Continue(());

    let (mut whole, _) = counted(&borrowed);
    whole.index = place(true);
    let source = merged_with(vec![whole], false).unwrap();
    let (tree, expected) = (listing(&source), image(&source));
    assert!(path.exists());

    // The older image has all contents, so not a byte of the layer is read.
    let (mut known, counting) = counted(&borrowed);
    known.index = place(true);
    let mut source = merged_with(vec![known], false).unwrap();
    assert_eq!(listing(&source), tree);
    source
        .find_duplicates(None, NonZeroUsize::MIN, go_on)
        .unwrap();
    let old = Image::new(Box::new(expected.clone())).unwrap();
    source.reuse = Some(Reuse::new(old, &source, &options).unwrap());
    assert!(image(&source) == expected);
    assert_eq!(counting.reads.load(Ordering::Relaxed), 0);
    // Without it, all of it is, and compared with its digest.
    source.reuse = None;
    assert!(image(&source) == expected);
    assert!(counting.reads.load(Ordering::Relaxed) > 0);

    // Another layer than the one that the index was made of is found out then.
    let (mut other, _) = counted(&borrowed);
    other.index = place(true);
    other.digest = Some(Digest::sha256_of(b"another"));
    let source = merged_with(vec![other.clone()], false).unwrap();
    let file = tempfile::tempfile().unwrap();
    let order = coldpress_layout::order(
        &source.tree,
        &Plan::default(),
        options.block_size,
        options.tails,
    );
    let written = coldpress_writer::write(&source, &order.0, &file, &options, go_on);
    assert!(matches!(written, Err(Error::Layer { .. })), "{written:?}");
    // So is a layer whose plain bytes should be others.
    let (mut other, _) = counted(&borrowed);
    other.index = place(true);
    other.diff_id = Some(Digest::sha256_of(b"another"));
    assert!(merged_with(vec![other.clone()], false).is_err());
    // One that does not serve is made anew, unless the layer is wrong.
    fs::remove_file(&path).unwrap();
    other.index = place(false);
    assert!(merged_with(vec![other], false).is_err());
    assert!(!path.exists());
}

#[test]
fn a_lazy_image_is_read_as_a_written_one() {
    let packed = compressed(&large());
    let upper = Archive::default()
        .file(".wh.hidden", b"")
        .file("dir0/f0", b"new")
        .end();
    let layers = || vec![layer(0, packed[0].1.clone()), layer(1, upper.clone())];
    let source = merged_with(layers(), false).unwrap();
    let again = merged_with(layers(), false).unwrap();
    let directory = tempfile::tempdir().unwrap();
    let lazy = LazyImage::new(again, directory.path()).unwrap();
    let mut bytes = vec![0; usize::try_from(lazy.size_bytes().unwrap()).unwrap()];
    for (at, piece) in bytes.chunks_mut(1000).enumerate() {
        let (mut len, start) = (0, at as u64 * 1000);
        while len < piece.len() {
            len += lazy.read_at(&mut piece[len..], start + len as u64).unwrap();
        }
    }
    assert_eq!(differences(&bytes, &source), Vec::<String>::new());
}

#[test]
fn a_layer_that_is_not_the_one_that_is_named_is_refused() {
    let right = layer(0, large());
    let failed = |layer: Layer| match merged_with(vec![layer], false).unwrap_err() {
        Error::Layer { layer, defect } => {
            assert_eq!(layer, Path::new("image, layer 0"));
            *defect
        }
        error => panic!("{error}"),
    };
    let other = Digest::sha256_of(b"");
    let wrong = Layer {
        digest: Some(other),
        ..right.clone()
    };
    assert!(matches!(
        failed(wrong),
        LayerDefect::Digest { what: "digest", .. }
    ));
    let wrong = Layer {
        diff_id: Some(other),
        ..right.clone()
    };
    assert!(matches!(
        failed(wrong),
        LayerDefect::Digest {
            what: "diff_id",
            ..
        }
    ));
    for (size_bytes, longer) in [(right.size_bytes + 1, false), (right.size_bytes - 1, true)] {
        let wrong = Layer {
            size_bytes,
            ..right.clone()
        };
        let defect = failed(wrong);
        assert!(matches!(defect, LayerDefect::Size { is_longer, .. } if is_longer == longer));
    }
    for (name, mut bytes) in compressed(&large()) {
        bytes.truncate(bytes.len() / 2);
        assert!(merged_with(vec![layer(0, bytes)], false).is_err(), "{name}");
    }
}
