use proptest::prelude::*;

use super::*;

/// As `fnmatch` without flags.
const ANYWHERE: Options = Options {
    crosses_slashes: true,
    matches_leading_dots: true,
    has_literal_brackets: true,
};
/// As with `FNM_PATHNAME`.
const BY_NAME: Options = Options {
    crosses_slashes: false,
    ..ANYWHERE
};
/// As with `FNM_PATHNAME` and `FNM_PERIOD`.
const SHELL: Options = Options {
    matches_leading_dots: false,
    ..BY_NAME
};

#[test]
fn patterns_match_as_fnmatch_does() {
    // Pattern, text, with FNM_PATHNAME, without.
    let cases = [
        ("a", "a", true, true),
        ("a", "b", false, false),
        ("", "", true, true),
        ("", "a", false, false),
        ("*", "", true, true),
        ("*", "abc", true, true),
        ("*", "a/c", false, true),
        ("*/*", "a/c", true, true),
        ("a*c*e", "abcde", true, true),
        ("a*c*e", "abcdf", false, false),
        ("a*bc", "abbbc", true, true),
        ("**a", "bba", true, true),
        ("?", "/", false, true),
        ("a?c", "abc", true, true),
        ("a?c", "ac", false, false),
        ("[a-c]x", "bx", true, true),
        ("[a-c]x", "dx", false, false),
        ("[!a-c]x", "dx", true, true),
        ("[!a-c]x", "bx", false, false),
        ("[^a]", "a", false, false),
        ("[!a]", "/", false, true),
        ("[]]", "]", true, true),
        ("[!]]", "a", true, true),
        ("[a-]", "-", true, true),
        ("[\\]]", "]", true, true),
        ("[[:digit:]x]", "7", true, true),
        ("[[:digit:]x]", "x", true, true),
        ("[a", "[a", true, true),
        ("[a/b]", "[a/b]", true, false),
        ("[a/b]", "/", false, true),
        ("lib[/]a", "lib/a", false, true),
        ("\\*", "*", true, true),
        ("\\*", "a", false, false),
        ("a\\", "a\\", false, false),
        ("*(a)", "(a)", true, true),
        ("*.so.*", "libc.so.6", true, true),
        ("*.so", "libc.so.6", false, false),
        ("lib/*.so*", "lib/x.so.6", true, true),
        ("lib/*.so*", "lib/x/y.so", false, true),
        ("*/?/b", "lib/a/b", true, true),
    ];
    for (pattern, text, by_name, anywhere) in cases {
        for (options, expected) in [(BY_NAME, by_name), (ANYWHERE, anywhere)] {
            let glob = Glob::new(pattern.as_bytes(), options);
            let found = glob.matches(text.as_bytes());
            assert_eq!(found, expected, "{pattern} {text} {options:?}");
        }
    }
}

#[test]
fn dots_that_begin_names_are_written_if_asked() {
    for (pattern, text, expected) in [
        ("*", ".a", false),
        ("*.a", ".a", false),
        ("?a", ".a", false),
        ("[.]a", ".a", false),
        (".*", ".a", true),
        ("a*", "a.b", true),
        ("a/*", "a/.b", false),
        ("a/.*", "a/.b", true),
        ("@(*)", ".a", false),
    ] {
        let glob = Glob::with_groups(pattern.as_bytes(), SHELL).unwrap();
        assert_eq!(glob.matches(text.as_bytes()), expected, "{pattern} {text}");
    }
    let git = Options {
        has_literal_brackets: false,
        ..ANYWHERE
    };
    assert!(Glob::new(b"*", git).matches(b".a"));
    assert!(!Glob::new(b"[a", git).matches(b"[a"));
}

#[test]
fn groups_repeat_alternatives() {
    for (pattern, text, expected) in [
        ("@(a|b)c", "bc", true),
        ("@(a|b)c", "c", false),
        ("?(a)b", "b", true),
        ("?(a)b", "aab", false),
        ("*(a|bc)", "abcbca", true),
        ("*(a|bc)", "", true),
        ("+(a|bc)", "", false),
        ("+(|a)", "", true),
        ("+(a|bc)", "bca", true),
        ("!(*data*).gz", "a.gz", true),
        ("!(*data*).gz", "data.gz", false),
        ("*@(b|)", "a", true),
        ("!(!(a))", "a", true),
        ("@(a", "@(a", true),
        ("@([)])", ")", true),
        ("*(a)/b", "aa/b", true),
        ("!(x)", "a/b", false),
    ] {
        let glob = Glob::with_groups(pattern.as_bytes(), SHELL).unwrap();
        assert_eq!(glob.matches(text.as_bytes()), expected, "{pattern} {text}");
    }
}

#[test]
fn hostile_patterns_take_no_time() {
    let stars = b"*a".repeat(2000);
    for options in [ANYWHERE, BY_NAME] {
        let glob = Glob::new(&stars, options);
        assert!(!glob.matches(&b"a".repeat(1999)));
        assert!(glob.matches(&b"a".repeat(4000)));
    }
    for (open, expected) in [("*(", true), ("+(", true), ("!(", false)] {
        let deep = [open.repeat(32), "a".to_owned(), ")".repeat(32)].concat();
        let glob = Glob::with_groups(deep.as_bytes(), SHELL).unwrap();
        // Each level that calls the next for every place would take 64 to the power of 32 steps.
        assert_eq!(glob.matches(&b"a".repeat(64)), expected, "{open}");
        let deeper = [open, &deep, ")"].concat();
        let refused = Glob::with_groups(deeper.as_bytes(), SHELL);
        assert_eq!(refused, Err(GroupError::Deep), "{open}");
    }
    let many = b"@(a)".repeat(1001);
    assert_eq!(Glob::with_groups(&many, SHELL), Err(GroupError::Many));
}

/// Whether items match exactly the bytes between two places, by trying everything.
fn naive(items: &[Item], text: Text<'_>, from: usize, to: usize) -> bool {
    let Some((item, rest)) = items.split_first() else {
        return from == to;
    };
    let mut ends = from..=to;
    ends.any(|end| {
        let is_matched = match item {
            Item::Star => text.is_open(from) && (from..end).all(|at| text.is_taken(at)),
            Item::Group(group) => naive_group(group, text, from, end),
            one => end == from + 1 && text.fits(one, from),
        };
        is_matched && naive(rest, text, end, to)
    })
}

fn naive_group(group: &Group, text: Text<'_>, from: usize, to: usize) -> bool {
    let once = |from, to| {
        let mut alternatives = group.alternatives.iter();
        alternatives.any(|items| naive(items, text, from, to))
    };
    match group.repeat {
        Repeat::Once => once(from, to),
        Repeat::Optional => from == to || once(from, to),
        Repeat::Any => repeated(&once, from, to),
        Repeat::Some => (from..=to).any(|end| once(from, end) && repeated(&once, end, to)),
        Repeat::Not => !once(from, to) && (from..to).all(|at| text.is_taken(at)),
    }
}

fn repeated(once: &dyn Fn(usize, usize) -> bool, from: usize, to: usize) -> bool {
    from == to || (from + 1..=to).any(|end| once(from, end) && repeated(once, end, to))
}

fn options() -> impl Strategy<Value = Options> {
    (any::<bool>(), any::<bool>(), any::<bool>()).prop_map(|flags| Options {
        crosses_slashes: flags.0,
        matches_leading_dots: flags.1,
        has_literal_brackets: flags.2,
    })
}

proptest! {
    #[test]
    fn every_pattern_matches_as_trying_everything_does(
        pattern in "([ab./]|[ab./]|\\*|\\?|\\[[!ab./-]{0,3}\\]|[\\\\\\[]|[*?+@!]\\(|\\||\\)|\\)){0,12}",
        text in "[ab./]{0,7}",
        options in options(),
    ) {
        let bytes = text.as_bytes();
        let whole = Text { bytes, options };
        let plain = Glob::new(pattern.as_bytes(), options);
        prop_assert_eq!(plain.matches(bytes), naive(&plain.items, whole, 0, bytes.len()));
        if let Ok(glob) = Glob::with_groups(pattern.as_bytes(), options) {
            prop_assert_eq!(glob.matches(bytes), naive(&glob.items, whole, 0, bytes.len()));
            // Both ways to match agree where there is no group.
            let by_sets = groups::matches(&plain.items, whole);
            prop_assert_eq!(plain.matches(bytes), by_sets);
        }
    }
}
