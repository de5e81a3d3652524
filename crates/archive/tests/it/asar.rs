//! Archives of Electron.

use std::ops::ControlFlow;

use coldpress_archive::{Asar, Error};

const HEADER: &str = r#"{"files":{"z":{"files":{"b.js":{"size":3,"offset":"0","executable":true},
"l":{"link":"z/b.js"}}},"a.js":{"offset":"3","size":12,"integrity":{"hash":"x"}},
"n.node":{"size":9,"unpacked":true},"empty":{"size":0,"offset":"15"},
"c":{"size":2,"offset":"15"}}}"#;

fn asar(header: &str, data: &[u8]) -> Vec<u8> {
    let len = u32::try_from(header.len()).expect("small");
    let padded = len.next_multiple_of(4);
    let mut file = Vec::new();
    for field in [4, padded + 8, padded + 4, len] {
        file.extend(field.to_le_bytes());
    }
    file.extend(header.as_bytes());
    file.resize(16 + padded as usize, 0);
    file.extend(data);
    file
}

fn read(file: &[u8]) -> Result<Asar, Error> {
    Ok(Asar::read(&file)?.expect("it is an asar archive"))
}

fn ordered(file: &[u8], hot: &[usize]) -> Vec<u8> {
    let mut out = Vec::new();
    let poll = &mut |_| ControlFlow::Continue(());
    let (_, len) = read(file)
        .and_then(|asar| asar.write(&file, hot, &mut out, poll))
        .expect("sound");
    assert_eq!(len, out.len() as u64);
    out
}

fn contents(file: &[u8]) -> Vec<(String, Vec<u8>)> {
    let files = read(file).expect("it is sound").files.into_iter();
    let content = files.map(|part| {
        let range = usize::try_from(part.range.start).expect("small")
            ..usize::try_from(part.range.end).expect("small");
        (
            String::from_utf8(part.name).expect("it is text"),
            file[range].to_vec(),
        )
    });
    content.collect()
}

#[test]
fn files_of_the_start_come_first_and_nothing_else_changes() {
    let file = asar(HEADER, b"bbbaaaaaaaaaaaacc");
    let new = ordered(&file, &[3, 1]);
    assert_eq!(contents(&new), contents(&file));
    assert!(new.ends_with(b"ccaaaaaaaaaaaabbb"));
    let text = String::from_utf8_lossy(&new);
    assert!(
        text.contains(r#"{"files":{"z":{"files":{"b.js":{"size":3,"offset":"14","exec"#),
        "{text}"
    );
    assert!(
        ordered(&new, &[3, 1]) == new,
        "ordered twice is ordered once"
    );
}

#[test]
fn damaged_headers_are_refused() {
    for (header, expected) in [
        (
            r#"{"files":{"a":{"size":9,"offset":"0"}}}"#,
            "takes 9 bytes, but only 4 are there",
        ),
        (
            r#"{"files":{"a":{"size":3,"offset":"0"},"b":{"size":3,"offset":"1"}}}"#,
            "begins at byte",
        ),
        (
            r#"{"files":{"a":{"size":3}}}"#,
            "`a` states no position or no length",
        ),
        (r#"{"files":["#, "no JSON object of files"),
    ] {
        let error = read(&asar(header, b"1234"))
            .expect_err("it is damaged")
            .to_string();
        assert!(error.contains(expected), "{error}");
    }
    let deep = format!("{}{}", r#"{"files":{"a":"#.repeat(1000), "}}".repeat(1000));
    read(&asar(&deep, b"")).expect_err("it is too deep");
}
