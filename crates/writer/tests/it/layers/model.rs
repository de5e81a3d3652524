use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::{merged, names};
use crate::tar::archive::Archive;

/// What a layer says, with paths of a few names so that they meet.
#[derive(Clone, Debug)]
enum Step {
    File(String),
    Directory(String),
    Link(String, String),
    Whiteout(String),
    Opaque(String),
}

fn path() -> impl Strategy<Value = String> {
    proptest::collection::vec(prop_oneof!["a", "b", "c"], 1..4).prop_map(|names| names.join("/"))
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => path().prop_map(Step::File),
        2 => path().prop_map(Step::Directory),
        2 => (path(), path()).prop_map(|(path, target)| Step::Link(path, target)),
        2 => path().prop_map(Step::Whiteout),
        1 => path().prop_map(Step::Opaque),
    ]
}

/// Paths, with the length of a file, which tells it from all others, or nothing for a directory.
#[derive(Clone, Debug, Default)]
struct Model {
    tree: BTreeMap<String, Option<usize>>,
    /// What the layer has.
    own: BTreeSet<String>,
}

impl Model {
    fn is_below(path: &str, directory: &str) -> bool {
        path.strip_prefix(directory)
            .is_some_and(|rest| rest.starts_with('/'))
    }

    fn remove(&mut self, path: &str) {
        let is_other = |it: &String| it != path && !Self::is_below(it, path);
        self.tree.retain(|it, _| is_other(it));
        self.own.retain(is_other);
    }

    fn put(&mut self, path: &str, what: Option<usize>) {
        self.remove(path);
        self.tree.insert(path.to_owned(), what);
        self.own.insert(path.to_owned());
    }

    /// Makes the directories above a path; false if the layer has something else there.
    fn make_parents(&mut self, path: &str) -> bool {
        for (slash, _) in path.match_indices('/') {
            let parent = &path[..slash];
            match self.tree.get(parent) {
                Some(None) => {
                    self.own.insert(parent.to_owned());
                }
                Some(Some(_)) if self.own.contains(parent) => return false,
                _ => self.put(parent, None),
            }
        }
        true
    }

    fn hide(&mut self, path: &str) {
        if !self.own.contains(path) {
            self.remove(path);
        }
        self.hide_below(path);
    }

    fn hide_below(&mut self, directory: &str) {
        let own = &self.own;
        let stays = |it: &String| !Self::is_below(it, directory) || own.contains(it);
        self.tree.retain(|it, _| stays(it));
    }

    /// Does a step; false if it is none that a layer may have.
    fn act(&mut self, step: &Step, size: usize) -> bool {
        let (Step::File(path)
        | Step::Directory(path)
        | Step::Link(path, _)
        | Step::Whiteout(path)
        | Step::Opaque(path)) = step;
        let below = format!("{path}/x");
        let parents_of = if matches!(step, Step::Opaque(_)) {
            &below
        } else {
            path
        };
        if !self.make_parents(parents_of) {
            return matches!(step, Step::Whiteout(_) | Step::Opaque(_));
        }
        match step {
            Step::File(_) => self.put(path, Some(size)),
            Step::Directory(_) if self.tree.get(path) == Some(&None) => {
                self.own.insert(path.clone());
            }
            Step::Directory(_) => self.put(path, None),
            Step::Link(_, target) => match self.tree.get(target) {
                Some(Some(size)) => self.put(path, Some(*size)),
                _ => return false,
            },
            Step::Whiteout(_) => self.hide(path),
            Step::Opaque(_) => self.hide_below(path),
        }
        true
    }
}

fn archived(archive: Archive, step: &Step, size: usize) -> Archive {
    match step {
        Step::File(path) => archive.file(path, &vec![7; size]),
        Step::Directory(path) => archive.entry(path, b'5', 0, b""),
        Step::Link(path, target) => archive.link(path, b'1', target),
        Step::Whiteout(path) => {
            let (parent, name) = path.rsplit_once('/').unwrap_or(("", path));
            archive.file(&format!("{parent}/.wh.{name}"), b"")
        }
        Step::Opaque(path) => archive.file(&format!("{path}/.wh..wh..opq"), b""),
    }
}

proptest! {
    #[test]
    fn layers_merge_as_a_naive_model_does(
        layers in proptest::collection::vec(proptest::collection::vec(step(), 1..12), 1..5)
    ) {
        let mut model = Model::default();
        let (mut archives, mut size) = (Vec::new(), 0);
        for steps in layers {
            model.own.clear();
            let mut archive = Archive::default();
            for step in steps {
                size += 1;
                let mut next = model.clone();
                if next.act(&step, size) {
                    model = next;
                    archive = archived(archive, &step, size);
                }
            }
            archives.push(archive);
        }
        let source = merged(archives).unwrap();
        let expected: Vec<String> = model
            .tree
            .iter()
            .map(|(path, size)| match size {
                Some(size) => format!("/{path} f{size}"),
                None => format!("/{path} d"),
            })
            .collect();
        let mut found = names(&source);
        found.sort();
        let mut expected = expected;
        expected.sort();
        prop_assert_eq!(found, expected);
    }
}
