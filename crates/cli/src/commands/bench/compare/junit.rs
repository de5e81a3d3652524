//! Judgements as `JUnit` XML, which every CI server shows.
//!
//! There is no one schema of it: this is what those of Jenkins and of Ant's task have in common. A test is a condition and a
//! contestant; its time is the newer median, so that a server that draws times draws those of the study.

use std::io;

use coldpress_history::Unit;
use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesText, Event};

use super::Comparison;
use super::judgement::Judgement;
use crate::text::{escaped, iso_utc};

const SUITE: &str = "coldpress bench compare";

/// The whole document.
///
/// # Errors
///
/// None that memory would not have.
pub(super) fn document(comparison: &Comparison<'_>) -> io::Result<Vec<u8>> {
    let judgements = &comparison.judgements;
    let count = |holds| {
        judgements
            .iter()
            .filter(|it| it.holds == holds)
            .count()
            .to_string()
    };
    let mut writer = Writer::new_with_indent(Vec::new(), b' ', 2);
    writer.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
    writer
        .create_element("testsuites")
        .write_inner_content(|writer| {
            let suite = writer.create_element("testsuite").with_attributes([
                ("name", SUITE),
                ("tests", &judgements.len().to_string()),
                ("failures", &count(Some(true))),
                ("errors", "0"),
                ("skipped", &count(None)),
                ("timestamp", &timestamp(comparison.new.began_unix_ms)),
                // Figures of other machines may be judged here.
                ("hostname", "localhost"),
                (
                    "time",
                    &judgements.iter().map(time_s).sum::<f64>().to_string(),
                ),
            ]);
            suite.write_inner_content(|writer| {
                judgements
                    .iter()
                    .try_for_each(|judgement| test(writer, judgement))
            })?;
            Ok(())
        })?;
    let mut bytes = writer.into_inner();
    bytes.push(b'\n');
    Ok(bytes)
}

fn test(writer: &mut Writer<Vec<u8>>, judgement: &Judgement<'_>) -> io::Result<()> {
    let sentence = judgement.sentence();
    let element = writer.create_element("testcase").with_attributes([
        ("name", judgement.condition.to_string().as_str()),
        ("classname", &escaped(judgement.contestant.as_bytes())),
        ("time", &time_s(judgement).to_string()),
    ]);
    let outcome = |writer: &mut Writer<Vec<u8>>, name, text| -> io::Result<()> {
        let element = writer
            .create_element(name)
            .with_attribute(("message", sentence.as_str()));
        element.write_text_content(BytesText::new(text))?;
        Ok(())
    };
    match judgement.holds {
        Some(false) => element.write_empty()?,
        Some(true) => {
            element.write_inner_content(|writer| outcome(writer, "failure", &sentence))?
        }
        None => element.write_inner_content(|writer| outcome(writer, "skipped", &sentence))?,
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
