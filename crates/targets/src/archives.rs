//! What becomes of archives, and of logs that name their entries.

use std::ops::ControlFlow;

use coldpress_archive::{Archive, Layout, Settings, StartLog, Storing, Zip};

/// Reads an archive, and writes it again in another order in each layout: it holds what it held.
pub(crate) fn zip(data: &[u8]) {
    let source = data.to_vec();
    let Ok(Some(archive)) = Archive::read(&source) else {
        return;
    };
    let parts = archive.parts();
    assert!(parts.iter().all(|part| part.range.end <= data.len() as u64));
    // Every second one, from the last to the first.
    let hot: Vec<usize> = (0..parts.len()).rev().step_by(2).collect();
    let poll = &mut |_| ControlFlow::Continue(());
    match &archive {
        Archive::Jimage(_) => {}
        Archive::Asar(asar) => {
            let mut new = Vec::new();
            let written = asar.write(&source, &hot, &mut new, poll);
            written.expect("bytes in memory are read and written");
            let again = Archive::read(&new)
                .expect("it is sound")
                .expect("it is one");
            assert_eq!(again.parts().len(), parts.len());
        }
        Archive::Zip(zip) => {
            zip.findings(&source).expect("bytes in memory are read");
            for layout in [Layout::Gecko, Layout::Double, Layout::Tail] {
                for storing in [Storing::Nothing, Storing::All] {
                    let align_bytes = 4 * u64::from(storing == Storing::All);
                    let settings = Settings {
                        layout,
                        storing,
                        align_bytes,
                        takes_signed: true,
                    };
                    write_again(zip, &source, &hot, settings);
                }
            }
        }
    }
}

fn write_again(zip: &Zip, source: &[u8], hot: &[usize], settings: Settings) {
    let Ok(arrangement) = zip.arrange(&source, hot, settings) else {
        return;
    };
    let mut new = Vec::new();
    let poll = &mut |_| ControlFlow::Continue(());
    if zip.write(&source, &arrangement, &mut new, poll).is_err() {
        // What is to be decompressed may be damaged.
        assert_eq!(settings.storing, Storing::All);
        return;
    }
    // What stands around the entries may look like an end record at its new place.
    if let Ok(Some(again)) = Zip::read(&new) {
        zip.compare(&source, &again, &new)
            .expect("it holds the same");
    }
}

/// Reads a log, and looks for the entries that it names.
pub(crate) fn start_log(data: &[u8]) {
    let log = StartLog::parse(data);
    let names: [&[u8]; 4] = [b"a", b"a/b.class", b"a/__init__.py", b"BOOT-INF/lib/x.jar"];
    for archive in log.archives() {
        let (used, _) = log.used(&archive, &names);
        assert!(used.iter().all(|place| *place < names.len()));
    }
    log.used(b"/usr/lib/app.jar", &names);
}
