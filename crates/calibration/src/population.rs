//! The devices that an image will be read from, and how often.

use anyhow::anyhow;
use coldpress_report::failure::hint;
use coldpress_session::ui::Ui;

use crate::target::{Known, Target};

/// Devices, each with its share of the starts. Most often there is one.
#[derive(Clone, Debug)]
pub struct Population {
    /// As it was described.
    pub name: String,
    /// Each device, and its share: more than 0, all together 1.
    pub members: Vec<(Target, f64)>,
}

impl Population {
    /// Reads a description: one device as of [`Target::resolve`], or several by name, each with a
    /// weight: `usb2=0.2,ssd=0.7,hdd=0.1`. The weights need not add up to 1.
    ///
    /// # Errors
    ///
    /// Those of [`Target::resolve`]; if a weight is missing or no number above 0, or if a device is
    /// named twice.
    pub fn resolve(text: &str, ui: &Ui) -> anyhow::Result<Self> {
        let known = Known::here(ui);
        Self::read(text, |name| known.target(name))
    }

    /// The same with default speeds and nothing of this machine, the same everywhere.
    ///
    /// # Errors
    ///
    /// As [`Population::resolve`].
    pub fn of_defaults(text: &str) -> anyhow::Result<Self> {
        Self::read(text, |name| Target::of(name, None))
    }

    fn read(text: &str, target: impl Fn(&str) -> anyhow::Result<Target>) -> anyhow::Result<Self> {
        let weights = weights(text)?;
        let sum: f64 = weights.iter().map(|(_, weight)| weight).sum();
        let members = weights.into_iter();
        let members = members.map(|(name, weight)| Ok((target(name)?, weight / sum)));
        Ok(Self {
            name: text.to_owned(),
            members: members.collect::<anyhow::Result<_>>()?,
        })
    }

    /// The device with the largest share, the first of those that are equal.
    pub fn main(&self) -> &Target {
        let mut main = &self.members[0];
        for member in &self.members[1..] {
            if member.1 > main.1 {
                main = member;
            }
        }
        &main.0
    }
}

/// The devices, at least one, each with its weight.
fn weights(text: &str) -> anyhow::Result<Vec<(&str, f64)>> {
    let is_one = |item: &str| match item.split_once('=') {
        Some((key, _)) => ["bw", "iops", "via"].contains(&key),
        None => true,
    };
    let mut items = text.split(',').peekable();
    if items.peek().is_none_or(|first| is_one(first)) {
        return Ok(vec![(text, 1.0)]);
    }
    let mut weights: Vec<(&str, f64)> = Vec::new();
    for item in items {
        let wrong = |rule: &str| {
            let error = anyhow!("`{item}` in `{text}` {rule}");
            hint(
                error,
                "several devices are named with weights: `usb2=0.2,ssd=0.7,hdd=0.1`",
            )
        };
        let (name, weight) = item.split_once('=').ok_or_else(|| wrong("has no weight"))?;
        let weight = weight.parse::<f64>().ok();
        let weight = weight.filter(|weight| weight.is_finite() && *weight > 0.0);
        let weight = weight.ok_or_else(|| wrong("must have a weight above 0"))?;
        if weights.iter().any(|(known, _)| *known == name) {
            return Err(wrong("is named twice"));
        }
        weights.push((name, weight));
    }
    Ok(weights)
}

#[cfg(test)]
mod tests {
    use coldpress_report::failure::sentence;

    use super::*;

    #[test]
    fn devices_have_shares_that_add_up_to_1() {
        let shares = |text| {
            let population = Population::of_defaults(text).unwrap();
            let main = population.main().name.clone();
            let shares = population.members.into_iter();
            (
                shares
                    .map(|(it, share)| format!("{} {share:.2}", it.name))
                    .collect::<Vec<_>>(),
                main,
            )
        };
        for (text, members, main) in [
            ("host", vec!["host 1.00"], "host"),
            (
                "bw=5M,iops=100",
                vec!["bw=5M,iops=100 1.00"],
                "bw=5M,iops=100",
            ),
            ("usb2,via=file", vec!["usb2,via=file 1.00"], "usb2,via=file"),
            (
                "usb2=1,ssd=2,hdd=1",
                vec!["usb2 0.25", "ssd 0.50", "hdd 0.25"],
                "ssd",
            ),
            ("usb2=7", vec!["usb2 1.00"], "usb2"),
        ] {
            let members = members.into_iter().map(str::to_owned).collect();
            assert_eq!(shares(text), (members, main.to_owned()), "{text}");
        }
    }

    #[test]
    fn what_is_wrong_in_a_description_is_named() {
        for (text, expected) in [
            ("usb2=0.2,ssd", "`ssd` in `usb2=0.2,ssd` has no weight"),
            (
                "usb2=0,ssd=1",
                "`usb2=0` in `usb2=0,ssd=1` must have a weight above 0",
            ),
            (
                "usb2=inf",
                "`usb2=inf` in `usb2=inf` must have a weight above 0",
            ),
            ("ssd=1,ssd=1", "`ssd=1` in `ssd=1,ssd=1` is named twice"),
        ] {
            let error = Population::of_defaults(text).unwrap_err();
            assert_eq!(sentence(&error), expected);
        }
        assert!(Population::of_defaults("floppy=1").is_err());
        assert!(Population::of_defaults("calibrated=1").is_err());
    }
}
