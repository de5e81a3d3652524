//! The program to start: arguments that name files of the source become those of the image.

use std::env;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use anyhow::anyhow;
use coldpress_container::RunConfig;
use coldpress_host::{Command, Ready};
use coldpress_report::failure::hint;

use crate::containers;
use crate::flags::command::CommandArgs;

/// What stands for the mounted image in arguments.
const ROOT: &str = "{root}";

/// The PATH of Docker for images that have none.
const CONTAINER_PATH: &str = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// The command as it is started from an image of `source`.
///
/// # Errors
///
/// If the condition of its readiness is none, or there is no command.
pub(crate) fn resolve(args: &CommandArgs, source: &Path) -> anyhow::Result<Command> {
    if !containers::is_container(source) {
        demand(args)?;
    }
    let source = source
        .canonicalize()
        .unwrap_or_else(|_| source.to_path_buf());
    let rewritten = args.command.iter().enumerate().map(|(index, arg)| {
        // A program without a slash is looked up in PATH, not in the working directory.
        let is_name = index == 0 && !arg.as_bytes().contains(&b'/');
        if is_name {
            arg.clone()
        } else {
            rewrite(arg, &source)
        }
    });
    Ok(Command {
        args: rewritten.collect(),
        chroot: args.chroot,
        environment: Vec::new(),
        working_directory: None,
        timeout_s: args.timeout.get(),
        ready: ready(args)?,
    })
}

/// Whether a program runs inside the image: it is asked for, or the image names the program itself.
pub(crate) fn is_inside(args: &CommandArgs, source: &Path) -> bool {
    args.chroot || (args.command.is_empty() && containers::is_container(source))
}

/// Lets a container image say what is not asked for: without a command it is the image's own, and
/// inside the image environment and working directory are too.
///
/// # Errors
///
/// If neither the user nor the image names a command.
pub(crate) fn complete(
    command: &mut Command,
    args: &CommandArgs,
    config: Option<&RunConfig>,
) -> anyhow::Result<()> {
    let Some(config) = config else {
        return demand(args);
    };
    if args.command.is_empty() {
        let own = config.command();
        if own.is_empty() {
            let error = anyhow!("the container image has no command of its own");
            return Err(hint(error, "write the command at the end, after `--`"));
        }
        command.args = own.into_iter().map(OsString::from).collect();
        command.chroot = true;
    }
    if !command.chroot {
        return Ok(());
    }
    let pairs = [CONTAINER_PATH].into_iter();
    let pairs = pairs.chain(config.env.iter().map(String::as_str));
    let pairs = pairs.filter_map(|pair| pair.split_once('='));
    // Others the system does not take.
    let pairs = pairs.filter(|(name, value)| !name.is_empty() && !value.contains('\0'));
    command.environment = pairs
        .map(|(name, value)| (name.into(), value.into()))
        .collect();
    if config.working_dir.starts_with('/') {
        command.working_directory = Some(PathBuf::from(&config.working_dir));
    }
    Ok(())
}

fn demand(args: &CommandArgs) -> anyhow::Result<()> {
    if args.command.is_empty() {
        let error = anyhow!("there is no command to start");
        return Err(hint(error, "write it at the end, after `--`"));
    }
    Ok(())
}

/// What ends the start.
///
/// # Errors
///
/// If the condition is none.
pub(crate) fn ready(args: &CommandArgs) -> anyhow::Result<Ready> {
    Ok(Ready::parse(&args.ready, &|name| env::var_os(name))?)
}

/// The command as it is started from an image: only `{root}` stands for its files.
///
/// # Errors
///
/// If the condition of its readiness is none.
pub(crate) fn of_image(args: &CommandArgs) -> anyhow::Result<Command> {
    Ok(Command {
        args: args.command.clone(),
        chroot: args.chroot,
        environment: Vec::new(),
        working_directory: None,
        timeout_s: args.timeout.get(),
        ready: ready(args)?,
    })
}

/// Replaces a path inside `source`, also as the value of `NAME=PATH`.
fn rewrite(arg: &OsStr, source: &Path) -> OsString {
    if let Some(inside) = inside(Path::new(arg), source) {
        return inside;
    }
    let bytes = arg.as_bytes();
    let Some(equals) = bytes.iter().position(|byte| *byte == b'=') else {
        return arg.to_owned();
    };
    let (name, value) = bytes.split_at(equals + 1);
    match inside(Path::new(OsStr::from_bytes(value)), source) {
        Some(value) => OsString::from_vec([name, value.as_bytes()].concat()),
        None => arg.to_owned(),
    }
}

/// The path below `{root}` of what exists inside `source`.
///
/// Only the directory is resolved: a link inside the source that leads out of it is still a file
/// of the image.
fn inside(path: &Path, source: &Path) -> Option<OsString> {
    path.symlink_metadata().ok()?;
    let resolved: PathBuf = match (path.file_name(), path.parent()) {
        (Some(name), Some(parent)) => {
            let parent = if parent.as_os_str().is_empty() {
                Path::new(".")
            } else {
                parent
            };
            parent.canonicalize().ok()?.join(name)
        }
        _ => path.canonicalize().ok()?,
    };
    // The source itself may be named through a link.
    let resolved = if resolved.starts_with(source) {
        resolved
    } else {
        source_itself(path, source)?
    };
    let below = resolved.strip_prefix(source).ok()?;
    let mut rewritten = OsString::from(ROOT);
    if !below.as_os_str().is_empty() {
        rewritten.push("/");
        rewritten.push(below);
    }
    Some(rewritten)
}

fn source_itself(path: &Path, source: &Path) -> Option<PathBuf> {
    path.canonicalize()
        .ok()
        .filter(|resolved| resolved == source)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::num::NonZeroU64;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn paths_inside_the_source_become_paths_of_the_image() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().canonicalize().unwrap();
        let source = root.join("app");
        fs::create_dir_all(source.join("bin")).unwrap();
        fs::write(source.join("bin/run me"), "").unwrap();
        symlink("/bin/sh", source.join("bin/sh")).unwrap();
        symlink(&source, root.join("link")).unwrap();
        let at = |path: &str| root.join(path).into_os_string();
        let with = |name: &str, path: &str| {
            let mut arg = OsString::from(name);
            arg.push(root.join(path));
            arg
        };
        for (arg, expected) in [
            (at("app/bin/run me"), Some("{root}/bin/run me")),
            (at("app/bin/../bin/sh"), Some("{root}/bin/sh")),
            (at("app"), Some("{root}")),
            (at("link"), Some("{root}")),
            (at("link/bin/sh"), Some("{root}/bin/sh")),
            (with("PYTHONHOME=", "app"), Some("{root}")),
            (with("--prefix=", "app/bin"), Some("{root}/bin")),
            (at("app/none"), None),
            (at(""), None),
            ("/bin/sh".into(), None),
            ("{root}/bin/x".into(), None),
            ("".into(), None),
        ] {
            let expected = expected.map_or(arg.clone(), |path| {
                let equals = arg.as_bytes().iter().position(|byte| *byte == b'=');
                let name = &arg.as_bytes()[..equals.map_or(0, |at| at + 1)];
                OsString::from_vec([name, path.as_bytes()].concat())
            });
            assert_eq!(rewrite(&arg, &source), expected, "{}", arg.display());
        }
    }

    #[test]
    fn a_container_image_says_what_is_not_asked_for() {
        let args = |chroot: bool, command: &[&str]| CommandArgs {
            chroot,
            timeout: NonZeroU64::MIN,
            ready: "exit".into(),
            command: command.iter().map(OsString::from).collect(),
        };
        let config = RunConfig {
            entrypoint: vec!["/bin/app".to_owned()],
            cmd: vec!["--now".to_owned()],
            env: vec![
                "PATH=/opt/bin".to_owned(),
                "A=1=2".to_owned(),
                "=".to_owned(),
            ],
            working_dir: "/srv".to_owned(),
            ..RunConfig::default()
        };
        let completed = |args: &CommandArgs, config: &RunConfig| {
            let mut command = of_image(args).unwrap();
            complete(&mut command, args, Some(config)).map(|()| command)
        };
        let own = completed(&args(false, &[]), &config).unwrap();
        assert_eq!(own.args, ["/bin/app", "--now"]);
        assert!(own.chroot);
        assert_eq!(own.working_directory, Some("/srv".into()));
        assert_eq!(own.environment.last(), Some(&("A".into(), "1=2".into())));
        let asked = completed(&args(true, &["sh"]), &config).unwrap();
        assert_eq!(asked.args, ["sh"]);
        assert_eq!(asked.environment, own.environment);
        let outside = completed(&args(false, &["sh"]), &config).unwrap();
        assert_eq!(
            (outside.environment, outside.working_directory),
            (vec![], None)
        );
        assert!(completed(&args(false, &[]), &RunConfig::default()).is_err());
    }

    #[test]
    fn a_program_without_a_slash_stays_a_name() {
        let directory = tempfile::tempdir().unwrap();
        let command = vec!["python3".into(), "-c".into()];
        let args = CommandArgs {
            chroot: true,
            timeout: NonZeroU64::MIN,
            ready: "exit".into(),
            command: command.clone(),
        };
        let resolved = resolve(&args, directory.path()).unwrap();
        assert_eq!((resolved.args, resolved.ready), (command, Ready::Exit));
    }
}
