//! Random trees and random answers, against what the answers mean.

use coldpress_format::Body;
use coldpress_image::{Choice, ExtractOptions};

use super::{names, run};
use crate::handmade::{self, Node, node};

/// Numbers that look random: the same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.0 >> 33) % limit
    }
}

/// A tree of directories and pipes, and for each path below the root an answer.
fn random_tree(random: &mut Random) -> (Vec<Node>, Vec<Choice>) {
    let mut nodes = vec![handmade::directory(1, 1, &[])];
    for number in 2..=12 + random.below(12) {
        let inside: Vec<usize> = (0..nodes.len())
            .filter(|index| matches!(nodes[*index].inode.body, Body::Directory(_)))
            .collect();
        let index = usize::try_from(random.below(inside.len() as u64)).unwrap();
        let parent = inside[index];
        let name = format!("n{number:02}").into_bytes();
        let place = nodes.len();
        nodes[parent].entries.push((name, place));
        let number = u32::try_from(number).unwrap();
        nodes.push(match random.below(2) {
            0 => handmade::directory(number, 1, &[]),
            _ => node(number, Body::Fifo),
        });
    }
    let answers = [Choice::Leave, Choice::Pass, Choice::Take, Choice::TakeAll];
    let answer = |_: &Node| answers[usize::try_from(random.below(4)).unwrap()];
    let choices = nodes.iter().map(answer).collect();
    (nodes, choices)
}

/// What the answers mean, said once more: the paths at and below a node.
fn expected(
    nodes: &[Node],
    choices: &[Choice],
    (path, index): (&str, usize),
    above: Choice,
    depth_left: usize,
) -> Vec<String> {
    let choice = match above {
        Choice::TakeAll => Choice::TakeAll,
        _ => choices[index],
    };
    let mut found = Vec::new();
    if choice == Choice::Leave {
        return found;
    }
    for (name, child) in nodes[index].entries.iter().filter(|_| depth_left > 0) {
        let name = str::from_utf8(name).unwrap();
        let path = format!("{path}/{name}");
        found.extend(expected(
            nodes,
            choices,
            (&path, *child),
            choice,
            depth_left - 1,
        ));
    }
    if choice >= Choice::Take || !found.is_empty() {
        found.push(path.to_owned());
    }
    found
}

#[test]
fn any_answers_about_any_tree_are_obeyed() {
    for seed in 0..60 {
        let mut random = Random(seed);
        let (nodes, mut choices) = random_tree(&mut random);
        let max_depth = usize::try_from(1 + random.below(4)).unwrap();
        // Nobody is asked about the root.
        choices[0] = Choice::Take;
        let choose = |visited: &coldpress_image::Visited| {
            let number = usize::try_from(visited.inode.number).unwrap();
            choices[number - 1]
        };
        let options = ExtractOptions {
            choose: Some(&choose),
            max_depth: Some(max_depth),
            ..ExtractOptions::default()
        };
        let scratch = tempfile::tempdir().unwrap();
        run(&nodes, scratch.path(), &options).unwrap();
        let mut expected = expected(&nodes, &choices, ("", 0), Choice::Take, max_depth);
        expected.sort();
        let found = names(scratch.path());
        let found: Vec<_> = found
            .split_whitespace()
            .map(|name| format!("/{name}"))
            .collect();
        let mut found = [vec![String::new()], found].concat();
        found.sort();
        assert_eq!(found, expected, "{seed}");
    }
}
