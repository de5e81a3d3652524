use super::*;
use crate::image_map::tests::example;

/// Replays accesses of files of the example: index, access.
fn replayed(accesses: &[(usize, Access)]) -> Replay {
    let map = example();
    let mut reader = Reader {
        map: &map,
        caches: CacheSizes::default(),
        cached: HashMap::new(),
        fragments: VecDeque::new(),
        replay: Replay::default(),
    };
    for &(file, access) in accesses {
        let event = Event {
            time_us: 0,
            pid: 1,
            access,
            path: Vec::new(),
        };
        let pages = access.pages().unwrap();
        reader.access(&event, file, pages);
    }
    reader.replay
}

fn reads(replay: &Replay) -> Vec<u64> {
    let reads = replay.events.iter().filter_map(|event| match event.kind {
        RawKind::DeviceRead { start_byte, .. } => Some(start_byte),
        _ => None,
    });
    reads.collect()
}

#[test]
fn each_block_is_read_when_a_page_of_it_is_first_needed() {
    let window = |first_page, last_page| Access::Map {
        first_page,
        last_page,
    };
    let read = |first_page, last_page| Access::Read {
        first_page,
        last_page,
    };
    for (what, accesses, expected) in [
        ("a page", vec![(0, Access::Fault { page: 5 })], &[9_096][..]),
        ("twice", vec![(0, read(0, 0)), (0, read(3, 3))], &[4_096]),
        (
            "all, and more than there is",
            vec![(0, read(0, 1_000))],
            &[4_096, 9_096, 20_000],
        ),
        ("past the end", vec![(0, read(9, 20))], &[]),
        ("a window", vec![(0, window(0, 8))], &[4_096]),
        (
            "a window with something in it",
            vec![(0, Access::Fault { page: 4 }), (0, window(0, 8))],
            &[9_096],
        ),
        ("a hole", vec![(2, Access::Fault { page: 5 })], &[]),
        (
            "a shared block, for each file",
            vec![(0, read(0, 0)), (2, read(0, 0))],
            &[4_096, 4_096],
        ),
    ] {
        let replay = replayed(&accesses);
        assert_eq!(reads(&replay), expected, "{what}");
        assert_eq!(replay.counters.reads, expected.len() as u64, "{what}");
    }
}

#[test]
fn a_trace_of_a_real_image_names_what_is_missing_once() {
    let bytes: &'static [u8] = include_bytes!("../../../image/tests/it/small-image");
    let image = Image::new(Box::new(bytes)).unwrap();
    let go_on = &mut || std::ops::ControlFlow::Continue(());
    let map = ImageMap::new(&image, Box::new(bytes), go_on).unwrap();
    let event = |path: &[u8], access| Event {
        time_us: 0,
        pid: 1,
        access,
        path: path.to_vec(),
    };
    let fault = Access::Fault { page: 0 };
    let trace = Trace {
        events: vec![
            event(b"/greeting", fault),
            event(b"/none", fault),
            event(b"/none", fault),
            event(b"/", Access::List),
            event(b"/", fault),
        ],
        ..Trace::default()
    };
    let replay = replay(&image, &map, &trace, CacheSizes::default()).unwrap();
    assert_eq!(replay.missing, [&b"/none"[..], b"/"]);
    assert_eq!(reads(&replay).len(), 1);
}
