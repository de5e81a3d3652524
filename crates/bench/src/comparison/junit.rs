//! Judgements as JUnit XML, which every CI server shows.
//!
//! There is no one schema of it: this is valid by that of Jenkins (junit-10.xsd) and by that of Ant
//! (Windy Road's JUnit.xsd), which wants what is empty here. A test is a condition and a figure of
//! a contestant; its time is the newer median, so that a server that draws times draws those of the
//! study.

use std::io;

use coldpress_history::Unit;
use coldpress_report::text::{escaped, iso_utc};
use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesText, Event};

use super::Comparison;
use super::judgement::Judgement;

const SUITE: &str = "coldpress bench compare";

/// The whole document.
///
/// # Errors
///
/// If the writer of XML fails, which it has no reason for in memory.
pub(super) fn document(comparison: &Comparison<'_>) -> io::Result<Vec<u8>> {
    let mut writer = Writer::new_with_indent(Vec::new(), b' ', 2);
    writer.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
    writer
        .create_element("testsuites")
        .write_inner_content(|writer| suite(writer, comparison))?;
    let mut bytes = writer.into_inner();
    bytes.push(b'\n');
    Ok(bytes)
}

fn suite(writer: &mut Writer<Vec<u8>>, comparison: &Comparison<'_>) -> io::Result<()> {
    let judgements = &comparison.judgements;
    let count = |holds| {
        let alike = judgements.iter().filter(|it| it.holds == holds);
        alike.count().to_string()
    };
    let suite = writer.create_element("testsuite").with_attributes([
        ("name", SUITE),
        ("package", SUITE),
        ("id", "0"),
        ("tests", &judgements.len().to_string()),
        ("failures", &count(Some(true))),
        ("errors", "0"),
        ("skipped", &count(None)),
        ("timestamp", &timestamp(comparison.new.began_unix_ms)),
        // The figures may be those of another machine.
        ("hostname", "localhost"),
        ("time", &seconds(judgements.iter().map(time_s).sum())),
    ]);
    suite.write_inner_content(|writer| {
        writer.create_element("properties").write_empty()?;
        judgements
            .iter()
            .try_for_each(|judgement| test(writer, judgement))?;
        for stream in ["system-out", "system-err"] {
            writer.create_element(stream).write_empty()?;
        }
        Ok(())
    })?;
    Ok(())
}

fn test(writer: &mut Writer<Vec<u8>>, judgement: &Judgement<'_>) -> io::Result<()> {
    let sentence = judgement.sentence();
    // A condition may be about several figures.
    let figure = escaped(judgement.figure.as_bytes());
    let name = format!("{figure}: {}", judgement.condition);
    let element = writer.create_element("testcase").with_attributes([
        ("name", name.as_str()),
        ("classname", &escaped(judgement.contestant.as_bytes())),
        ("time", &seconds(time_s(judgement))),
    ]);
    let message = ("message", sentence.as_str());
    match judgement.holds {
        Some(false) => element.write_empty()?,
        Some(true) => element.write_inner_content(|writer| {
            let failure = writer.create_element("failure");
            failure
                .with_attributes([("type", "condition"), message])
                .write_text_content(BytesText::new(&sentence))?;
            Ok(())
        })?,
        None => element.write_inner_content(|writer| {
            let skipped = writer.create_element("skipped");
            skipped.with_attribute(message).write_empty()?;
            Ok(())
        })?,
    };
    Ok(())
}

/// The newer median, if the figure is a time.
fn time_s(judgement: &Judgement<'_>) -> f64 {
    let is_time = Unit::of(judgement.figure) == Unit::Seconds;
    if is_time {
        judgement.difference.new
    } else {
        0.0
    }
}

/// In the form without a zone, which all schemas take.
fn timestamp(unix_ms: u64) -> String {
    let time_s = u32::try_from(unix_ms / 1000).unwrap_or(u32::MAX);
    iso_utc(time_s).trim_end_matches('Z').to_owned()
}

/// Milliseconds are what a start is measured in.
fn seconds(time_s: f64) -> String {
    format!("{time_s:.3}")
}
