//! The rest of a `glob` line.

use super::{
    Malformed, OWNER_EXPECTED, PackGlob, PackPattern, Words, file_name, number, quoted, rest,
};

/// Parses what follows the path.
pub(super) fn glob(words: &mut Words<'_>) -> Result<PackGlob, Malformed> {
    let mut glob = PackGlob {
        mode: unless_star(words, mode)?,
        uid: unless_star(words, owner)?,
        gid: unless_star(words, owner)?,
        types: Vec::new(),
        one_file_system: false,
        keep_time: false,
        recursive: true,
        pattern: None,
        location: None,
    };
    while option(words, &mut glob)? {}
    let location = rest(words)?;
    glob.location = (!location.is_empty()).then(|| file_name(&location));
    Ok(glob)
}

/// A value, or `*` for that of each file.
fn unless_star<T>(
    words: &mut Words<'_>,
    value: impl FnOnce(&mut Words<'_>) -> Result<T, Malformed>,
) -> Result<Option<T>, Malformed> {
    let start = words.offset();
    if words.word().bytes == b"*" {
        return Ok(None);
    }
    words.seek(start);
    value(words).map(Some)
}

fn mode(words: &mut Words<'_>) -> Result<u16, Malformed> {
    words.mode()
}

fn owner(words: &mut Words<'_>) -> Result<u32, Malformed> {
    let word = words.word();
    let id = number(word.bytes, 10).and_then(|id| u32::try_from(id).ok());
    id.ok_or_else(|| words.wrong(word, OWNER_EXPECTED))
}

/// Reads the next option; returns whether there was one that another may follow.
fn option(words: &mut Words<'_>, glob: &mut PackGlob) -> Result<bool, Malformed> {
    words.skip_spaces();
    if words.rest().first() != Some(&b'-') {
        return Ok(false);
    }
    let option = words.word();
    match option.bytes {
        b"--" => return Ok(false),
        b"-xdev" | b"-mount" => glob.one_file_system = true,
        b"-keeptime" | b"-keep-time" => glob.keep_time = true,
        b"-nonrecursive" => glob.recursive = false,
        b"-type" => {
            let kind = words.word();
            match kind.bytes.to_ascii_lowercase()[..] {
                [letter @ (b'b' | b'c' | b'd' | b'p' | b'f' | b'l' | b's')] => {
                    glob.types.push(letter);
                }
                _ => return Err(words.wrong(kind, "a type of b c d p f l s")),
            }
        }
        b"-name" => glob.pattern = Some(PackPattern::Name(pattern(words)?)),
        b"-path" => glob.pattern = Some(PackPattern::Path(pattern(words)?)),
        _ => {
            let expected = "-type, -xdev, -mount, -keeptime, -nonrecursive, -name, -path or --";
            return Err(words.wrong(option, expected));
        }
    }
    Ok(true)
}

fn pattern(words: &mut Words<'_>) -> Result<Vec<u8>, Malformed> {
    let (word, pattern) = quoted(words, b"\"'")?;
    if word.bytes.is_empty() {
        return Err(words.wrong(word, "a pattern"));
    }
    Ok(pattern)
}
