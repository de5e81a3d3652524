//! Recordings of other tools.

use coldpress_trace::Trace;
use coldpress_trace::import::{Device, Format, Inodes, Part, Settled, detect, devices, read};

/// Every format; the first byte chooses one of them, or what the rest looks like.
const FORMATS: [Format; 9] = [
    Format::Strace,
    Format::Etrace,
    Format::List,
    Format::Opensnoop,
    Format::Nydus,
    Format::Estargz,
    Format::Ureadahead,
    Format::PerfScript,
    Format::PerfTrace,
];

/// A recording that is read becomes a trace that can be written and read again.
pub(crate) fn import(data: &[u8]) {
    let Some((choice, text)) = data.split_first() else {
        return;
    };
    let chosen = FORMATS.get(usize::from(choice % 16)).copied();
    let Some(format) = chosen.or_else(|| detect(text)) else {
        return;
    };
    let device = devices(text).into_iter().next();
    let mut path_of = |inode: u64| {
        inode
            .is_multiple_of(2)
            .then(|| format!("/{inode}").into_bytes())
    };
    let inodes = Inodes {
        device: device.unwrap_or(Device { major: 7, minor: 0 }),
        path_of: &mut path_of,
    };
    let Ok(mut imported) = read(&[Part { text, pid: None }], format, Some(inodes)) else {
        return;
    };
    imported.strip(b"/");
    let trace = imported.into_trace(|path, follows| Settled {
        path: path.to_vec(),
        size_bytes: follows.then_some(path.len() as u64 * 1000),
        ..Settled::default()
    });
    let mut written = Vec::new();
    trace
        .write(&mut written)
        .expect("what was imported can be written");
    assert_eq!(Trace::parse(&written).as_ref(), Ok(&trace));
}
