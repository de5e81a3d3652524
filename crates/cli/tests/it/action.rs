//! The action of the repository, `action.yml`: its steps, run in order as a runner of GitHub does.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};

use crate::run::{Ran, Stage, command, done, program, repository};

/// A step of `action.yml`.
#[derive(Debug, Default)]
struct Step {
    id: String,
    run: String,
    env: Vec<(String, String)>,
}

/// The inputs with their defaults, and the steps. Reads what the file uses of YAML: maps and lists
/// by their indent, and texts in one line.
fn action() -> (BTreeMap<String, String>, Vec<Step>) {
    let text = fs::read_to_string(repository().join("action.yml")).unwrap();
    let (mut inputs, mut steps) = (BTreeMap::new(), Vec::<Step>::new());
    let (mut section, mut input) = (String::new(), String::new());
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let indent = line.len() - line.trim_start().len();
        let item = line.trim_start().trim_start_matches("- ");
        let (key, value) = item.split_once(':').unwrap();
        let value = value.trim().trim_matches('\'').to_owned();
        match (section.as_str(), indent, key) {
            (_, 0, _) => key.clone_into(&mut section),
            ("inputs", 2, _) => key.clone_into(&mut input),
            ("inputs", 4, "default") => {
                inputs.insert(input.clone(), value);
            }
            ("runs", 4, _) => steps.push(Step::default()),
            ("runs", 6, "id") => steps.last_mut().unwrap().id = value,
            ("runs", 6, "run") => steps.last_mut().unwrap().run = value,
            ("runs", 8, _) => steps.last_mut().unwrap().env.push((key.to_owned(), value)),
            _ => {}
        }
    }
    (inputs, steps)
}

/// What `${{ EXPRESSION }}` stands for; any other text stands for itself.
fn value(text: &str, known: &BTreeMap<String, String>) -> String {
    let inner = text
        .strip_prefix("${{")
        .and_then(|text| text.strip_suffix("}}"));
    inner.map_or_else(
        || text.to_owned(),
        |name| known.get(name.trim()).cloned().unwrap_or_default(),
    )
}

/// A checkout with a tree, a release, and a runner's directory.
struct Job {
    stage: Stage,
}

impl Job {
    fn new() -> Self {
        let stage = Stage::new();
        for directory in ["tree", "runner", "bin", "release/bin"] {
            fs::create_dir_all(stage.at(directory)).unwrap();
        }
        for name in ["a", "b", "c"] {
            fs::write(stage.at("tree").join(name), name.repeat(10_000)).unwrap();
        }
        symlink(
            env!("CARGO_BIN_EXE_coldpress"),
            stage.at("release/bin/coldpress"),
        )
        .unwrap();
        program(
            Command::new("tar")
                .args(["-czf", "release.tar.gz", "release"])
                .current_dir(stage.directory()),
        );
        // In place of GitHub's: it keeps what it was told.
        let gh = stage.at("bin/gh");
        fs::write(&gh, "#!/bin/sh\nprintf '%s\\n' \"$@\" >gh.txt\n").unwrap();
        fs::set_permissions(&gh, fs::Permissions::from_mode(0o755)).unwrap();
        Self { stage }
    }

    /// Runs all steps; ends at the first that fails, as a runner does.
    fn run(&self, inputs: &[(&str, &str)]) -> Ran {
        let (mut known, steps) = action();
        known = known
            .into_iter()
            .map(|(name, value)| (format!("inputs.{name}"), value))
            .collect();
        for (name, value) in inputs {
            known.insert(format!("inputs.{name}"), (*value).to_owned());
        }
        let root = repository().to_str().unwrap().to_owned();
        known.insert("github.action_path".to_owned(), root);
        known.insert(
            "github.event.pull_request.number".to_owned(),
            "7".to_owned(),
        );
        assert!(steps.len() >= 6, "{steps:?}");
        let mut all = Ran {
            code: Some(0),
            stdout: Vec::new(),
            stderr: String::new(),
        };
        for step in steps {
            let ran = self.step(&step, &known);
            for line in self.lines("output") {
                let (name, value) = line.split_once('=').unwrap();
                known.insert(
                    format!("steps.{}.outputs.{name}", step.id),
                    value.to_owned(),
                );
            }
            all.code = ran.code;
            all.stdout.extend(ran.stdout);
            all.stderr += &ran.stderr;
            if ran.code != Some(0) {
                break;
            }
        }
        all
    }

    fn step(&self, step: &Step, known: &BTreeMap<String, String>) -> Ran {
        let runner = |name: &str| self.stage.at("runner").join(name);
        fs::write(runner("output"), "").unwrap();
        let mut path = self.lines("path");
        path.push(self.stage.at("bin").to_str().unwrap().to_owned());
        path.push(std::env::var("PATH").unwrap());
        let mut bash = Command::new("bash");
        // As GitHub runs `shell: bash`.
        bash.args(["--noprofile", "--norc", "-eo", "pipefail", "-c", &step.run])
            .current_dir(self.stage.directory())
            .env("PATH", path.join(":"))
            .env("RUNNER_TEMP", self.stage.at("runner"))
            .env("GITHUB_PATH", runner("path"))
            .env("GITHUB_OUTPUT", runner("output"))
            .env("GITHUB_STEP_SUMMARY", runner("summary"))
            .env("GITHUB_REPOSITORY", "owner/name")
            .env("GITHUB_SERVER_URL", "https://github.invalid")
            .env("COLDPRESS_CALIBRATION", "off");
        for (name, text) in &step.env {
            bash.env(name, value(text, known));
        }
        Ran::of(bash.output().unwrap())
    }

    /// The lines of a file of the runner's directory.
    fn lines(&self, name: &str) -> Vec<String> {
        let text = fs::read_to_string(self.stage.at("runner").join(name)).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    fn at(&self, name: &str) -> PathBuf {
        self.stage.at(name)
    }
}

const BENCH: &str = "build tree --tools coldpress --unpackers coldpress --block-sizes 128K --runs 6 \
                     --work-dir .";

#[test]
fn an_image_that_grew_fails_the_job_after_a_comment() {
    let job = Job::new();
    fs::write(job.at("list"), "/b\n").unwrap();
    let mut import = command();
    import.args([
        "profile",
        "import",
        "list",
        "--format",
        "list",
        "-o",
        "start.trace",
    ]);
    import.current_dir(job.stage.directory());
    program(&mut import);
    let inputs = [
        ("release", "release.tar.gz"),
        ("source", "tree"),
        ("profile", "start.trace"),
        ("options", "--compressor gzip --exclude 'c'"),
        ("bench", BENCH),
        ("fail-if", "size > 0%\nsize > +1000%"),
    ];
    // The main branch, of which there is no earlier run.
    let ran = job.run(&[&inputs[..], &[("base", "base.json")]].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.text().contains("::notice::base.json is missing"));
    assert!(!job.at("gh.txt").exists());
    let listed = done(["ls".into(), job.at("image.sqfs")]);
    assert_eq!(listed.text(), "a\nb\n");

    // The same, but one byte larger than what the base says.
    let mut base: Value =
        serde_json::from_slice(&fs::read(job.at("coldpress.json")).unwrap()).unwrap();
    for run in base["studies"][0]["runs"].as_array_mut().unwrap() {
        let size = run["figures"]["size_bytes"].as_f64().unwrap();
        run["figures"]["size_bytes"] = json!(size - 1.0);
    }
    fs::write(job.at("base.json"), base.to_string()).unwrap();
    let ran = job.run(&[&inputs[..], &[("base", "base.json")]].concat());
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    let told = fs::read_to_string(job.at("gh.txt")).unwrap();
    let words: Vec<_> = told.lines().collect();
    assert_eq!(words[..5], ["pr", "comment", "7", "--repo", "owner/name"]);
    let summary = job.lines("summary").join("\n");
    assert!(summary.contains("\n- :x: coldpress zstd-15 "), "{summary}");
    let comment = fs::read_to_string(job.at("runner/coldpress.md")).unwrap();
    assert_eq!(comment.trim_end(), summary);
}

#[test]
fn a_release_whose_checksum_differs_is_not_installed() {
    let job = Job::new();
    let sums = format!("{}  release.tar.gz\n", "0".repeat(64));
    fs::write(job.at("SHA256SUMS"), sums).unwrap();
    let ran = job.run(&[("release", "release.tar.gz"), ("source", "tree")]);
    assert_eq!(ran.code, Some(1), "{}", ran.text());
    assert!(ran.stderr.contains("did NOT match"), "{}", ran.stderr);
    assert!(!job.at("image.sqfs").exists());
}

#[test]
fn an_action_that_is_used_at_a_branch_asks_for_a_version() {
    let job = Job::new();
    let ran = job.run(&[("source", "tree")]);
    assert_eq!(ran.code, Some(1), "{}", ran.text());
    assert!(ran.text().contains("give a version"), "{}", ran.text());
}
