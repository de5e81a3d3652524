//! Processors that containers are made for.

use std::fmt;

/// Names as Go and the OCI image specification have them, by the number in the file.
const NAMES: [&str; 14] = [
    "unknown", "386", "amd64", "arm", "arm64", "ppc64", "ppc64le", "mips", "mipsle", "mips64",
    "mips64le", "s390x", "riscv64", "loong64",
];

/// What the programs in a container are compiled for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Architecture {
    number: usize,
}

impl Architecture {
    /// That of a name as container images have it: `amd64`, `arm64`, ...; others are unknown.
    pub fn named(name: &str) -> Self {
        let number = NAMES.iter().position(|known| *known == name);
        Self {
            number: number.unwrap_or_default(),
        }
    }

    /// Its name, or `unknown`.
    pub fn name(self) -> &'static str {
        NAMES.get(self.number).copied().unwrap_or("unknown")
    }

    /// Two digits and a zero byte.
    pub(crate) fn parse(bytes: [u8; 3]) -> Self {
        let digit = |byte: u8| usize::from(byte.wrapping_sub(b'0'));
        let number = match bytes {
            [tens @ b'0'..=b'9', ones @ b'0'..=b'9', 0] => digit(tens) * 10 + digit(ones),
            _ => 0,
        };
        Self {
            number: if number < NAMES.len() { number } else { 0 },
        }
    }

    pub(crate) fn to_bytes(self) -> [u8; 3] {
        let digit = |number: usize| b'0' + u8::try_from(number % 10).unwrap_or_default();
        [digit(self.number / 10), digit(self.number), 0]
    }
}

impl fmt::Display for Architecture {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_numbers_of_two_digits() {
        for (name, bytes) in [("amd64", b"02\0"), ("arm64", b"04\0"), ("loong64", b"13\0")] {
            assert_eq!(Architecture::named(name).to_bytes(), *bytes);
            assert_eq!(Architecture::parse(*bytes).name(), name);
        }
        assert_eq!(Architecture::named("vax").to_bytes(), *b"00\0");
        for odd in [*b"14\0", *b"99\0", *b"x2\0", *b"020", [0xff; 3]] {
            assert_eq!(Architecture::parse(odd).name(), "unknown");
        }
    }
}
