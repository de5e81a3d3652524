//! Pseudo files: lines, comments, data.

use std::fs::File;
use std::io::{Seek as _, Write as _};
use std::path::Path;

use super::*;

pub(super) fn read(text: &[u8]) -> Result<Pseudo, Error> {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(text).unwrap();
    file.rewind().unwrap();
    let mut pseudo = Pseudo::new(std::env::temp_dir());
    pseudo.read(file, Path::new("x.pf"), &LOOKUP)?;
    Ok(pseudo)
}

#[test]
fn lines_are_joined_and_comments_left_out() {
    let text =
        b"\n \t\n# comment \\\ngoes on\na d \\\n755 \\\n0 0\n  b s 777 0 0 x\\\\\nc d 755 0 0\\";
    let pseudo = read(text).unwrap();
    let places: Vec<String> = pseudo
        .definitions
        .iter()
        .map(|definition| format!("{} {}", definition.path.escape_ascii(), definition.place))
        .collect();
    assert_eq!(
        places,
        ["a `x.pf` line 5", "b `x.pf` line 8", "c `x.pf` line 9"]
    );
    let Action::Add { object, .. } = &pseudo.definitions[1].action else {
        panic!()
    };
    let target = b"x\\\\".to_vec();
    assert_eq!(*object, Object::Symlink { target });
}

#[test]
fn data_begins_after_the_marker() {
    let head = b"a R 1 644 0 0 3 2 0\n#\n# START OF DATA - DO NOT MODIFY\n#\n";
    let text = [head.as_slice(), b"01234"].concat();
    let pseudo = read(&text).unwrap();
    assert_eq!(pseudo.data[0].start_bytes, head.len() as u64);
    assert_eq!(pseudo.data[0].len_bytes, 5);
    let cases: [(&[u8], &str); 4] = [
        (
            &text[..text.len() - 1],
            "`x.pf` line 1: `x.pf` ends before the data",
        ),
        (
            b"a R 1 644 0 0 3 2 0\n",
            "`x.pf` line 1: `x.pf` has no line `# START",
        ),
        (
            b"# START OF DATA - DO NOT MODIFY\nab",
            "`x.pf` line 1, column 32: found `ab`, expected a line `#`",
        ),
        (
            b"\na e 1",
            "`x.pf` line 2, column 3: found `e`, expected a type",
        ),
    ];
    for (text, expected) in cases {
        let error = read(text).unwrap_err().to_string();
        assert!(error.starts_with(expected), "{error}");
    }
}

#[test]
fn data_from_a_pipe_is_copied() {
    let (reader, mut writer) = std::io::pipe().unwrap();
    let text = b"a R 1 644 0 0 3 2 0\n# START OF DATA - DO NOT MODIFY\n#\n01234";
    writer.write_all(text).unwrap();
    drop(writer);
    let file = File::from(std::os::fd::OwnedFd::from(reader));
    let scratch = tempfile::tempdir().unwrap();
    let mut pseudo = Pseudo::new(scratch.path().to_path_buf());
    pseudo.read(file, Path::new("-"), &LOOKUP).unwrap();
    assert_eq!(
        (pseudo.data[0].start_bytes, pseudo.data[0].len_bytes),
        (0, 5)
    );
    assert!(scratch.path().read_dir().unwrap().next().is_none());
}

#[test]
fn a_line_without_end_is_refused() {
    for text in [vec![b'a'; 3 << 20], b"a\\\n".repeat(2 << 20)] {
        let error = read(&text).unwrap_err().to_string();
        assert!(error.contains("column 1048577"), "{error}");
    }
}
