//! The cumulative curve of file sizes.

use std::io;

use coldpress_report::units::bytes;

use super::frame::{Axis, Frame, WIDE_PX, tick};

const HEIGHT_PX: u32 = 300;

/// What files up to a size hold, together with all smaller ones.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::report) struct Step {
    /// The largest size, as an exponent of 2.
    pub(in crate::report) exponent: u32,
    pub(in crate::report) files_percent: f64,
    pub(in crate::report) bytes_percent: f64,
}

/// Draws how many of the files and of the bytes are in files up to each size.
pub(in crate::report) fn curve(title: &str, steps: &[Step]) -> io::Result<String> {
    let last = steps.last().map_or(1, |step| step.exponent.max(1));
    let frame = Frame {
        title,
        width_px: WIDE_PX,
        height_px: HEIGHT_PX,
        x: Axis {
            unit: "files up to this size".to_owned(),
            ends: (0.0, f64::from(last)),
            tick: size,
        },
        y: Some(Axis {
            unit: "% of all".to_owned(),
            ends: (0.0, 103.0),
            tick,
        }),
    };
    let curves: [fn(&Step) -> f64; 2] = [|step| step.files_percent, |step| step.bytes_percent];
    frame.draw(|plot| {
        for (place, percent) in curves.into_iter().enumerate() {
            // The first color is that of baselines, which is gray.
            let series = place + 1;
            let at = |step: &Step| (f64::from(step.exponent), percent(step));
            plot.line(steps.iter().map(at).collect(), Some(series), 2)?;
            for step in steps {
                let tip = format!(
                    "up to {}: {:.1} % of the files, {:.1} % of the bytes",
                    size(f64::from(step.exponent)),
                    step.files_percent,
                    step.bytes_percent
                );
                plot.dot(at(step), 4, series, &tip);
            }
        }
        Ok(())
    })
}

/// The size at a place of the axis; only whole exponents are written.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "an exponent from 0 to 63"
)]
fn size(exponent: f64) -> String {
    if exponent.fract() != 0.0 || !(0.0..64.0).contains(&exponent) {
        return String::new();
    }
    let size_bytes = 1_u64 << (exponent as u32);
    // Powers of two need no decimals.
    bytes(size_bytes).replace(".00", "").replace(".0", "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_on_the_axis_are_powers_of_two() {
        let cases = [
            (0.0, "1 B"),
            (12.0, "4 KiB"),
            (24.0, "16 MiB"),
            (2.5, ""),
            (64.0, ""),
        ];
        for (exponent, expected) in cases {
            assert_eq!(size(exponent), expected);
        }
    }
}
