//! One study: question, answer, evidence, conditions.

use std::io;

use coldpress_history::{Kind, Origin, State, Study};
use coldpress_report::units::{count, date};

use super::page::Page;
use super::view::View;
use super::{answers, conditions, file_sizes, fronts, losses, results, samples, times};

/// Writes all that a study shows.
pub(super) fn write(page: &mut Page, index: usize, view: &View) -> io::Result<()> {
    page.section(&format!("study-{index}"), &view.study.title);
    origin(page, view.study);
    question(page, view.study);
    answers::write(page, view);
    results::write(page, view);
    losses::write(page, view);
    times::write(page, view)?;
    fronts::write(page, view)?;
    file_sizes::write(page, view)?;
    conditions::excluded(page, view);
    conditions::facts(page, view);
    samples::write(page, index, view);
    Ok(())
}

fn origin(page: &mut Page, study: &Study) {
    match &study.origin {
        Origin::Published { citation } => {
            page.push(
                "<p class=\"origin\"><strong class=\"badge\">published</strong> Figures of \
                others, as they were published: ",
            );
            page.text(citation);
            page.push(". They have no verdicts here.</p>\n");
        }
        Origin::Measured => {
            let began = date(study.began_unix_ms / 1000);
            let runs = count(u64::try_from(study.runs.len()).unwrap_or(u64::MAX));
            let contestants = study.contestants.len();
            let end = match study.state {
                State::Done => "",
                State::Running => "; it did not finish",
                State::Interrupted => "; it was interrupted",
                State::Failed => "; it ended with an error",
            };
            let text = format!("Measured {began}: {runs} runs of {contestants} contestants{end}.");
            page.element("p", "origin", &text);
        }
    }
}

fn question(page: &mut Page, study: &Study) {
    let what = study.facts.get("command");
    page.push("<p class=\"question\">");
    match (study.kind, what) {
        (Kind::Launch | Kind::Press, Some(command)) => {
            page.push("How long does <code>");
            page.text(command);
            page.push("</code> take to start, if nothing of it is in memory?");
        }
        (Kind::Launch | Kind::Press, None) => {
            page.push("How long does a start take, if nothing of it is in memory?");
        }
        (Kind::Build, _) => {
            page.push("What does a smaller image cost to make and to unpack?");
        }
        (Kind::Boot, _) => page.push("How long does it take to boot?"),
    }
    page.push("</p>\n");
}
