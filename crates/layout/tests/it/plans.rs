//! Random plans: of paths of a tree, of any paths, from random traces.

use coldpress_format::BlockSize;
use coldpress_layout::{BlockEncoding, EncodingRule, Plan, PlanItem, Tree, plan};
use coldpress_trace::{Access, Event, Profile, Trace};
use proptest::prelude::*;
use proptest::sample::Index;

use crate::trees::tree;

/// A path: one of the tree, or garbage.
#[derive(Clone, Debug)]
pub(crate) enum Name {
    OfTree(Index),
    Any(Vec<u8>),
}

impl Name {
    fn path(&self, paths: &[Vec<u8>]) -> Vec<u8> {
        match self {
            Self::OfTree(index) => paths[index.index(paths.len())].clone(),
            Self::Any(path) => path.clone(),
        }
    }
}

fn any_path() -> impl Strategy<Value = Vec<u8>> {
    let tail = prop_oneof![
        any::<String>().prop_map(String::into_bytes),
        prop::collection::vec(any::<u8>(), 0..8),
        "[a-d]{1,2}(/[a-d]{1,2}){0,2}/?".prop_map(String::into_bytes),
    ];
    tail.prop_map(|tail| [b"/", tail.as_slice()].concat())
}

fn name() -> impl Strategy<Value = Name> {
    prop_oneof![4 => any::<Index>().prop_map(Name::OfTree), 1 => any_path().prop_map(Name::Any)]
}

/// All paths of the tree, also the further names of hard links.
fn all_paths(tree: &Tree) -> Vec<Vec<u8>> {
    let first = tree.paths();
    let directories = tree.walk().filter(|(id, _)| tree.is_directory(*id));
    let children = directories.flat_map(|(id, _)| {
        let above = if id.0 == 0 {
            b""
        } else {
            first[id.index()].as_slice()
        };
        tree.entries(id)
            .iter()
            .map(move |(name, _)| [above, b"/", name].concat())
    });
    std::iter::once(b"/".to_vec()).chain(children).collect()
}

/// Some file's encoding: ranges in any order, overlapping, beyond the end.
fn rule() -> impl Strategy<Value = (Name, BlockEncoding, Vec<(u64, u64)>)> {
    let encoding = prop_oneof![
        Just(BlockEncoding::Default),
        Just(BlockEncoding::Stored),
        any::<i32>().prop_map(BlockEncoding::Level),
    ];
    let end = prop_oneof![3 => 0..9_u64, 1 => any::<u64>(), 1 => Just(u64::MAX)];
    let ranges = prop::collection::vec((0..9_u64, end), 0..4);
    (name(), encoding, ranges)
}

/// A tree, and a plan that names parts of it and things that do not exist, often repeatedly.
pub(crate) fn tree_and_garbage(block_size: BlockSize) -> impl Strategy<Value = (Tree, Plan)> {
    let names = || prop::collection::vec(name(), 0..20);
    let data = prop::collection::vec((any::<bool>(), prop::collection::vec(name(), 0..12)), 0..12);
    let lists = (data, names(), names(), prop::collection::vec(rule(), 0..8));
    (tree(block_size.bytes()), lists).prop_map(|(tree, (data, inodes, lists, rules))| {
        let paths = all_paths(&tree);
        let resolve = |names: &[Name]| {
            names
                .iter()
                .map(|name| name.path(&paths))
                .collect::<Vec<_>>()
        };
        let data = data.iter().flat_map(|(is_fragment, names)| {
            let paths = resolve(names);
            if *is_fragment {
                vec![PlanItem::Fragment(paths)]
            } else {
                paths.into_iter().map(PlanItem::Blocks).collect()
            }
        });
        let (inodes, directories) = (resolve(&inodes), resolve(&lists));
        let rule =
            |(name, encoding, ranges): &(Name, BlockEncoding, Vec<(u64, u64)>)| EncodingRule {
                path: name.path(&paths),
                encoding: *encoding,
                blocks: ranges
                    .iter()
                    .map(|&(first, last)| first..=last.max(first))
                    .collect(),
            };
        let plan = Plan {
            data: data.collect(),
            inodes,
            directories,
            encoding: rules.iter().map(rule).collect(),
        };
        (tree, plan)
    })
}

/// A tree and a trace of it, in which some paths do not exist and some pages lie behind the end.
pub(crate) fn tree_and_trace(block_size: BlockSize) -> impl Strategy<Value = (Tree, Trace)> {
    let pages = 0..u64::from(block_size.bytes() / 4096) * 6 + 2;
    let access = prop_oneof![
        (pages.clone(), 0_u64..4).prop_map(|(first_page, more)| {
            Access::Read {
                first_page,
                last_page: first_page + more,
            }
        }),
        pages.clone().prop_map(|page| Access::Fault { page }),
        pages.prop_map(|page| Access::Map {
            first_page: page,
            last_page: page | 15
        }),
        Just(Access::Lookup),
        Just(Access::List),
    ];
    let events = prop::collection::vec((access, name()), 0..80);
    (tree(block_size.bytes()), events).prop_map(|(tree, events)| {
        let paths = all_paths(&tree);
        let event = |(access, name): (Access, Name)| Event {
            time_us: 0,
            pid: 1,
            access,
            path: name.path(&paths),
        };
        let events = events.into_iter().map(event).collect();
        (
            tree,
            Trace {
                events,
                ..Trace::default()
            },
        )
    })
}

/// Every path of a plan's data.
pub(crate) fn data_paths(plan: &Plan) -> impl Iterator<Item = &Vec<u8>> {
    plan.data.iter().flat_map(|item| match item {
        PlanItem::Blocks(path) => std::slice::from_ref(path),
        PlanItem::Fragment(paths) => paths,
    })
}

fn text(plan: &Plan) -> Vec<u8> {
    let mut text = Vec::new();
    plan.write(&mut text).expect("paths are absolute");
    text
}

proptest! {
    #[test]
    fn any_plan_is_read_back_from_its_text((_, plan) in tree_and_garbage(BlockSize::MIN)) {
        let text = text(&plan);
        prop_assert!(str::from_utf8(&text).is_ok());
        prop_assert_eq!(Plan::parse(&text), Ok(plan));
    }

    #[test]
    fn damaged_text_is_an_error_or_another_plan_but_no_panic(
        (_, plan) in tree_and_garbage(BlockSize::MIN),
        at in any::<Index>(),
        junk in prop::collection::vec(any::<u8>(), 0..5),
        cut in 0_usize..5,
    ) {
        let mut text = text(&plan);
        let at = at.index(text.len());
        let end = (at + cut).min(text.len());
        text.splice(at..end, junk);
        if let Ok(other) = Plan::parse(&text) {
            prop_assert_eq!(Plan::parse(&self::text(&other)), Ok(other));
        }
    }

    #[test]
    fn a_recorded_plan_names_only_what_exists((tree, trace) in tree_and_trace(BlockSize::MIN)) {
        let plan = plan(&tree, &Profile::from(&trace), BlockSize::MIN);
        for path in data_paths(&plan) {
            prop_assert!(tree.find(path).is_some_and(|id| tree.file_size(id) > Some(0)));
        }
        prop_assert!(plan.inodes.iter().all(|path| tree.find(path).is_some()));
        let is_directory = |path: &Vec<u8>| tree.find(path).is_some_and(|id| tree.is_directory(id));
        prop_assert!(plan.directories.iter().all(is_directory));
        prop_assert_eq!(plan.inodes.first().map(Vec::as_slice), Some(&b"/"[..]));
        prop_assert_eq!(plan.directories.first().map(Vec::as_slice), Some(&b"/"[..]));
    }

    #[test]
    fn a_recorded_plan_has_directories_before_what_is_in_them(
        (tree, trace) in tree_and_trace(BlockSize::MIN),
    ) {
        let plan = plan(&tree, &Profile::from(&trace), BlockSize::MIN);
        for paths in [&plan.inodes, &plan.directories] {
            for (place, path) in paths.iter().enumerate().skip(1) {
                let slash = path.iter().rposition(|&byte| byte == b'/').unwrap_or(0);
                let parent = &path[..slash.max(1)];
                prop_assert!(paths[..place].iter().any(|path| path == parent));
            }
        }
    }
}
