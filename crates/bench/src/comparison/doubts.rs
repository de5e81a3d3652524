//! What stands against trusting a comparison.

use coldpress_report::text::{escaped, plural};

use super::Comparison;

impl Comparison<'_> {
    /// What stands against trusting the comparison, a sentence each.
    ///
    /// * `unmatched`: the contestants that only one of the studies has.
    pub fn doubts(&self, unmatched: &[&str]) -> Vec<String> {
        let undecided = self.judgements.iter().filter(|it| it.holds.is_none());
        let undecided = undecided.count();
        let doubts = [
            (!unmatched.is_empty()).then(|| {
                let names = unmatched.iter().map(|name| escaped(name.as_bytes()));
                let names: Vec<String> = names.collect();
                format!("only one of the studies has {}", names.join(", "))
            }),
            (!self.conditions.is_empty()).then(|| {
                let facts: Vec<String> = self.conditions.iter().map(changed_fact).collect();
                let facts = facts.join("; ");
                format!("the studies were made under other conditions: {facts}")
            }),
            (undecided > 0).then(|| {
                let judgements = plural(undecided as u64, "judgement has", "judgements have");
                format!("{judgements} too few runs: six of each study are needed")
            }),
        ];
        doubts.into_iter().flatten().collect()
    }
}

/// `device (usb2, then hdd)`
fn changed_fact((name, base, new): &(&str, Option<&str>, Option<&str>)) -> String {
    let [base, new] = [base, new].map(|value| escaped(value.unwrap_or("none").as_bytes()));
    format!("{} ({base}, then {new})", escaped(name.as_bytes()))
}
