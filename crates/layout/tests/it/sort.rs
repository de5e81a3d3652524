//! The laws of sort files, for any tree and any text.

use coldpress_format::BlockSize;
use coldpress_layout::{
    Dialect, Item, NodeId, Plan, SortEntry, SortFile, SortFlag, Tails, Tree, order,
};
use proptest::prelude::*;

use crate::trees::tree;

const DIALECTS: [Dialect; 2] = [Dialect::Mksquashfs, Dialect::Gensquashfs];

fn dialect() -> impl Strategy<Value = Dialect> {
    prop::sample::select(DIALECTS.to_vec())
}

/// Lines of which most are legal in one of the dialects.
fn text() -> impl Strategy<Value = Vec<u8>> {
    let path = "[a-d]{1,2}(/[a-d.*]{1,2}){0,2}(/\\*)?";
    let flags = "(\\[(glob|glob_no_path|align|nosparse|dont_[a-z]{1,4}|,){0,3}\\] )?";
    let line = prop_oneof![
        (path, any::<i16>()).prop_map(|(path, priority)| format!("{path} {priority}")),
        (any::<i64>(), flags, path)
            .prop_map(|(priority, flags, path)| { format!("{priority} {flags}{path}") }),
        "[ -~\\t]{0,12}",
    ];
    let lines = prop::collection::vec(line.prop_map(String::into_bytes), 0..12);
    let junk = prop::collection::vec(any::<u8>(), 0..4);
    (lines, junk).prop_map(|(lines, junk)| [lines.join(&b'\n'), junk].concat())
}

fn written(file: &SortFile) -> Vec<u8> {
    let mut text = Vec::new();
    file.write(&mut text).expect("it can be said");
    text
}

/// The entries, numbered as they would be written.
fn renumbered(file: &SortFile) -> SortFile {
    let entries = file.entries.iter().zip(1..);
    let entries = entries.map(|(entry, line)| SortEntry {
        line,
        ..entry.clone()
    });
    SortFile {
        dialect: file.dialect,
        entries: entries.collect(),
    }
}

/// The files with data in the order of their places in the image.
fn data_order(tree: &Tree, plan: &Plan) -> Vec<NodeId> {
    let (order, unmatched) = order(tree, plan, BlockSize::MIN, Tails::None);
    assert_eq!(unmatched, Vec::<Vec<u8>>::new());
    let node = |item: &Item| match item {
        Item::Blocks(id) => *id,
        Item::Fragment(ids) => panic!("a fragment of {ids:?} without fragments"),
    };
    order.data.iter().map(node).collect()
}

proptest! {
    #[test]
    fn what_is_read_is_written_and_read_again(text in text(), dialect in dialect()) {
        let (file, findings) = SortFile::parse_all(&text, dialect);
        prop_assert_eq!(SortFile::parse(&text, dialect).is_ok(), findings.is_empty());
        let again = SortFile::parse(&written(&file), dialect);
        prop_assert_eq!(again, Ok(renumbered(&file)));
    }

    #[test]
    fn any_path_is_written_and_read_again_or_refused(
        path in prop::collection::vec(prop_oneof![Just(b' '), Just(b'/'), Just(b'*'), any::<u8>()], 0..9),
        priority in prop_oneof![any::<i64>(), (-40_000_i64..40_000)],
        flag in prop::option::of(Just(SortFlag::DontFragment)),
        dialect in dialect(),
    ) {
        let flags = Vec::from_iter(flag);
        let file = SortFile { dialect, entries: vec![SortEntry { line: 1, path, priority, flags }] };
        let mut text = Vec::new();
        if file.write(&mut text).is_ok() {
            prop_assert_eq!(SortFile::parse(&text, dialect), Ok(file));
        } else {
            prop_assert_eq!(text, Vec::<u8>::new());
        }
    }

    #[test]
    fn any_sort_file_plans_every_file_with_data_once(
        tree in tree(4096),
        text in text(),
        dialect in dialect(),
    ) {
        let (file, _) = SortFile::parse_all(&text, dialect);
        let plan = file.plan(&tree, &[NodeId::ROOT], BlockSize::MIN, Tails::None);
        let (order, unmatched) = order(&tree, &plan, BlockSize::MIN, Tails::None);
        prop_assert_eq!(unmatched, Vec::<Vec<u8>>::new());
        prop_assert_eq!(plan.data.len(), order.data.len());
        prop_assert_eq!(order.hot_items, order.data.len());
        let findings = file.lint(&tree, &[NodeId::ROOT]);
        prop_assert!(findings.len() <= file.entries.len());
    }

    #[test]
    fn a_plan_that_became_a_sort_file_and_a_plan_again_has_the_same_order(
        tree in tree(4096),
        text in text(),
        dialect in dialect(),
    ) {
        let (file, _) = SortFile::parse_all(&text, Dialect::Mksquashfs);
        let roots = [NodeId::ROOT];
        let plan = file.plan(&tree, &roots, BlockSize::MIN, Tails::None);
        let (other, losses) = SortFile::from_plan(&plan, dialect);
        prop_assume!(losses.is_empty()); // A path with a line feed.
        let again = SortFile::parse(&written(&other), dialect).expect("written");
        let again = again.plan(&tree, &roots, BlockSize::MIN, Tails::None);
        prop_assert_eq!(data_order(&tree, &again), data_order(&tree, &plan));
    }
}

#[test]
fn lines_that_no_tool_could_read_are_not_written() {
    let entry = |path: &[u8], priority, flags: &[SortFlag]| SortEntry {
        line: 0,
        path: path.to_vec(),
        priority,
        flags: flags.to_vec(),
    };
    let cases = [
        (Dialect::Mksquashfs, entry(b"a\nb", 1, &[])),
        (Dialect::Mksquashfs, entry(b"a", 40_000, &[])),
        (
            Dialect::Mksquashfs,
            entry(b"a", 1, &[SortFlag::DontCompress]),
        ),
        (Dialect::Mksquashfs, entry(&[b'a'; 16_383], 1, &[])),
        (Dialect::Gensquashfs, entry(b"a\nb", 1, &[])),
        (Dialect::Gensquashfs, entry(b"a/../b", 1, &[])),
        (Dialect::Gensquashfs, entry(b"/a", 1, &[])),
        (Dialect::Gensquashfs, entry(b"a", i64::MAX, &[])),
    ];
    for (dialect, entry) in cases {
        let file = SortFile {
            dialect,
            entries: vec![entry],
        };
        let error = file.write(&mut Vec::new()).expect_err("no line for it");
        assert_eq!(error.kind(), std::io::ErrorKind::InvalidInput);
        assert!(
            error.to_string().starts_with("sort file line 1: "),
            "{error}"
        );
    }
}
