//! Whether a symbolic link leads out of the directory that is extracted into.

/// Whether a link may lead outside, if all links of the tree were judged so.
///
/// By the text alone. The directory of the link is a real one, so that `..` at the beginning
/// climbs real directories; from there on names lead down, or to another link that stays inside. A
/// `..` behind a name may climb from the far end of such a link: nobody knows from where.
///
/// * `depth`: number of directories above the link, 0 in the destination itself.
pub(super) fn leads_outside(target: &[u8], depth: usize) -> bool {
    if target.first() == Some(&b'/') {
        return true;
    }
    let names = target.split(|byte| *byte == b'/');
    let (mut climbed, mut descends) = (0, false);
    for name in names {
        match name {
            b"" | b"." => {}
            b".." if descends || climbed == depth => return true,
            b".." => climbed += 1,
            _ => descends = true,
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_stay_inside_or_not() {
        for (target, depth, outside) in [
            (&b"a"[..], 0, false),
            (b"a/b/./c", 0, false),
            (b".", 0, false),
            (b"", 0, false),
            (b"...", 0, false),
            (b"..a/b..", 0, false),
            (b"..", 0, true),
            (b"..", 1, false),
            (b"../..", 1, true),
            (b".//../x", 1, false),
            (b"../../x/y", 2, false),
            (b"./../../../x", 2, true),
            (b"a/..", 5, true),
            (b"/", 5, true),
            (b"/usr", 5, true),
        ] {
            let text = target.escape_ascii();
            assert_eq!(leads_outside(target, depth), outside, "{text} {depth}");
        }
    }
}
