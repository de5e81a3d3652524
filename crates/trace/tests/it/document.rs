//! The example of docs/trace-format.md is a trace.

use coldpress_trace::{Access, Trace};

const DOCUMENT: &str = include_str!("../../../../docs/trace-format.md");

fn example() -> &'static str {
    let (_, section) = DOCUMENT
        .split_once("\n## Example\n")
        .expect("section Example");
    let (_, block) = section.split_once("```text\n").expect("a block");
    block.split_once("```").expect("the block ends").0
}

#[test]
fn the_example_of_the_document_is_read_and_written_back_identically() {
    let trace = Trace::parse(example().as_bytes()).expect("the example is a trace");
    let mut text = Vec::new();
    trace.write(&mut text).expect("a vector takes all");
    assert_eq!(str::from_utf8(&text), Ok(example()));
}

#[test]
fn the_example_of_the_document_shows_every_kind_of_event_and_a_header() {
    let trace = Trace::parse(example().as_bytes()).expect("the example is a trace");
    let has = |is: fn(&Access) -> bool| trace.events.iter().any(|event| is(&event.access));
    assert!(has(|access| matches!(access, Access::Read { .. })));
    assert!(has(|access| matches!(access, Access::Fault { .. })));
    assert!(has(|access| matches!(access, Access::Map { .. })));
    assert!(has(|access| matches!(access, Access::Lookup)));
    assert!(has(|access| matches!(access, Access::List)));
    assert_eq!(trace.header.find("page-size"), Some("4096"));
    assert_eq!(trace.header.find("lost-events"), Some("0"));
    assert_eq!(trace.header.find("weather"), None);
}

#[test]
fn the_document_lists_every_key_of_the_example() {
    let trace = Trace::parse(example().as_bytes()).expect("the example is a trace");
    for (key, _) in &trace.header.fields {
        assert!(DOCUMENT.contains(&format!("| `{key}` |")), "{key}");
    }
}
