//! Words of a command line that are options, obeyed by a table.

use std::ffi::{OsStr, OsString};

use anyhow::{anyhow, bail};
use coldpress_report::failure::hint;
use coldpress_report::text;

use super::table::{self, Section, Treatment};
use super::{Tool, UNDERSTOOD, Value};

/// Obeys one option; returns the words behind it and its values.
///
/// * `rest`: the words behind it.
///
/// # Errors
///
/// If the option is unknown, refused, lacks its value or cannot take it.
pub(crate) fn option<'a, R>(
    request: &mut R,
    sections: &'static [Section<R>],
    tool: Tool,
    word: &OsStr,
    rest: &'a [OsString],
) -> anyhow::Result<&'a [OsString]> {
    let row = word
        .to_str()
        .and_then(|name| table::find(sections, name, tool));
    let (Some(row), Some(name)) = (row, word.to_str()) else {
        return Err(unknown(tool, word));
    };
    if let Treatment::List(add) = row.treatment {
        return list(request, add, name, rest);
    }
    let (text, rest) = match (row.operand(), rest.split_first()) {
        (None, _) => (OsStr::new(""), rest),
        (Some(_), Some((text, rest))) => (text.as_os_str(), rest),
        (Some(operand), None) => bail!("`{name}` needs a value: `{name} {operand}`"),
    };
    match row.treatment {
        Treatment::Flag(set) => set(request),
        Treatment::Value(set) => set(request, Value { option: name, text })?,
        Treatment::List(_) | Treatment::NoEffect => {}
        Treatment::Refused => {
            let error = anyhow!("`{name}` is not supported: {}", row.remark);
            let list = format!(
                "`coldpress {} -help` lists the supported options",
                tool.name()
            );
            return Err(hint(error, list));
        }
    }
    Ok(rest)
}

/// Adds the words up to `;`.
fn list<'a, R>(
    request: &mut R,
    add: fn(&mut R, Value<'_>) -> anyhow::Result<()>,
    option: &str,
    rest: &'a [OsString],
) -> anyhow::Result<&'a [OsString]> {
    let Some(end) = rest.iter().position(|word| word == ";") else {
        let error = anyhow!("the values of `{option}` do not end with `;`");
        return Err(hint(error, "most shells want it as `\\;`"));
    };
    let (values, rest) = rest.split_at(end);
    if values.is_empty() {
        bail!("`{option}` needs at least one value");
    }
    for text in values {
        add(request, Value { option, text })?;
    }
    Ok(rest.get(1..).unwrap_or_default())
}

/// Whether a word is an option; `-` is standard input.
pub(crate) fn is_option(word: &OsStr) -> bool {
    word != "-" && word.as_encoded_bytes().starts_with(b"-")
}

fn unknown(tool: Tool, word: &OsStr) -> anyhow::Error {
    let name = text::escaped(word.as_encoded_bytes());
    let tool = tool.name();
    let error = anyhow!("`{name}` is not an option of {tool} {UNDERSTOOD}");
    hint(error, format!("`coldpress {tool} -help` lists all options"))
}

/// That a command line lacks something, with its usage.
pub(crate) fn missing(tool: Tool, what: &str) -> anyhow::Error {
    hint(anyhow!("{what}"), format!("usage: {}", tool.usage()))
}
