//! Numbers with their units, for terminals and reports alike.
//!
//! Three significant digits: a start time is never known better than that.

/// Formats a time: `12.3 ms`, `1.25 s`, `104 s`.
pub fn seconds(time_s: f64) -> String {
    // 0.9996 rounds to 1.00 s, not to 1000 ms.
    if time_s.abs() < 0.9995 {
        format!("{} ms", three_digits(time_s * 1e3))
    } else {
        format!("{} s", three_digits(time_s))
    }
}

/// Formats a number of bytes in binary units: `512 B`, `4.00 KiB`, `311 MiB`.
pub fn bytes(count_bytes: u64) -> String {
    if count_bytes < 1024 {
        return format!("{count_bytes} B");
    }
    let mut value = as_f64(count_bytes);
    let mut unit = "B";
    for larger in ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"] {
        // 1023.6 KiB rounds to 1.00 MiB, not to 1024 KiB.
        if value < 1023.5 {
            break;
        }
        value /= 1024.0;
        unit = larger;
    }
    format!("{} {unit}", three_digits(value))
}

/// Formats a bandwidth in decimal units, as devices are sold: `25.0 MB/s`.
pub fn bytes_per_s(rate_bytes_per_s: u64) -> String {
    let mut value = as_f64(rate_bytes_per_s);
    let mut unit = "B";
    for larger in ["kB", "MB", "GB", "TB"] {
        if value < 999.5 {
            break;
        }
        value /= 1000.0;
        unit = larger;
    }
    format!("{} {unit}/s", three_digits(value))
}

/// Formats a number of things with a comma between thousands: `3,330`.
pub fn count(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Formats a ratio: `0.551`, `1.02`, `12.3`.
pub fn ratio(value: f64) -> String {
    three_digits(value)
}

/// The nearest whole number; 0 for what is negative.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the cast saturates"
)]
pub fn whole(value: f64) -> u64 {
    value.round() as u64
}

/// Formats the change that a ratio means: `-44.9 %`, `+2.0 %`.
pub fn change(ratio: f64) -> String {
    let percent = (ratio - 1.0) * 100.0;
    if percent.abs() < 0.05 {
        "0.0 %".to_owned()
    } else {
        format!("{percent:+.1} %")
    }
}

/// Formats a time in seconds since 1970: `2026-05-28 20:26 UTC`.
///
/// Source: Hinnant, "chrono-compatible low-level date algorithms", `civil_from_days`.
pub fn date(unix_s: u64) -> String {
    const DAYS_0000_TO_1970: u64 = 719_468; // from 0000-03-01
    const DAYS_IN_ERA: u64 = 146_097; // 400 years
    let days = unix_s / 86_400 + DAYS_0000_TO_1970;
    let (era, day) = (days / DAYS_IN_ERA, days % DAYS_IN_ERA);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day_of_year = day - (365 * year + year / 4 - year / 100);
    // Counted from March, so that the leap day comes last.
    let month = (5 * day_of_year + 2) / 153;
    let day_of_month = day_of_year - (153 * month + 2) / 5 + 1;
    let (year, month) = if month < 10 {
        (era * 400 + year, month + 3)
    } else {
        (era * 400 + year + 1, month - 9)
    };
    let (hour, minute) = (unix_s / 3_600 % 24, unix_s / 60 % 60);
    format!("{year:04}-{month:02}-{day_of_month:02} {hour:02}:{minute:02} UTC")
}

/// Three significant digits; more before the point if the number has them.
fn three_digits(value: f64) -> String {
    let decimals = match value.abs() {
        size if size < 0.9995 => 3,
        size if size < 9.995 => 2,
        size if size < 99.95 => 1,
        _ => 0,
    };
    format!("{value:.decimals$}")
}

/// A count as charts and units need it.
#[expect(clippy::cast_precision_loss, reason = "three digits are shown of it")]
pub fn as_f64(count: u64) -> f64 {
    count as f64
}

/// `311 MiB, 0.341 of 911 MiB`, as every summary states the size of an image.
pub fn size_and_ratio(image_bytes: u64, content_bytes: u64) -> String {
    let size = bytes(image_bytes);
    match share(image_bytes, content_bytes) {
        Some(share) => format!("{size}, {} of {}", ratio(share), bytes(content_bytes)),
        None => size,
    }
}

/// A part for each byte of the whole; `None` without a whole.
pub fn share(part_bytes: u64, whole_bytes: u64) -> Option<f64> {
    (whole_bytes > 0).then(|| as_f64(part_bytes) / as_f64(whole_bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_three_digits_and_the_fitting_unit() {
        let cases = [
            (0.0, "0.000 ms"),
            (0.000_5, "0.500 ms"),
            (0.001_234, "1.23 ms"),
            (0.012_34, "12.3 ms"),
            (0.999_4, "999 ms"),
            (0.999_6, "1.00 s"),
            (1.234, "1.23 s"),
            (9.999, "10.0 s"),
            (104.4, "104 s"),
            (1234.0, "1234 s"),
        ];
        for (time_s, expected) in cases {
            assert_eq!(seconds(time_s), expected);
        }
    }

    #[test]
    fn bytes_have_binary_units_and_never_round_to_1024() {
        let cases = [
            (0, "0 B"),
            (1023, "1023 B"),
            (1024, "1.00 KiB"),
            (1023 * 1024, "1023 KiB"),
            (1024 * 1024 - 1, "1.00 MiB"),
            (326_107_136, "311 MiB"),
            (u64::MAX, "16.0 EiB"),
        ];
        for (count_bytes, expected) in cases {
            assert_eq!(bytes(count_bytes), expected);
        }
    }

    #[test]
    fn bandwidths_have_decimal_units() {
        let cases = [
            (25_000_000, "25.0 MB/s"),
            (999_900, "1.00 MB/s"),
            (600, "600 B/s"),
        ];
        for (rate_bytes_per_s, expected) in cases {
            assert_eq!(bytes_per_s(rate_bytes_per_s), expected);
        }
    }

    #[test]
    fn counts_ratios_and_changes_read_well() {
        assert_eq!(
            [count(0), count(999), count(3330), count(1_234_567)],
            ["0", "999", "3,330", "1,234,567"]
        );
        assert_eq!(
            [ratio(0.5512), ratio(1.0), ratio(12.34)],
            ["0.551", "1.00", "12.3"]
        );
        assert_eq!(
            [change(0.551), change(1.02), change(1.0001)],
            ["-44.9 %", "+2.0 %", "0.0 %"]
        );
    }

    #[test]
    fn dates_are_those_of_the_calendar() {
        let cases = [
            (0, "1970-01-01 00:00 UTC"),
            (951_782_400, "2000-02-29 00:00 UTC"),
            (1_780_000_000, "2026-05-28 20:26 UTC"),
            (4_107_542_399, "2100-02-28 23:59 UTC"),
            (4_107_542_400, "2100-03-01 00:00 UTC"),
        ];
        for (unix_s, expected) in cases {
            assert_eq!(date(unix_s), expected);
        }
    }
}
