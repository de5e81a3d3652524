//! What programs themselves say of the entries that they use.
//!
//! | lines | of |
//! |---|---|
//! | `omni.ja chrome.manifest` | Gecko, `MOZ_JAR_LOG_FILE` |
//! | `[0.1s][info][class,load] a.b.C source: file:/app.jar` | Java, `-Xlog:class+load` |
//! | `a/b/C id: 7` | Java, `-XX:DumpLoadedClassList` |
//! | `import time: 12 \| 34 \| a.b` | Python, `-X importtime` |
//! | `a/b.txt`, `12 : a/b.txt` | lists of entries; the second of `@electron/asar --ordering` |

use std::collections::{HashMap, HashSet};

use coldpress_report::text::base_name;

/// The entries that a start used, in its order.
#[derive(Clone, Debug, Default)]
pub struct StartLog {
    lines: Vec<Vec<u8>>,
}

/// What a line may mean.
struct Meaning {
    /// The end of the path of the archive, if it is known.
    archive: Option<Vec<u8>>,
    /// Names of entries, of which one is meant.
    names: Vec<Vec<u8>>,
}

impl StartLog {
    /// Takes any text.
    ///
    /// # Cost
    ///
    /// Memory in proportion to it.
    pub fn parse(text: &[u8]) -> Self {
        let lines = text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
        let told = lines.filter(|line| !line.is_empty() && !line.starts_with(b"#"));
        Self {
            lines: told.map(<[u8]>::to_vec).collect(),
        }
    }

    /// Places in `names` of the entries that were used, each once, and how many lines name none.
    ///
    /// Of several archives in the log, the one is meant whose name has most in common with the end
    /// of `path`: `browser/omni.ja` rather than `omni.ja`.
    pub fn used(&self, path: &[u8], names: &[&[u8]]) -> (Vec<usize>, usize) {
        let mut places: HashMap<&[u8], Vec<usize>> = HashMap::new();
        for (place, name) in names.iter().enumerate() {
            places.entry(name).or_default().push(place);
        }
        let is_name = |name: &[u8]| places.contains_key(name);
        let meanings = self.lines.iter().map(|line| meaning(line, &is_name));
        let meanings: Vec<Meaning> = meanings.collect();
        let archives = meanings
            .iter()
            .filter_map(|meaning| meaning.archive.as_deref());
        let best = archives
            .filter(|archive| is_end(path, archive))
            .max_by_key(|it| it.len());
        let mut taken = HashSet::new();
        let mut used = Vec::new();
        let mut unknown = 0;
        for meaning in &meanings {
            if meaning.archive.is_some() && meaning.archive.as_deref() != best {
                continue;
            }
            let mut found = meaning
                .names
                .iter()
                .filter_map(|name| places.get(name.as_slice()));
            match found.next() {
                Some(found) => used.extend(found.iter().filter(|place| taken.insert(**place))),
                None => unknown += 1,
            }
        }
        (used, unknown)
    }

    /// The names of archives in the log.
    pub fn archives(&self) -> Vec<Vec<u8>> {
        let meanings = self.lines.iter().map(|line| meaning(line, &|_| false));
        let mut archives: Vec<Vec<u8>> = meanings.filter_map(|meaning| meaning.archive).collect();
        archives.sort();
        archives.dedup();
        archives
    }
}

/// Whether a path ends with a shorter one, in whole names.
fn is_end(path: &[u8], end: &[u8]) -> bool {
    let before = path.strip_suffix(end);
    before
        .is_some_and(|before| before.is_empty() || before.ends_with(b"/") || end.starts_with(b"/"))
}

fn meaning(line: &[u8], is_name: &dyn Fn(&[u8]) -> bool) -> Meaning {
    let of_any = |names| Meaning {
        archive: None,
        names,
    };
    if is_name(line) {
        return of_any(vec![line.to_vec()]);
    }
    if let Some(import) = line.strip_prefix(b"import time:") {
        return of_any(module(
            import
                .rsplit(|byte| *byte == b'|')
                .next()
                .unwrap_or_default(),
        ));
    }
    if let Some((class, source)) = split(line, b" source: ") {
        return class_load(
            class
                .rsplit(|byte| *byte == b' ')
                .next()
                .unwrap_or_default(),
            source,
        );
    }
    if let Some((class, _)) = split(line, b" id: ") {
        return of_any(vec![[class, b".class"].concat()]);
    }
    if let Some((_, name)) = split(line, b" : ") {
        return of_any(vec![name.trim_ascii().to_vec()]);
    }
    match split(line, b" ") {
        Some((archive, name)) => Meaning {
            archive: Some(archive.to_vec()),
            names: vec![name.to_vec()],
        },
        None => of_any(vec![line.to_vec(), [line, b".class"].concat()]),
    }
}

/// The files of a Python module.
fn module(name: &[u8]) -> Vec<Vec<u8>> {
    let dotted = name.trim_ascii().iter();
    let path = dotted.map(|&byte| if byte == b'.' { b'/' } else { byte });
    let path: Vec<u8> = path.collect();
    let ends: [&[u8]; 4] = [b".py", b".pyc", b"/__init__.py", b"/__init__.pyc"];
    ends.map(|end| [path.as_slice(), end].concat()).to_vec()
}

/// A class and where it came from: `file:/app.jar`, or in an archive in an archive
/// `jar:nested:/app.jar/!BOOT-INF/lib/x.jar!/`, whose outer one has the inner one as its entry.
fn class_load(class: &[u8], source: &[u8]) -> Meaning {
    let dotted = class.iter();
    let path = dotted.map(|&byte| if byte == b'.' { b'/' } else { byte });
    let file: Vec<u8> = path.chain(*b".class").collect();
    let mut parts = source.split(|byte| *byte == b'!');
    let outer = parts.next().unwrap_or_default();
    let outer = outer.strip_suffix(b"/").unwrap_or(outer);
    let start = outer
        .iter()
        .position(|byte| *byte == b'/')
        .unwrap_or(outer.len());
    let inner = parts.map(<[u8]>::trim_ascii_start);
    let inner = inner.map(|part| part.strip_prefix(b"/").unwrap_or(part));
    let inner: Vec<u8> = inner
        .take_while(|part| !part.is_empty())
        .take(1)
        .flatten()
        .copied()
        .collect();
    let in_directory = [inner.strip_suffix(b"/").unwrap_or(&inner), b"/", &file].concat();
    Meaning {
        archive: Some(outer.get(start..).unwrap_or_default().to_vec()),
        names: if inner.is_empty() {
            vec![file]
        } else {
            vec![inner, in_directory]
        },
    }
}

fn split<'a>(line: &'a [u8], at: &[u8]) -> Option<(&'a [u8], &'a [u8])> {
    let place = line.windows(at.len()).position(|window| window == at)?;
    Some((line.get(..place)?, line.get(place + at.len()..)?))
}

/// A line of Gecko's log.
pub fn jar_log_line(archive: &[u8], entry: &[u8]) -> Vec<u8> {
    [base_name(archive), b" ", entry, b"\n"].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn used(log: &str, path: &str, names: &[&str]) -> (Vec<usize>, usize) {
        let names: Vec<&[u8]> = names.iter().map(|name| name.as_bytes()).collect();
        StartLog::parse(log.as_bytes()).used(path.as_bytes(), &names)
    }

    #[test]
    fn each_program_says_it_in_its_way() {
        let gecko = "omni.ja b\nbrowser/omni.ja a\nomni.ja a\nomni.ja b\n";
        assert_eq!(
            used(gecko, "/usr/lib/firefox/omni.ja", &["a", "b"]),
            (vec![1, 0], 0)
        );
        assert_eq!(used(gecko, "/x/browser/omni.ja", &["a", "b"]), (vec![0], 0));
        let java = "[0.1s][info][class,load] a.B source: file:/x/app.jar\n\
                    [0.1s][info][class,load] java.lang.Object source: shared objects file\n";
        assert_eq!(used(java, "/x/app.jar", &["a/B.class"]).0, [0]);
        let spring = "[0.1s] a.B source: jar:nested:/x/app.jar/!BOOT-INF/lib/y.jar!/\n\
                      [0.2s] a.C source: jar:file:/x/app.jar!/BOOT-INF/classes!/\n";
        let names = ["BOOT-INF/classes/a/C.class", "BOOT-INF/lib/y.jar"];
        assert_eq!(used(spring, "/x/app.jar", &names).0, [1, 0]);
        assert_eq!(
            used("a/B id: 3\nc/D\n", "x", &["c/D.class", "a/B.class"]).0,
            [1, 0]
        );
        let python = "import time: self [us] | cumulative | imported package\n\
                      import time:        12 |         12 |   a.b\nimport time: 1 | 2 | a\n";
        assert_eq!(
            used(python, "x", &["a/__init__.pyc", "a/b.py"]),
            (vec![1, 0], 1)
        );
        assert_eq!(used("1 : b\na c\n", "x", &["a c", "b"]).0, [1, 0]);
    }

    #[test]
    fn duplicates_are_used_together() {
        assert_eq!(used("a\n", "x", &["a", "b", "a"]).0, [0, 2]);
    }
}
