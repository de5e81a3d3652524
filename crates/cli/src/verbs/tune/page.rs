//! A choice as a page.

use coldpress_bench::{Exhibit, Report, Section};
use coldpress_report::Table;
use coldpress_report::text::quoted;

use super::{Advice, chart, facts, readahead, table, why};
use crate::losses;

pub(super) fn report(advice: &Advice) -> Report {
    Report {
        title: format!("An image of {}", quoted(&advice.args.source)),
        sections: vec![choice(advice), candidates(advice), equivalents(advice)],
        ..Report::default()
    }
}

fn choice(advice: &Advice) -> Section {
    let facts = facts::facts(advice).into_iter();
    let facts = facts
        .map(|(name, value)| (name.to_owned(), value))
        .collect();
    let chosen = advice.tuned.chosen();
    let name = chosen.map(|row| Exhibit::Heading(row.candidate.to_string()));
    let reasons = why::why(advice).into_iter().map(Exhibit::Text);
    Section {
        title: "The image to build".to_owned(),
        exhibits: name
            .into_iter()
            .chain(reasons)
            .chain(advice.build_line().map(Exhibit::Text))
            .chain(readahead::lines(advice).into_iter().map(Exhibit::Text))
            .chain([Exhibit::Facts(facts)])
            .chain(losses::table(&advice.losses()).map(Exhibit::Table))
            .collect(),
    }
}

fn candidates(advice: &Advice) -> Section {
    let hint = "Predicted from samples, not measured. Left out are images that another one beats: \
    that is as good in \
    every figure, as far as predictions tell, and better in one. The recommended one \
    has a star.";
    Section {
        title: "What there is to choose from".to_owned(),
        exhibits: vec![
            Exhibit::Scatter(chart::chart(advice)),
            Exhibit::Hint(chart::HINT.to_owned()),
            Exhibit::Table(table::proposed(advice)),
            Exhibit::Hint(hint.to_owned()),
            Exhibit::Heading("What tools make today".to_owned()),
            Exhibit::Table(table::today(advice)),
        ],
    }
}

fn equivalents(advice: &Advice) -> Section {
    let equivalents = advice.equivalents().into_iter();
    let rows = equivalents.map(|equivalent| {
        vec![
            equivalent.tool.to_owned(),
            equivalent.lines.join(" | "),
            equivalent.lacks.join("; "),
        ]
    });
    Section {
        title: "The same image with other tools".to_owned(),
        exhibits: vec![Exhibit::Table(Table {
            columns: ["tool", "told by", "lacks"].map(str::to_owned).to_vec(),
            rows: rows.collect(),
        })],
    }
}
