//! Texts: traces, profiles, plans, and the lists that other tools have.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use coldpress_format::BlockSize;
use coldpress_history::{Origin, TaskList, parse_task_list};
use coldpress_layout::{
    Dialect, Kind, Node, NodeId, Plan, SortFile, Tails, Tree, match_profile, order, plan as planned,
};
use coldpress_trace::{Profile, Trace};
use coldpress_writer::pack_file::PackFile;
use coldpress_writer::pseudo::{Lookup, Pseudo};
use coldpress_writer::{
    Exclusions, FileContexts, Matching, Mode, Rules, exclude_file_lines, parse_time,
};

/// A trace that is read is written, read again, and becomes a plan.
pub(crate) fn trace(data: &[u8]) {
    let Ok(trace) = Trace::parse(data) else {
        return;
    };
    let mut text = Vec::new();
    trace
        .write(&mut text)
        .expect("what was read can be written");
    assert_eq!(Trace::parse(&text).as_ref(), Ok(&trace));
    let tree = tree();
    let plan = planned(&tree, &Profile::from(&trace), BlockSize::MIN);
    obey(&tree, &plan);
}

/// A profile that is read is written, read again, merged with itself, found in a tree and becomes a
/// plan.
pub(crate) fn profile(data: &[u8]) {
    let Ok(profile) = Profile::parse(data) else {
        return;
    };
    let mut text = Vec::new();
    profile
        .write(&mut text)
        .expect("what was read can be written");
    assert_eq!(Profile::parse(&text).as_ref(), Ok(&profile));
    let merged = Profile::combine(&[profile.clone(), profile]);
    // Counts may make a line too long that was as long as can be.
    let _ = merged.write(&mut Vec::new());
    let tree = tree();
    let matching = match_profile(&tree, &merged, &mut |node| {
        Some([node.0.to_le_bytes()[0]; 16])
    });
    let staleness = matching.staleness();
    assert!(staleness.stale_paths <= staleness.paths);
    assert!(staleness.stale_bytes <= staleness.bytes);
    obey(&tree, &planned(&tree, &matching.profile, BlockSize::MIN));
}

/// A plan that is read is written, read again, and orders a tree.
pub(crate) fn plan(data: &[u8]) {
    let Ok(plan) = Plan::parse(data) else {
        return;
    };
    let mut text = Vec::new();
    plan.write(&mut text).expect("what was read can be written");
    assert_eq!(Plan::parse(&text).as_ref(), Ok(&plan));
    let tree = tree();
    obey(&tree, &plan);
    let _ = Plan::lint(data, &tree);
}

/// Orders a tree; nothing of it may be lost.
fn obey(tree: &Tree, plan: &Plan) {
    for tails in [Tails::None, Tails::Small, Tails::All] {
        let (order, _) = order(tree, plan, BlockSize::MIN, tails);
        assert_eq!(order.inodes.len(), tree.nodes.len());
    }
}

/// The first byte chooses the language, the rest is the text.
pub(crate) fn lists(data: &[u8]) {
    let Some((choice, text)) = data.split_first() else {
        return;
    };
    match choice % 10 {
        0 => sort(text, Dialect::Mksquashfs),
        1 => sort(text, Dialect::Gensquashfs),
        2 => pseudo(text),
        3 => drop(PackFile::parse(
            text,
            Path::new("list"),
            PathBuf::from("/nowhere"),
        )),
        4 => drop(Exclusions::by_pattern(
            &exclude_file_lines(text),
            Matching::Wildcards,
        )),
        5 => drop(Exclusions::by_pattern(
            &exclude_file_lines(text),
            Matching::Regex,
        )),
        6 => drop(Rules::default().add_file(text)),
        7 => drop(FileContexts::parse(text)),
        8 => drop(str::from_utf8(text).map(Mode::parse)),
        _ => drop(str::from_utf8(text).map(parse_time)),
    }
}

/// Timings that are read are listed and read again.
pub(crate) fn timings(data: &[u8]) {
    let Ok(change) = parse_task_list(data, Origin::Measured, 0) else {
        return;
    };
    let all = TaskList {
        labels: true,
        brief: true,
    };
    let text = all.text(std::slice::from_ref(&change));
    let again = parse_task_list(text.as_bytes(), Origin::Measured, 0);
    assert_eq!(again.as_ref(), Ok(&change), "{text}");
    serde_json::to_vec(&change.trace_events()).expect("plain values");
}

/// A sort file that is read is written and read again, and becomes a plan.
fn sort(text: &[u8], dialect: Dialect) {
    let (all, _) = SortFile::parse_all(text, dialect);
    let tree = tree();
    obey(
        &tree,
        &all.plan(&tree, &[NodeId::ROOT], BlockSize::MIN, Tails::Small),
    );
    let _ = all.lint(&tree, &[NodeId::ROOT]);
    let Ok(sort) = SortFile::parse(text, dialect) else {
        return;
    };
    let mut written = Vec::new();
    if sort.write(&mut written).is_ok() {
        let again = SortFile::parse(&written, dialect).expect("what was written can be read");
        assert_eq!(again.entries.len(), sort.entries.len());
    }
}

/// Definitions line by line, as the command line gives them: no file is opened.
fn pseudo(text: &[u8]) {
    let nobody = |_: &[u8]| None;
    let lookup = Lookup {
        user: nobody,
        group: nobody,
        date: nobody,
    };
    let mut pseudo = Pseudo::new(PathBuf::from("/nowhere"));
    for (line, number) in text.split(|byte| *byte == b'\n').zip(1..) {
        let _ = pseudo.add(line, number, &lookup);
    }
    let _ = coldpress_writer::pseudo::parse_directory(text, &lookup);
}

/// `/a/b` of a block and a tail, `/a/c` of a tail, `/d` of nothing, `/e` another name of `/a/c`.
fn tree() -> Tree {
    let node = |kind| Node {
        kind,
        mode: 0o755,
        uid: 0,
        gid: 0,
        mtime_s: 0,
        xattrs: Arc::default(),
    };
    let directory = |entries: &[(&[u8], u32)]| {
        let entries = entries.iter();
        let entries = entries.map(|(name, node)| (name.to_vec(), NodeId(*node)));
        node(Kind::Directory {
            entries: entries.collect(),
        })
    };
    let file = |size_bytes| node(Kind::File { size_bytes });
    Tree {
        nodes: vec![
            directory(&[(b"a", 1), (b"d", 4), (b"e", 3)]),
            directory(&[(b"b", 2), (b"c", 3)]),
            file(5000),
            file(100),
            file(0),
        ],
        ..Tree::default()
    }
}
