//! Profiles: the example of docs/profile-format.md, merging, and random ones.

use std::collections::{BTreeMap, BTreeSet};

use coldpress_trace::{Access, FileIdentity, Header, Profile, Step, Trace, WorkingSet};
use proptest::prelude::*;

use crate::random;

const DOCUMENT: &str = include_str!("../../../../docs/profile-format.md");

fn example() -> &'static str {
    let (_, section) = DOCUMENT
        .split_once("\n## Example\n")
        .expect("section Example");
    let (_, block) = section.split_once("```text\n").expect("a block");
    block.split_once("```").expect("the block ends").0
}

fn text(profile: &Profile) -> String {
    let mut text = Vec::new();
    profile
        .write(&mut text)
        .expect("the profile keeps the rules");
    String::from_utf8(text).expect("profiles are UTF-8")
}

/// The lines of a profile below its header.
fn steps(profile: &Profile) -> Vec<String> {
    let text = text(profile);
    let lines = text.lines().skip(1).filter(|line| !line.starts_with('#'));
    lines.map(str::to_owned).collect()
}

fn trace(events: &str) -> Trace {
    let events = events
        .lines()
        .map(|event| format!("0 1 {}\n", event.trim()));
    let text = format!("coldpress-trace 1\n{}", events.collect::<String>());
    Trace::parse(text.as_bytes()).expect("it is a trace")
}

#[test]
fn the_example_of_the_document_is_read_and_written_back_identically() {
    let profile = Profile::parse(example().as_bytes()).expect("the example is a profile");
    assert_eq!(text(&profile), example());
}

#[test]
fn the_example_of_the_document_shows_every_kind_of_line() {
    let profile = Profile::parse(example().as_bytes()).expect("the example is a profile");
    let has = |is: fn(&Step) -> bool| profile.steps.iter().any(is);
    assert!(has(|step| step.access == Access::Lookup));
    assert!(has(|step| step.access == Access::List));
    assert!(has(|step| matches!(step.access, Access::Read { .. })));
    assert!(has(|step| matches!(step.access, Access::Map { .. })));
    assert!(has(|step| step.recordings == 2));
    assert!(profile.files.values().any(|file| file.hash.is_none()));
    assert!(profile.files.values().any(|file| file.hash.is_some()));
}

#[test]
fn the_merged_order_is_that_of_most_recordings() {
    let usual = "L /\nL /a\nL /b\nL /c\nL /d";
    let astray = "L /d\nL /\nL /a\nL /b\nL /c";
    let merged = Profile::merge(&[trace(usual), trace(astray), trace(usual)]);
    assert_eq!(merged.recordings, 3);
    assert_eq!(steps(&merged), ["L /", "L /a", "L /b", "L /c", "L /d"]);
}

#[test]
fn what_only_some_recordings_touched_is_kept_with_its_count() {
    let merged = Profile::merge(&[
        trace("L /\nR 0-3 /a\nF 9 /a"),
        trace("L /\nR 0-3 /a\nD /x"),
        trace("L /\nR 0-3 /a\nM 8-15 /a\nL /x/y"),
    ]);
    let expected = [
        "L /",
        // Page 9 is certain in one of the two recordings that had it.
        "R 0-3,8-15?*1,9*2 /a",
        "L *1 /x",
        "D *2 /x",
        "L *1 /x/y",
    ];
    assert_eq!(steps(&merged), expected);
    let set = |share| merged.working_set(share);
    assert_eq!(set(0.0).files[0].pages.len(), 4);
    assert_eq!(set(0.5).files[0].pages.len(), 2);
    assert_eq!(set(0.5).lookups, [&b"/"[..], b"/a", b"/x"]);
    assert_eq!(set(1.0).lookups, [&b"/"[..], b"/a"]);
}

#[test]
fn a_profile_counts_for_its_recordings_when_it_is_merged() {
    let (early, late) = ("L /x\nL /a\nL /b", "L /a\nL /b\nL /x");
    let two = Profile::merge(&[trace(late), trace(late)]);
    let all = Profile::combine(&[Profile::from(&trace(early)), two]);
    assert_eq!(all.recordings, 3);
    assert_eq!(steps(&all), ["L /a", "L /b", "L /x"]);
}

#[test]
fn header_lines_that_differ_are_all_kept_and_files_that_differ_are_not() {
    let profile = |kernel: &str, size_bytes| {
        let file = FileIdentity {
            size_bytes,
            hash: None,
        };
        let fields = [("kernel", kernel), ("command", "app")];
        Profile {
            recordings: 1,
            header: Header {
                fields: fields
                    .map(|(key, value)| (key.into(), value.into()))
                    .to_vec(),
            },
            files: BTreeMap::from([(b"/a".to_vec(), file)]),
            ..Profile::default()
        }
    };
    let (one, other) = (profile("6.1", 7), profile("6.18", 7));
    let merged = Profile::combine(&[other.clone(), one.clone()]);
    let fields: Vec<_> = merged
        .header
        .fields
        .iter()
        .map(|(_, value)| value.as_str())
        .collect();
    assert_eq!(fields, ["app", "6.1", "6.18"]);
    assert_eq!(merged.files.len(), 1);
    assert!(
        Profile::combine(&[one, other, profile("6.1", 8)])
            .files
            .is_empty()
    );
}

/// The order of a working set without its ranks.
fn order(set: &WorkingSet) -> impl PartialEq + std::fmt::Debug + use<> {
    let mut runs = Vec::new();
    for file in &set.files {
        let pages = file.pages.iter();
        runs.extend(pages.map(|run| {
            (
                run.rank,
                run.first_page,
                run.last_page,
                run.certain,
                &file.path,
            )
        }));
    }
    runs.sort_unstable();
    // Runs of one file that follow each other may be one.
    let mut pages: Vec<(u64, bool, Vec<u8>)> = Vec::new();
    for (_, first, last, certain, path) in runs {
        pages.extend((first..=last).map(|page| (page, certain, path.clone())));
    }
    let files: Vec<_> = set.files.iter().map(|file| file.path.clone()).collect();
    (pages, files, set.lookups.clone(), set.lists.clone())
}

fn small_trace() -> impl Strategy<Value = Trace> {
    let path = "/[ab](/[ab]){0,2}".prop_map(String::into_bytes);
    random::trace(path, 24)
}

fn profile() -> impl Strategy<Value = Profile> {
    let access = random::access(1 << 52).prop_map(|access| match access {
        Access::Fault { page } => Access::Read {
            first_page: page,
            last_page: page,
        },
        other => other,
    });
    let step = (access, any::<prop::sample::Index>(), random::path());
    let file = (any::<u64>(), any::<Option<[u8; 16]>>());
    let file = file.prop_map(|(size_bytes, hash)| FileIdentity { size_bytes, hash });
    let parts = (
        1..=u32::MAX,
        prop::collection::vec(("[a-z0-9-]{1,8}", any::<String>()), 0..4),
        prop::collection::vec(step, 0..40),
        prop::collection::btree_map(random::path(), file, 0..8),
    );
    parts.prop_map(|(recordings, fields, steps, files)| {
        let steps = steps.into_iter().map(|(access, index, path)| Step {
            access,
            recordings: 1 + u32::try_from(index.index(recordings as usize)).expect("below"),
            path,
        });
        Profile {
            recordings,
            header: Header { fields },
            steps: steps.collect(),
            files,
        }
    })
}

proptest! {
    #[test]
    fn any_profile_is_read_back_from_its_text(profile in profile()) {
        let text = text(&profile);
        prop_assert_eq!(Profile::parse(text.as_bytes()), Ok(profile));
    }

    #[test]
    fn damaged_text_is_an_error_or_another_profile_but_no_panic(
        profile in profile(),
        at in any::<prop::sample::Index>(),
        junk in prop::collection::vec(any::<u8>(), 0..5),
        cut in 0_usize..5,
    ) {
        let mut text = text(&profile).into_bytes();
        let at = at.index(text.len());
        let end = (at + cut).min(text.len());
        text.splice(at..end, junk);
        if let Ok(other) = Profile::parse(&text) {
            let again = self::text(&other);
            prop_assert_eq!(Profile::parse(again.as_bytes()), Ok(other.clone()));
            let both = Profile::combine(&[other.clone(), other]);
            prop_assert!(both.write(&mut Vec::new()).is_ok());
        }
    }

    #[test]
    fn the_profile_of_a_trace_has_its_working_set(trace in small_trace()) {
        let profile = Profile::merge(std::slice::from_ref(&trace));
        prop_assert_eq!(order(&profile.working_set(1.0)), order(&trace.working_set()));
    }

    #[test]
    fn merged_recordings_have_what_any_of_them_touched_and_count_it(
        traces in prop::collection::vec(small_trace(), 2..5),
    ) {
        let merged = Profile::merge(&traces);
        let sets: Vec<_> = traces.iter().map(Trace::working_set).collect();
        let all = |paths: fn(&WorkingSet) -> &Vec<Vec<u8>>| {
            sets.iter().flat_map(paths).cloned().collect::<BTreeSet<_>>()
        };
        let set = merged.working_set(0.0);
        let touched = |paths: &Vec<Vec<u8>>| paths.iter().cloned().collect::<BTreeSet<_>>();
        prop_assert!(touched(&set.lookups).is_superset(&all(|set| &set.lookups)));
        prop_assert!(touched(&set.lists).is_superset(&all(|set| &set.lists)));
        prop_assert_eq!(pages(std::slice::from_ref(&set)), pages(&sets));
        for (share, count) in [(1.0, traces.len()), (0.5, traces.len().div_ceil(2))] {
            let certain = pages(&[merged.working_set(share)]).into_iter().filter(|page| page.2);
            for (path, page, _) in certain {
                let touching = sets.iter().filter(|set| {
                    let file = set.files.iter().find(|file| file.path == path);
                    file.is_some_and(|file| file.touches(page..=page).is_some())
                });
                prop_assert!(touching.count() >= count);
            }
        }
    }

    #[test]
    fn the_order_of_the_recordings_does_not_matter(
        mut traces in prop::collection::vec(small_trace(), 2..5),
    ) {
        let merged = Profile::merge(&traces);
        traces.reverse();
        prop_assert_eq!(Profile::merge(&traces), merged);
    }

    #[test]
    fn merging_one_after_the_other_keeps_what_was_touched(
        traces in prop::collection::vec(small_trace(), 3..4),
    ) {
        let at_once = Profile::merge(&traces);
        let (first, rest) = traces.split_at(2);
        let last = rest.iter().map(Profile::from);
        let stepwise: Vec<_> = [Profile::merge(first)].into_iter().chain(last).collect();
        let stepwise = Profile::combine(&stepwise);
        prop_assert_eq!(stepwise.recordings, at_once.recordings);
        let set = |profile: &Profile| pages(&[profile.working_set(0.0)]);
        prop_assert_eq!(set(&stepwise), set(&at_once));
    }
}

/// Each page that any of the sets has, and whether it is certain in any.
fn pages(sets: &[WorkingSet]) -> BTreeSet<(Vec<u8>, u64, bool)> {
    let mut pages = BTreeMap::new();
    for file in sets.iter().flat_map(|set| &set.files) {
        for run in &file.pages {
            for page in run.first_page..=run.last_page {
                *pages.entry((file.path.clone(), page)).or_default() |= run.certain;
            }
        }
    }
    let pages = pages.into_iter();
    pages
        .map(|((path, page), is_certain)| (path, page, is_certain))
        .collect()
}
