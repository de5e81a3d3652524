//! Scripts that say what the configuration of an image says.

use std::fmt::Write as _;

use crate::config::RunConfig;

/// Runs the entrypoint with its arguments, as Docker does: those of the user replace those of the
/// image. Unless `--no-eval` is given, the shell evaluates the user's, as in all images that
/// Apptainer builds.
pub(super) fn runscript(run: &RunConfig) -> String {
    let command = if run.command().is_empty() {
        vec!["/bin/sh".to_owned()]
    } else {
        run.cmd.clone()
    };
    format!(
        "#!/bin/sh\n\
         if [ $# -eq 0 ]; then\n    set --{}\n\
         elif [ -z \"${{APPTAINER_NO_EVAL:-}}${{SINGULARITY_NO_EVAL:-}}\" ]; then\n    \
         arguments=\n    \
         for argument; do\n        arguments=\"$arguments \\\"$argument\\\"\"\n    done\n    \
         eval \"set -- $arguments\"\nfi\n\
         exec{} \"$@\"\n",
        words(&command),
        words(&run.entrypoint)
    )
}

/// Sets variables that nobody has set, and PATH in any case, as that of the host means nothing.
///
/// Names that no shell can set are left out; Apptainer cannot set them either.
pub(super) fn environment(variables: &[String]) -> String {
    let mut script = "#!/bin/sh\n".to_owned();
    for variable in variables {
        let (name, value) = variable.split_once('=').unwrap_or((variable, ""));
        if !is_name(name) {
            continue;
        }
        let value = quoted(value);
        let _ = if name == "PATH" {
            writeln!(script, "export PATH={value}")
        } else {
            writeln!(
                script,
                "[ -n \"${{{name}:-}}\" ] || {name}={value}\nexport {name}"
            )
        };
    }
    script
}

fn is_name(name: &str) -> bool {
    let is_letter = |letter: char| letter == '_' || letter.is_ascii_alphanumeric();
    name.chars().all(is_letter)
        && !name.is_empty()
        && !name.starts_with(|it: char| it.is_ascii_digit())
}

/// A word that the shell takes as it is.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// Words with a space before each.
fn words(words: &[String]) -> String {
    words
        .iter()
        .fold(String::new(), |text, word| text + " " + &quoted(word))
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    /// What a shell prints that runs a script.
    fn ran(script: &str, arguments: &[&str], variables: &[(&str, &str)]) -> String {
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", script, "script"]).args(arguments);
        shell.env_clear().envs(variables.iter().copied());
        let output = shell.output().unwrap();
        assert!(output.status.success(), "{script}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    fn config(entrypoint: &[&str], cmd: &[&str]) -> RunConfig {
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        RunConfig {
            entrypoint: words(entrypoint),
            cmd: words(cmd),
            ..RunConfig::default()
        }
    }

    #[test]
    fn arguments_replace_those_of_the_image() {
        let printf = ["/usr/bin/printf", "[%s]"];
        let script = runscript(&config(&printf, &["$HOME", "it's", "a  b"]));
        assert_eq!(ran(&script, &[], &[]), "[$HOME][it's][a  b]");
        let home = [("HOME", "/h")];
        assert_eq!(ran(&script, &["$HOME", "a  b"], &home), "[/h][a  b]");
        for name in ["APPTAINER_NO_EVAL", "SINGULARITY_NO_EVAL"] {
            assert_eq!(ran(&script, &["$HOME"], &[home[0], (name, "1")]), "[$HOME]");
        }
        let script = runscript(&config(&[], &["/bin/echo", "1"]));
        assert_eq!(ran(&script, &[], &[]), "1\n");
        assert_eq!(ran(&script, &["/bin/echo", "2"], &[]), "2\n");
        let script = runscript(&config(&["/bin/echo", "x"], &[]));
        assert_eq!(ran(&script, &[], &[]), "x\n");
        assert_eq!(ran(&script, &["y"], &[]), "x y\n");
        let script = runscript(&config(&[], &[]));
        assert_eq!(ran(&script, &["/bin/echo", "z"], &[]), "z\n");
        assert!(script.contains("set -- '/bin/sh'\n"));
    }

    #[test]
    fn variables_are_literal_and_do_not_replace_those_of_the_user() {
        let variables = [
            "A=1",
            "B=it's $HOME `x` \\",
            "PATH=/opt/bin:/bin",
            "a.b=1",
            "2=1",
            "C",
        ];
        let script = environment(&variables.map(str::to_owned));
        let script = script + "echo \"$A|$B|$PATH|$C\"";
        let host = [("HOME", "/h"), ("PATH", "/host"), ("A", "mine")];
        assert_eq!(
            ran(&script, &[], &host),
            "mine|it's $HOME `x` \\|/opt/bin:/bin|\n"
        );
    }

    #[test]
    fn the_scripts_of_every_container_are_right_for_a_shell() {
        for (path, text) in super::super::SCRIPTS {
            ran(&format!("set -n\n{text}"), &[], &[]);
            assert!(text.starts_with("#!/bin/sh\n"), "{path}");
        }
    }
}
