//! Orders of hand-written plans, by example.

use std::sync::Arc;

use coldpress_format::BlockSize;
use coldpress_layout::{Item, Kind, Node, NodeId, Order, Plan, Tails, Tree, order};

/// A root with files whose names are letters from `a` on.
fn flat(sizes_bytes: &[u64]) -> Tree {
    let node = |kind| Node {
        kind,
        mode: 0o644,
        uid: 0,
        gid: 0,
        mtime_s: 0,
        xattrs: Arc::default(),
    };
    let entries = (b'a'..)
        .zip((1..).map(NodeId))
        .map(|(letter, id)| (vec![letter], id));
    let entries = entries.take(sizes_bytes.len()).collect();
    let files = sizes_bytes
        .iter()
        .map(|&size_bytes| node(Kind::File { size_bytes }));
    let nodes = std::iter::once(node(Kind::Directory { entries }))
        .chain(files)
        .collect();
    Tree {
        nodes,
        ..Tree::default()
    }
}

/// The data of an order as text: `a` for blocks, `(ab)` for a fragment, `|` behind the plan's.
fn spell(order: &Order) -> String {
    let letter = |id: &NodeId| char::from(b'a' - 1 + u8::try_from(id.0).expect("few"));
    let spell = |item: &Item| match item {
        Item::Blocks(id) => letter(id).to_string(),
        Item::Fragment(ids) => format!("({})", ids.iter().map(letter).collect::<String>()),
    };
    let (hot, cold) = order.data.split_at(order.hot_items);
    let [hot, cold] = [hot, cold].map(|items| items.iter().map(spell).collect::<String>());
    format!("{hot}|{cold}")
}

/// What, sizes of files, data of the plan, orders with `Tails::None`, `Small` and `All`.
type Case = (
    &'static str,
    &'static [u64],
    &'static str,
    [&'static str; 3],
);

const CASES: &[Case] = &[
    ("nothing", &[], "", ["|", "|", "|"]),
    (
        "empty files have no data",
        &[0, 0],
        "blocks /a\nfragment\n /b",
        ["|", "|", "|"],
    ),
    (
        "cold fragments stand behind their last member",
        &[3000, 4096, 1000, 5000, 8192, 3500, 4096],
        "",
        ["|abcdefg", "|b(ac)de(f)g", "|b(ac)d(d)e(f)g"],
    ),
    (
        "hot first",
        &[9000, 50, 4096],
        "blocks /c\nfragment\n /b",
        ["cb|a", "c(b)|a", "c(b)|a(a)"],
    ),
    (
        "a hot tail of a large file",
        &[9000, 50],
        "fragment\n /b\n /a\nblocks /a",
        ["ba|", "(ba)a|", "(ba)a|"],
    ),
    (
        "a hot tail, cold blocks",
        &[9000, 50],
        "fragment\n /a",
        ["a|b", "(a)|a(b)", "(a)|a(b)"],
    ),
    (
        "a fragment that grew is split",
        &[3000, 3000, 50],
        "fragment\n /a\n /b\n /c",
        ["abc|", "(a)(bc)|", "(a)(bc)|"],
    ),
    (
        "two fragments are not joined",
        &[30, 30],
        "fragment\n /a\nfragment\n /b",
        ["ab|", "(a)(b)|", "(a)(b)|"],
    ),
    (
        "repeats",
        &[5000, 50],
        "blocks /a\nblocks /a\nfragment\n /b\n /b\nfragment\n /b",
        ["ab|", "a(b)|", "a(b)|(a)"],
    ),
    (
        "a short file as blocks",
        &[50, 60],
        "blocks /b",
        ["b|a", "b|(a)", "b|(a)"],
    ),
    (
        "a short file as blocks and in a fragment",
        &[50, 60],
        "blocks /b\nfragment\n /a\n /b",
        ["ba|", "(ab)|", "(ab)|"],
    ),
    (
        "a file that lost its tail",
        &[4096, 50],
        "fragment\n /a\n /b",
        ["b|a", "(b)|a", "(b)|a"],
    ),
    (
        "gone",
        &[50],
        "blocks /z\nfragment\n /y\n /",
        ["|a", "|(a)", "|(a)"],
    ),
];

#[test]
fn plans_are_completed_as_documented() {
    for (what, sizes_bytes, data, expected) in CASES {
        let plan = format!("coldpress-plan 1\n[data]\n{data}\n");
        let plan = Plan::parse(plan.as_bytes()).expect(what);
        for (tails, expected) in [Tails::None, Tails::Small, Tails::All]
            .into_iter()
            .zip(expected)
        {
            let (order, _) = order(&flat(sizes_bytes), &plan, BlockSize::MIN, tails);
            assert_eq!(spell(&order), *expected, "{what}, {tails:?}");
        }
    }
}

#[test]
fn paths_that_match_nothing_come_back_once_in_the_order_of_the_plan() {
    let text = b"coldpress-plan 1\n[data]\nblocks /z\nblocks /\nfragment\n /a\n /y\n /z\n\
        [inodes]\n/\n/y\n/x\n[directories]\n/a\n/w\n";
    let plan = Plan::parse(text).expect("a plan");
    let (_, unmatched) = order(&flat(&[1]), &plan, BlockSize::MIN, Tails::Small);
    let expected: [&[u8]; 6] = [b"/z", b"/", b"/y", b"/x", b"/a", b"/w"];
    assert_eq!(unmatched, expected);
}

#[test]
fn a_duplicate_has_no_place_of_its_own_and_fills_no_fragment_block() {
    let mut tree = flat(&[3000, 3000, 3000, 1000, 5000, 5000]);
    tree.duplicates = [(2, 1), (3, 1), (6, 5)]
        .map(|(a, b)| (NodeId(a), NodeId(b)))
        .into();
    let cases = [
        ("", "|(ad)e"),
        ("fragment\n /c\n /d\nblocks /f", "(ad)e|"),
        ("blocks /f\nfragment\n /b\nfragment\n /c\n /d", "e(a)(d)|"),
    ];
    for (data, expected) in cases {
        let plan = format!("coldpress-plan 1\n[data]\n{data}\n");
        let plan = Plan::parse(plan.as_bytes()).unwrap();
        let (order, unmatched) = order(&tree, &plan, BlockSize::MIN, Tails::Small);
        assert_eq!(
            (spell(&order).as_str(), unmatched.len()),
            (expected, 0),
            "{data}"
        );
    }
}

#[test]
fn what_the_image_has_already_gets_no_place() {
    let mut tree = flat(&[5000, 50, 5000, 50, 5000, 60]);
    tree.first_kept = Some(NodeId(5));
    // `c` and `d` are duplicates of what is there.
    tree.duplicates = [(3, 5), (4, 6)].map(|(a, b)| (NodeId(a), NodeId(b))).into();
    let plan = b"coldpress-plan 1\n[data]\nblocks /e\nfragment\n /f\n";
    let plan = Plan::parse(plan).unwrap();
    let placed = [Tails::None, Tails::Small, Tails::All]
        .map(|tails| spell(&order(&tree, &plan, BlockSize::MIN, tails).0));
    assert_eq!(placed, ["|ab", "|a(b)", "|a(ab)"]);
}
