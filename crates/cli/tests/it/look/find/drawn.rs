//! Tests of `find` put together by a generator, compared with those of GNU find.

use super::mounted;
use crate::skip;

/// How many combinations are tried.
const COMBINATIONS: u32 = 250;
/// How many tests a combination has at most.
const TESTS_MAX: usize = 4;

/// Numbers that are the same each time.
struct Draw(u64);

impl Draw {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % bound
    }

    fn of<'a>(&mut self, these: &[&'a str]) -> &'a str {
        these[self.below(these.len())]
    }

    fn sign(&mut self) -> &'static str {
        self.of(&["", "+", "-"])
    }
}

/// A test in the words of GNU find and in ours.
#[derive(Default)]
struct Pair {
    theirs: Vec<String>,
    ours: Vec<String>,
}

impl Pair {
    fn new(theirs: &[&str], ours: &[&str]) -> Self {
        let owned = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        Self {
            theirs: owned(theirs),
            ours: owned(ours),
        }
    }

    fn append(&mut self, other: Self) {
        self.theirs.extend(other.theirs);
        self.ours.extend(other.ours);
    }
}

/// A test of each kind by number; no kind stands twice in one combination, as ours knows each once.
fn test(kind: usize, draw: &mut Draw) -> Pair {
    match kind {
        0 => {
            let types = draw.of(&["f", "d", "l", "p", "b", "c", "s", "f,l", "d,p,c", "f,d,l,p"]);
            Pair::new(&["-type", types], &["--type", types])
        }
        1 => {
            // Listings have other lengths on disk.
            let bytes = draw.of(&["0", "1", "3", "4", "5", "300000", "1000000", "3000000"]);
            let amount = format!("{}{bytes}", draw.sign());
            let theirs = format!("{amount}c");
            Pair::new(
                &["!", "-type", "d", "-size", &theirs],
                &["--type", "f,l,p,b,c,s", "--size", &amount],
            )
        }
        2 => {
            let mode = format!("{}{:o}", draw.of(&["", "-", "/"]), draw.below(0o10000));
            let common = draw.of(&[
                "644", "755", "777", "-111", "/222", "/6000", "-1000", "/0", "-0",
            ]);
            let mode = if draw.below(2) == 0 { common } else { &mode };
            Pair::new(&["-perm", mode], &["--mode", mode])
        }
        3 => {
            let amount = format!("{}{}", draw.sign(), draw.below(5));
            Pair::new(&["-links", &amount], &["--links", &amount])
        }
        4 => {
            let id = draw.of(&["0", "5", "4000000", "1000"]);
            let (theirs, ours) = [("-uid", "--uid"), ("-gid", "--gid")][draw.below(2)];
            Pair::new(&[theirs, id], &[ours, id])
        }
        5 => {
            let time_s =
                [981_173_106, 1_000_000_000, 1_500_000_000][draw.below(3)] + draw.below(3) - 1;
            let (time, before) = (format!("@{time_s}"), format!("@{}", time_s - 1));
            if draw.below(2) == 0 {
                return Pair::new(&["-newermt", &time], &["--newer", &time[1..]]);
            }
            Pair::new(&["!", "-newermt", &before], &["--older", &time[1..]])
        }
        6 => {
            // The root has another name in the mount.
            let glob = draw.of(&[
                "*", "?", "[a-e]*", "*[!a-z]*", "h*", "*e", "n?*n", "[!d]", "\\d", "*i*",
            ]);
            Pair::new(
                &["!", "-path", ".", "-name", glob],
                &["--path", "/?*", "--name", glob],
            )
        }
        7 => {
            let glob = draw.of(&["*/d/*", "*/d", "*n/n*n", "*e*/*", "*/[a-d]", "*rd"]);
            Pair::new(&["-path", glob], &["--path", glob])
        }
        8 => {
            let part = draw.of(&[
                "/d/",
                "[ef]$",
                "(hard|link)+",
                "n{150}/n",
                "/d/[^/]*$",
                "o.e",
                "/[cb].*k",
            ]);
            let whole = match part.strip_suffix('$') {
                Some(part) => format!("\\..*({part})"),
                None => format!("\\..*({part}).*"),
            };
            Pair::new(
                &["-regextype", "posix-extended", "-regex", &whole],
                &["--regex", part],
            )
        }
        _ => Pair::new(&["-empty"], &["--empty"]),
    }
}

/// Levels, then some tests.
fn combination(draw: &mut Draw) -> Pair {
    let mut pair = Pair::default();
    if draw.below(3) == 0 {
        let depth = draw.below(5).to_string();
        let (theirs, ours) =
            [("-mindepth", "--min-depth"), ("-maxdepth", "--max-depth")][draw.below(2)];
        pair.append(Pair::new(&[theirs, &depth], &[ours, &depth]));
    }
    let mut kinds: Vec<usize> = Vec::new();
    for _ in 0..=draw.below(TESTS_MAX) {
        let kind = draw.below(10);
        // Ours takes each flag once, and the size comes with a type, the name with a path.
        let group = |kind: usize| match kind {
            0 | 1 => 0,
            6 | 7 => 6,
            kind => kind,
        };
        let is_repeated = kinds.iter().any(|known| group(*known) == group(kind));
        if !is_repeated {
            kinds.push(kind);
            pair.append(test(kind, draw));
        }
    }
    pair
}

#[test]
fn drawn_combinations_find_the_same_paths() {
    if skip::without_kernel() || skip::without_peer("find") {
        return;
    }
    let mounted = mounted();
    let mut draw = Draw(7);
    let mut some = 0;
    for number in 0..COMBINATIONS {
        let pair = combination(&mut draw);
        let theirs: Vec<&str> = pair.theirs.iter().map(String::as_str).collect();
        let ours: Vec<&str> = pair.ours.iter().map(String::as_str).collect();
        let what = format!(
            "{number}: find {} | coldpress find {}",
            theirs.join(" "),
            ours.join(" ")
        );
        some += usize::from(mounted.demand_equal(&theirs, &ours, &what) > 0);
    }
    // Tests of which nothing holds for anything would compare nothing.
    assert!(some > 80, "{some}");
}
