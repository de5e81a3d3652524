//! YAML as scalars, each with the keys that lead to it.

use saphyr_parser::{Event, Parser, ScalarStyle, Span};

use crate::error::Error;

/// A scalar that is no key.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Leaf<'a> {
    /// From the outermost on; an item of a list has those of the list.
    pub(crate) keys: &'a [String],
    /// Empty if there is none.
    pub(crate) value: &'a str,
    /// Counted from 1.
    pub(crate) line: usize,
}

/// What an event is inside of.
enum Around {
    /// A mapping, and whether its last key is still without a value.
    Mapping {
        has_key: bool,
    },
    Sequence,
}

/// Shows every scalar of the first document. Nothing is kept but the keys on the way.
///
/// # Errors
///
/// If it is no YAML, has an alias or a key that is no scalar, or `visit` fails.
pub(crate) fn leaves(
    text: &str,
    visit: &mut dyn FnMut(Leaf) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut around: Vec<Around> = Vec::new();
    let mut keys: Vec<String> = Vec::new();
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|error| Error::Yaml {
            line: error.marker().line(),
            why: error.info().to_owned(),
        })?;
        let line = span.start.line();
        match event {
            Event::Scalar(value, style, ..) => {
                if let Some(Around::Mapping { has_key }) = around.last_mut()
                    && !*has_key
                {
                    *has_key = true;
                    keys.push(value.into_owned());
                    continue;
                }
                let is_null = style == ScalarStyle::Plain && matches!(&*value, "~" | "null");
                let value = if is_null { "" } else { &*value };
                let keys_of_it = keys.as_slice();
                visit(Leaf {
                    keys: keys_of_it,
                    value,
                    line,
                })?;
                complete(&mut around, &mut keys);
            }
            Event::MappingStart(..) | Event::SequenceStart(..) => {
                if let Some(Around::Mapping { has_key: false }) = around.last() {
                    return Err(refused(&span, "a key is a list or a mapping"));
                }
                around.push(match event {
                    Event::MappingStart(..) => Around::Mapping { has_key: false },
                    _ => Around::Sequence,
                });
            }
            Event::MappingEnd | Event::SequenceEnd => {
                around.pop();
                complete(&mut around, &mut keys);
            }
            Event::Alias(_) => return Err(refused(&span, "aliases are not read")),
            Event::DocumentEnd => break,
            _ => {}
        }
    }
    Ok(())
}

/// A value is complete: a mapping waits for its next key.
fn complete(around: &mut [Around], keys: &mut Vec<String>) {
    if let Some(Around::Mapping { has_key }) = around.last_mut() {
        *has_key = false;
        keys.pop();
    }
}

fn refused(span: &Span, why: &str) -> Error {
    Error::Yaml {
        line: span.start.line(),
        why: why.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Result<Vec<String>, Error> {
        let mut found = Vec::new();
        leaves(text, &mut |leaf| {
            found.push(format!(
                "{}={}@{}",
                leaf.keys.join("."),
                leaf.value,
                leaf.line
            ));
            Ok(())
        })?;
        Ok(found)
    }

    #[test]
    fn each_scalar_has_its_keys() {
        for (text, expected) in [
            ("", &[][..]),
            (
                "a: 1\nb:\n  c: x y\n  d:\n",
                &["a=1@1", "b.c=x y@3", "b.d=@4"],
            ),
            (
                "a: [1, {b: 2}, []]\nc: {}\nd: '~'",
                &["a=1@1", "a.b=2@1", "d=~@3"],
            ),
            ("- a\n- - b\n", &["=a@1", "=b@2"]),
            ("a: |\n  one\n  two\nb: null", &["a=one\ntwo\n@2", "b=@4"]),
            ("a: 1\n---\nb: 2\n", &["a=1@1"]),
        ] {
            let expected = expected.iter().map(|it| (*it).to_owned()).collect();
            assert_eq!(found(text), Ok(expected), "{text:?}");
        }
    }

    #[test]
    fn what_no_snap_needs_is_refused_with_its_line() {
        let deep = "[".repeat(100_000);
        for (text, line) in [
            ("a: &x 1\nb: *x", 2),
            ("a: 1\n? [b]\n: 2", 2),
            ("a: 1\n  b: : 2", 2),
            ("a: {", 1),
            (deep.as_str(), 1),
        ] {
            let error = found(text).unwrap_err();
            let is_there = matches!(error, Error::Yaml { line: found, .. } if found >= line);
            assert!(is_there, "{error}");
        }
    }
}
