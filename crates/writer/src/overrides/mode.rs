//! Modes as `chmod` writes them, applied as mksquashfs applies them.

use crate::error::Error;

/// Changes of the 12 permission bits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mode {
    clauses: Vec<Clause>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Clause {
    operation: Operation,
    /// The bits that the clause may touch.
    mask: u16,
    permissions: Permissions,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operation {
    Add,
    Remove,
    Set,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Permissions {
    /// Bits; and with `X`, execution of directories and of what somebody may execute already.
    Bits { bits: u16, executes_more: bool },
    /// Those of the user (6), the group (3) or others (0): how far they are shifted.
    Copied { shift: u32 },
}

/// The 12 bits.
const ALL: u16 = 0o7777;

impl Mode {
    /// Parses an octal number up to 7777, or symbolic changes like `u+rwX,go-w`.
    ///
    /// Symbolic changes are `[ugoa]*` followed by one or several of `[+-=]` with `[rwxXst]*` or
    /// one of `[ugo]`. As in mksquashfs, who is left out means everybody without regard to the
    /// umask, and without `s` and `t`.
    ///
    /// # Errors
    ///
    /// [`Error::Value`] for anything else.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let wrong = |rule| Error::Value {
            what: "mode",
            found: text.to_owned(),
            rule,
        };
        if text.starts_with(|first: char| first.is_ascii_digit()) {
            let number = u16::from_str_radix(text, 8).ok();
            let bits = number.filter(|number| *number <= ALL);
            let bits = bits.ok_or_else(|| wrong("an octal mode is at most 7777"))?;
            return Ok(Self::octal(bits));
        }
        let mut clauses = Vec::new();
        for text in text.split(',').filter(|text| !text.is_empty()) {
            parse_changes(text.as_bytes(), &mut clauses).map_err(wrong)?;
        }
        if clauses.is_empty() {
            return Err(wrong("it is empty"));
        }
        Ok(Self { clauses })
    }

    /// Exactly these 12 bits.
    pub fn octal(bits: u16) -> Self {
        let clause = Clause {
            operation: Operation::Set,
            mask: ALL,
            permissions: Permissions::Bits {
                bits: bits & ALL,
                executes_more: false,
            },
        };
        Self {
            clauses: vec![clause],
        }
    }

    /// The bits that `mode` becomes.
    pub fn apply(&self, mode: u16, is_directory: bool) -> u16 {
        self.clauses.iter().fold(mode & ALL, |mode, clause| {
            let bits = clause.permissions.bits(mode, is_directory) & clause.mask;
            match clause.operation {
                Operation::Add => mode | bits,
                Operation::Remove => mode & !bits,
                Operation::Set => mode & !clause.mask | bits,
            }
        })
    }
}

impl Permissions {
    fn bits(self, mode: u16, is_directory: bool) -> u16 {
        match self {
            Self::Bits {
                bits,
                executes_more,
            } => {
                let executes = executes_more && (is_directory || mode & 0o111 != 0);
                bits | if executes { 0o111 } else { 0 }
            }
            Self::Copied { shift } => (mode >> shift & 0o7) * 0o111,
        }
    }
}

/// `[ugoa]*` and the operations for it.
fn parse_changes(text: &[u8], clauses: &mut Vec<Clause>) -> Result<(), &'static str> {
    let who = text
        .iter()
        .take_while(|byte| b"ugoa".contains(byte))
        .count();
    let mask = match who {
        0 => 0o777,
        _ => text[..who].iter().fold(0, |mask, who| {
            mask | match who {
                b'u' => 0o4700,
                b'g' => 0o2070,
                b'o' => 0o1007,
                _ => ALL,
            }
        }),
    };
    let mut rest = &text[who..];
    if rest.is_empty() {
        return Err("after `u`, `g`, `o` or `a`, one of `+`, `-` and `=` must follow");
    }
    while let [operation, after @ ..] = rest {
        let operation = match operation {
            b'+' => Operation::Add,
            b'-' => Operation::Remove,
            b'=' => Operation::Set,
            _ => return Err("it must be octal, or changes like `u+rwX,go-w`"),
        };
        let (permissions, len) = parse_permissions(after)?;
        clauses.push(Clause {
            operation,
            mask,
            permissions,
        });
        rest = &after[len..];
    }
    Ok(())
}

fn parse_permissions(text: &[u8]) -> Result<(Permissions, usize), &'static str> {
    let shift = match text.first() {
        Some(b'u') => Some(6),
        Some(b'g') => Some(3),
        Some(b'o') => Some(0),
        _ => None,
    };
    if let Some(shift) = shift {
        return Ok((Permissions::Copied { shift }, 1));
    }
    let len = text
        .iter()
        .take_while(|byte| !b"+-=".contains(byte))
        .count();
    let (mut bits, mut executes_more) = (0, false);
    for permission in &text[..len] {
        match permission {
            b'r' => bits |= 0o444,
            b'w' => bits |= 0o222,
            b'x' => bits |= 0o111,
            b's' => bits |= 0o6000,
            b't' => bits |= 0o1000,
            b'X' => executes_more = true,
            _ => return Err("permissions are `r`, `w`, `x`, `X`, `s` and `t`"),
        }
    }
    Ok((
        Permissions::Bits {
            bits,
            executes_more,
        },
        len,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_change_the_bits_that_they_name() {
        // Mode, before, whether it is a directory, after.
        let cases: &[(&str, u16, bool, u16)] = &[
            ("755", 0o4600, false, 0o755),
            ("04755", 0, false, 0o4755),
            ("u+x", 0o644, false, 0o744),
            ("+x", 0o644, false, 0o755),
            ("go-rwx", 0o777, false, 0o700),
            ("a=r", 0o4777, false, 0o444),
            ("u=rw,go=r", 0o7777, false, 0o644),
            ("u=", 0o4755, true, 0o055),
            ("a+X", 0o644, false, 0o644),
            ("a+X", 0o744, false, 0o755),
            ("a+X", 0o644, true, 0o755),
            ("u+s,o+t", 0o755, false, 0o5755),
            ("ug+s", 0o755, false, 0o6755),
            ("+s", 0o755, false, 0o755),
            ("g=u", 0o704, false, 0o774),
            ("go=u-w", 0o755, false, 0o755),
            ("o=g,g=o", 0o751, false, 0o755),
            ("u+r-w=x", 0o777, false, 0o177),
            (",u+x,", 0o600, false, 0o700),
        ];
        for &(text, before, is_directory, after) in cases {
            let found = Mode::parse(text).unwrap().apply(before, is_directory);
            assert_eq!(found, after, "{text} {before:o}: {found:o}");
        }
    }

    #[test]
    fn what_is_no_mode_is_refused() {
        for text in [
            "", ",", "8", "10000", "755x", "u", "u+y", "x", "+755", "-1", "u=gr",
        ] {
            assert!(Mode::parse(text).is_err(), "{text}");
        }
    }
}
