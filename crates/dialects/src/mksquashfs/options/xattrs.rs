//! Extended attributes.

use super::{Row, Section};

/// Extended attributes.
pub(super) const XATTRS: Section = Section {
    title: "Extended attributes",
    rows: &[
        Row::flag(
            "-xattrs",
            |request| request.xattrs.stored = true,
            "are stored; the default",
        ),
        Row::flag(
            "-no-xattrs",
            |request| request.xattrs.none(),
            "are left out",
        ),
        Row::value(
            "-xattrs-exclude REGEX",
            |request, value| value.string().map(|regex| request.xattrs.exclude(regex)),
            "those with such names are left out",
        ),
        Row::value(
            "-xattrs-include REGEX",
            |request, value| value.string().map(|regex| request.xattrs.include(regex)),
            "only those with such names are stored",
        ),
        Row::value(
            "-xattrs-add NAME=VALUE",
            |request, value| {
                request.xattrs.add(value.text.to_owned());
                Ok(())
            },
            "is set on everything, in `user.` on files and directories; VALUE is taken as it is, \
             after `0s` as base64, `0x` as hexadecimal, `0t` as text with `\\nnn`",
        ),
    ],
};
