//! Random traces survive their file; random text never makes the parser panic.

use std::collections::BTreeMap;

use coldpress_trace::{Access, Event, Header, Trace};
use proptest::prelude::*;

pub(crate) fn access(page_max: u64) -> impl Strategy<Value = Access> {
    prop_oneof![
        (0..page_max, 0..page_max).prop_map(|(a, b)| {
            Access::Read {
                first_page: a.min(b),
                last_page: a.max(b),
            }
        }),
        (0..page_max).prop_map(|page| Access::Fault { page }),
        (0..page_max, 0..page_max).prop_map(|(a, b)| {
            Access::Map {
                first_page: a.min(b),
                last_page: a.max(b),
            }
        }),
        Just(Access::Lookup),
        Just(Access::List),
    ]
}

pub(crate) fn path() -> impl Strategy<Value = Vec<u8>> {
    let text = any::<String>().prop_map(String::into_bytes);
    let bytes = prop::collection::vec(any::<u8>(), 0..12);
    prop_oneof![text, bytes].prop_map(|tail| [b"/".as_slice(), tail.as_slice()].concat())
}

pub(crate) fn trace(
    path: impl Strategy<Value = Vec<u8>>,
    page_max: u64,
) -> impl Strategy<Value = Trace> {
    let event = (0_u64..1000, any::<u32>(), access(page_max), path);
    let field = ("[a-z0-9-]{1,8}", any::<String>());
    let parts = (
        prop::collection::vec(field, 0..4),
        prop::collection::vec(event, 0..40),
    );
    parts.prop_map(|(fields, events)| {
        let mut time_us = 0;
        let events = events
            .into_iter()
            .map(|(wait_us, pid, access, path)| {
                time_us += wait_us;
                Event {
                    time_us,
                    pid,
                    access,
                    path,
                }
            })
            .collect();
        Trace {
            header: Header { fields },
            events,
        }
    })
}

fn text(trace: &Trace) -> Vec<u8> {
    let mut text = Vec::new();
    trace.write(&mut text).expect("the trace keeps the rules");
    text
}

proptest! {
    #[test]
    fn any_trace_is_read_back_from_its_text(trace in trace(path(), 1 << 52)) {
        let text = text(&trace);
        prop_assert!(str::from_utf8(&text).is_ok());
        prop_assert_eq!(Trace::parse(&text), Ok(trace));
    }

    #[test]
    fn damaged_text_is_an_error_or_another_trace_but_no_panic(
        trace in trace(path(), 1 << 52),
        at in any::<prop::sample::Index>(),
        junk in prop::collection::vec(any::<u8>(), 0..5),
        cut in 0_usize..5,
    ) {
        let mut text = text(&trace);
        let at = at.index(text.len());
        let end = (at + cut).min(text.len());
        text.splice(at..end, junk);
        if let Ok(other) = Trace::parse(&text) {
            prop_assert_eq!(Trace::parse(&self::text(&other)), Ok(other));
        }
    }

    #[test]
    fn a_working_set_says_of_each_page_what_the_events_say(
        trace in trace("/[ab](/[ab]){0,2}".prop_map(String::into_bytes), 24),
    ) {
        let set = trace.working_set();
        let mut last_rank = None;
        for file in &set.files {
            prop_assert!(last_rank < Some(file.first_rank));
            last_rank = Some(file.first_rank);
            let mut found = BTreeMap::new();
            for run in &file.pages {
                for page in run.first_page..=run.last_page {
                    prop_assert_eq!(found.insert(page, (run.certain, run.rank)), None);
                }
            }
            prop_assert_eq!(&found, &pages(&trace, &file.path));
            let first_certain = found.values().filter(|page| page.0).map(|page| page.1).min();
            let first = found.values().map(|page| page.1).min();
            prop_assert_eq!(Some(file.first_rank), first_certain.or(first));
        }
        let accessed = trace.events.iter().filter(|event| event.access.pages().is_some());
        for event in accessed {
            prop_assert!(set.files.iter().any(|file| file.path == event.path));
        }
    }
}

/// Each touched page of a file with its certainty and rank, by the definition.
fn pages(trace: &Trace, path: &[u8]) -> BTreeMap<u64, (bool, u64)> {
    let mut pages = BTreeMap::new();
    for (event, rank) in trace.events.iter().zip(0..) {
        let Some((first, last)) = event.access.pages().filter(|_| event.path == path) else {
            continue;
        };
        for page in first..=last {
            let known = pages
                .entry(page)
                .or_insert((event.access.is_certain(), rank));
            if event.access.is_certain() && !known.0 {
                *known = (true, rank);
            }
        }
    }
    pages
}
