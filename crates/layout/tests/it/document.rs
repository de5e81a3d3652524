//! The example of docs/plan-format.md is a plan.

use coldpress_layout::{Plan, PlanItem};

const DOCUMENT: &str = include_str!("../../../../docs/plan-format.md");

fn example() -> &'static str {
    let (_, section) = DOCUMENT
        .split_once("\n## Example\n")
        .expect("section Example");
    let (_, block) = section.split_once("```text\n").expect("a block");
    block.split_once("```").expect("the block ends").0
}

#[test]
fn the_example_of_the_document_is_read_and_written_back_identically() {
    let plan = Plan::parse(example().as_bytes()).expect("the example is a plan");
    let mut text = Vec::new();
    plan.write(&mut text).expect("a vector takes all");
    assert_eq!(str::from_utf8(&text), Ok(example()));
}

#[test]
fn the_example_of_the_document_shows_every_section_and_item() {
    let plan = Plan::parse(example().as_bytes()).expect("the example is a plan");
    assert!(
        plan.data
            .iter()
            .any(|item| matches!(item, PlanItem::Blocks(_)))
    );
    let is_shared = |item: &PlanItem| matches!(item, PlanItem::Fragment(paths) if paths.len() > 1);
    assert!(plan.data.iter().any(is_shared));
    assert!(!plan.inodes.is_empty() && !plan.directories.is_empty());
    assert!(plan.encoding.iter().any(|rule| rule.blocks.len() > 1));
}
