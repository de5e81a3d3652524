//! What `-h` prints.

use super::Program;

/// The version whose command line is understood: programs compare it.
const UNDERSTOOD: &str = "0.6.2";

/// Usage and options. The lines of options begin as those of the programs, in which others look for
/// what they can use.
pub fn usage(program: Program) -> String {
    let (name, ours) = (program.name(), env!("CARGO_PKG_VERSION"));
    format!(
        "squashfuse {UNDERSTOOD} (coldpress {ours})\n\
         \n\
         Usage: {name} [options] ARCHIVE MOUNTPOINT\n\
         \n\
         {name} options:\n{OPTIONS}\
         \n\
         FUSE options:\n{FUSE_OPTIONS}\
         \n\
         docs/squashfuse.md lists all options and what becomes of them.\n"
    )
}

const OPTIONS: &str = "    \
    -o offset=N            begin at byte N of ARCHIVE; `auto` looks for it
    -o subdir=PATH         mount the directory PATH of ARCHIVE
    -o notify_pipe=PATH    write 's' (success) or 'f' (failure) to a named pipe
                           as soon as it is known whether it is mounted
    -o timeout=N           unmount after N seconds without use
    -o uid=N               let everything belong to user N
    -o gid=N               let everything belong to group N
";

const FUSE_OPTIONS: &str = "    \
    -h   --help            print this help
    -V   --version         print the version, and this help
    -d   -o debug          stay in the foreground
    -f                     stay in the foreground
    -s                     answer with one thread
    -o allow_other         let other users in
    -o default_permissions let owners and modes count
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_options_are_aligned_and_begin_as_those_of_the_programs() {
        let text = usage(Program::SquashfuseLl);
        assert!(text.starts_with("squashfuse 0.6.2 "));
        assert!(text.contains("\nUsage: squashfuse_ll [options] ARCHIVE MOUNTPOINT\n"));
        for option in ["offset=N", "subdir=PATH", "timeout=N", "uid=N", "gid=N"] {
            assert!(text.contains(&format!("\n    -o {option} ")), "{option}");
        }
        assert!(text.lines().all(|line| line.len() <= 80));
    }
}
