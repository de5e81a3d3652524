//! Lines as strace 6.1 prints them.

use std::fmt::Write as _;

use coldpress_trace::Error;
use coldpress_trace::import::{Format, Imported, Part, detect, read};

use super::{events, import, timeless, trace, unread};

fn strace(text: &str) -> Imported {
    import(Format::Strace, text.as_bytes()).expect("nothing is too large")
}

/// What is recorded, the lines, the events without times.
type Case<'a> = (&'a str, &'a str, &'a str);

fn check(cases: &[Case<'_>]) {
    for (what, text, expected) in cases {
        let imported = strace(text);
        assert_eq!(unread(&imported), [], "{what}");
        assert_eq!(timeless(&trace(imported)), *expected, "{what}");
    }
}

const START: &str = r#"24190 1795289800.589516 execve("/usr/bin/sh", ["sh", "-c", "cd /etc && cat hostname >/dev/nu"...], 0x7fffc2179920 /* 39 vars */) = 0
24190 1795289800.589808 brk(NULL)       = 0x55586cef3000
24190 1795289800.590062 access("/etc/ld.so.preload", R_OK) = -1 ENOENT (No such file or directory)
24190 1795289800.590105 openat(AT_FDCWD, "/etc/ld.so.cache", O_RDONLY|O_CLOEXEC) = 3
24190 1795289800.590134 newfstatat(3, "", {st_mode=S_IFREG|0644, st_size=38795, ...}, AT_EMPTY_PATH) = 0
24190 1795289800.590169 mmap(NULL, 38795, PROT_READ, MAP_PRIVATE, 3, 0) = 0x7f5c40109000
24190 1795289800.590193 close(3)        = 0
24190 1795289800.590220 openat(AT_FDCWD, "/lib/x86_64-linux-gnu/libc.so.6", O_RDONLY|O_CLOEXEC) = 3
24190 1795289800.590246 read(3, "\177ELF\2\1\1\3\0\0\0\0\0\0\0\0\3\0>\0\1\0\0\0\20t\2\0\0\0\0\0"..., 832) = 832
24190 1795289800.590272 pread64(3, "\6\0\0\0\4\0\0\0@\0\0\0\0\0\0\0@\0\0\0\0\0\0\0@\0\0\0\0\0\0\0"..., 784, 64) = 784
24190 1795289800.590372 mmap(0x7f5c3ff4d000, 1400832, PROT_READ|PROT_EXEC, MAP_PRIVATE|MAP_FIXED|MAP_DENYWRITE, 3, 0x26000) = 0x7f5c3ff4d000
24190 1795289800.590459 mmap(0x7f5c400fc000, 53072, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_FIXED|MAP_ANONYMOUS, -1, 0) = 0x7f5c400fc000
24190 1795289800.595335 --- SIGCHLD {si_signo=SIGCHLD, si_code=CLD_EXITED, si_pid=24226, si_uid=0, si_status=0, si_utime=0, si_stime=0} ---
24190 1795289800.595608 +++ exited with 0 +++
"#;

#[test]
fn the_start_of_a_program_is_told_with_times_and_pages() {
    let imported = strace(START);
    assert_eq!(unread(&imported), []);
    let expected = "0 24190 L /usr/bin/sh\n0 24190 M 0-0 /usr/bin/sh\n546 24190 D /etc\n\
                    589 24190 L /etc/ld.so.cache\n653 24190 M 0-9 /etc/ld.so.cache\n\
                    704 24190 L /lib/x86_64-linux-gnu/libc.so.6\n\
                    730 24190 R 0-0 /lib/x86_64-linux-gnu/libc.so.6\n\
                    856 24190 M 38-379 /lib/x86_64-linux-gnu/libc.so.6\n";
    assert_eq!(events(&trace(imported)), expected);
    assert_eq!(detect(START.as_bytes()), Some(Format::Strace));
}

#[test]
fn paths_are_relative_to_what_the_process_chose() {
    check(&[
        (
            "chdir, getcwd, fchdir and directories that were opened",
            r#"chdir("/usr/lib") = 0
stat("a", {st_mode=S_IFREG|0644, st_size=3, ...}) = 0
stat("../b", 0x7ffc) = -1 ENOENT (No such file or directory)
openat(AT_FDCWD, "/etc", O_RDONLY|O_DIRECTORY) = 4
openat(4, "hosts", O_RDONLY) = 5
fchdir(4) = 0
readlink("mtab", "../proc/self/mounts", 64) = 19
getcwd("/var/tmp", 4096) = 9
lstat("x", {st_mode=S_IFREG|0644, st_size=3, ...}) = 0
faccessat2(AT_FDCWD, "y", R_OK, AT_EACCESS) = -1 EACCES (Permission denied)
"#,
            "0 L /usr/lib\n0 L /usr/lib/a\n0 D /usr\n0 L /etc\n0 L /etc/hosts\n0 L /etc/mtab\n\
             0 L /var/tmp/x\n0 L /var/tmp/y\n",
        ),
        (
            "a child has its parent's directory and files, and changes only its own",
            r#"7 chdir("/a") = 0
7 openat(AT_FDCWD, "f", O_RDONLY) = 3
7 clone(child_stack=NULL, flags=CLONE_CHILD_CLEARTID|CLONE_CHILD_SETTID|SIGCHLD, child_tidptr=0x7f7) = 8
8 read(3, "x"..., 4096) = 4096
8 chdir("/b") = 0
8 stat("c", {...}) = 0
7 stat("c", {...}) = 0
7 read(3, "x"..., 4096) = 4096
"#,
            "7 L /a\n7 L /a/f\n8 R 0-0 /a/f\n8 L /b\n8 L /b/c\n7 L /a/c\n7 R 1-1 /a/f\n",
        ),
        (
            "threads share both",
            r#"7 clone3({flags=CLONE_VM|CLONE_FS|CLONE_FILES|CLONE_THREAD, child_tid=0x7f3, stack_size=0x7fff80} => {parent_tid=[8]}, 88) = 8
8 chdir("/b") = 0
8 openat(AT_FDCWD, "f", O_RDONLY) = 3
7 read(3, "x"..., 10) = 10
7 close(3) = 0
8 read(3, 0x7f, 10) = -1 EBADF (Bad file descriptor)
"#,
            "8 L /b\n8 L /b/f\n7 R 0-0 /b/f\n",
        ),
        (
            "a new root",
            r#"7 chroot("/mnt") = 0
7 chdir("/") = 0
7 execve("/bin/sh", ["sh"], 0x7ff /* 2 vars */) = 0
7 stat("etc", {...}) = 0
"#,
            "7 L /mnt\n7 L /mnt/bin/sh\n7 M 0-0 /mnt/bin/sh\n7 L /mnt/etc\n",
        ),
    ]);
}

#[test]
fn data_is_read_where_the_descriptor_is() {
    check(&[
        (
            "positions",
            r#"openat(AT_FDCWD, "/f", O_RDONLY) = 3
lseek(3, 8192, SEEK_SET) = 8192
read(3, "x", 1) = 1
dup(3) = 4
readv(4, [{iov_base="x", iov_len=4096}, {iov_base="", iov_len=9}], 2) = 4096
fcntl(3, F_DUPFD_CLOEXEC, 10) = 10
close(3) = 0
preadv2(10, [{iov_base="x", iov_len=1}], 1, 40960, 0) = 1
read(3, "", 10) = 0
sendfile(1, 10, NULL, 65536) = 100
sendfile(1, 10, [20480] => [20490], 10) = 10
copy_file_range(10, NULL, 7, NULL, 8192, 0) = 8192
"#,
            "0 L /f\n0 R 2-3 /f\n0 R 10-10 /f\n0 R 3-3 /f\n0 R 5-5 /f\n0 R 3-5 /f\n",
        ),
        (
            "listings",
            r#"openat(AT_FDCWD, "/etc/apt", O_RDONLY|O_NONBLOCK|O_CLOEXEC|O_DIRECTORY) = 3
getdents64(3, 0x5603b106a2a0 /* 9 entries */, 32768) = 296
getdents64(3, 0x5603b106a2a0 /* 0 entries */, 32768) = 0
"#,
            "0 L /etc/apt\n0 D /etc/apt\n",
        ),
        (
            "what is not open, or no file, is nothing",
            "read(0, \"x\", 1) = 1\npipe2([3, 4], O_CLOEXEC) = 0\nread(3, \"x\", 1) = 1\n\
             newfstatat(1, \"\", {st_mode=S_IFCHR|0620, ...}, AT_EMPTY_PATH) = 0\n\
             openat(AT_FDCWD, NULL, O_RDONLY) = -1 EFAULT (Bad address)\nexit_group(0) = ?\n",
            "",
        ),
    ]);
}

#[test]
fn what_strace_tells_of_descriptors_counts() {
    check(&[
        (
            "files that were open before, and where links lead",
            r#"24225 openat(AT_FDCWD</var/tmp>, "/lib/libc.so.6", O_RDONLY|O_CLOEXEC) = 3</usr/lib/libc.so.6>
24225 read(3</usr/lib/libc.so.6>, "\177ELF"..., 832) = 832
24225 stat("here", 0x7ffe39c29230) = 0
24225 getdents64(9</etc/apt>, 0x5603b106a2a0 /* 9 entries */, 32768) = 296
24225 read(12</etc/hosts>, "127"..., 5000) = 3
24225 lseek(12</etc/hosts>, 0, SEEK_SET) = 0
24225 read(12</etc/hosts>, "127"..., 5000) = 3
24225 newfstatat(9</etc/apt>, "x", {st_mode=S_IFREG|0644, ...}, AT_SYMLINK_NOFOLLOW) = 0
"#,
            "24225 L /lib/libc.so.6\n24225 L /usr/lib/libc.so.6\n24225 R 0-0 /usr/lib/libc.so.6\n\
             24225 L /var/tmp/here\n24225 D /etc/apt\n24225 L /etc/hosts\n24225 M 0-0 /etc/hosts\n\
             24225 R 0-0 /etc/hosts\n24225 L /etc/apt/x\n",
        ),
        (
            "devices, pipes, sockets and deleted files",
            "5 openat(AT_FDCWD</>, \"/dev/null\", O_RDONLY) = 13</dev/null<char 1:3>>\n\
             5 read(14<pipe:[1458090]>, \"x\", 1) = 1\n\
             5 read(15<TCP:[127.0.0.1:5->127.0.0.1:80]>, \"x\", 1) = 1\n\
             5 read(16</tmp/gone>(deleted), \"x\", 1) = 1\n\
             5 mmap(NULL, 10, PROT_READ, MAP_SHARED, 17</tmp/gone (deleted)>, 0) = 0x7f00\n",
            "5 L /dev/null\n",
        ),
        (
            "escapes",
            "5 openat(AT_FDCWD</>, \"/odd \\n\\\"\\\\\\303\\251\\377, x) = 3\", O_RDONLY) = 3</odd \\n\\\"\\\\\\303\\251\\377, x) = 3>\n\
             5 read(3</odd \\n\\\"\\\\\\303\\251\\377, x) = 3>, \"x\", 2) = 1\n\
             5 stat(\"/\\x61\\142c\", {...}) = 0\n",
            "5 L /odd \\n\"\\\\\u{e9}\\xff, x) = 3\n5 R 0-0 /odd \\n\"\\\\\u{e9}\\xff, x) = 3\n5 L /abc\n",
        ),
    ]);
}

#[test]
fn calls_that_others_interrupt_are_put_together() {
    check(&[
        (
            "a child that comes before its fork has returned",
            r#"24211      0.000000 chdir("/etc") = 0
24211      0.000021 vfork( <unfinished ...>
24212      0.000026 execve("/usr/bin/cat", ["cat", "hostname"], 0x5616cc33ed60 /* 39 vars */ <unfinished ...>
24211      0.000101 <... vfork resumed>) = 24212
24211      0.000024 wait4(-1,  <unfinished ...>
24212      0.000011 <... execve resumed>) = 0
24212      0.000011 openat(AT_FDCWD, "hostname", O_RDONLY <unfinished ...>
24212      0.000011 <... openat resumed>) = 3
24212      0.000011 read(3,  <unfinished ...>
24212      0.000011 <... read resumed>"vm\n", 131072) = 3
24212      0.000011 exit_group(0 <unfinished ...>
24212      0.000011 <... exit_group resumed>) = ?
24212      0.000011 +++ exited with 0 +++
24211      0.000003 <... wait4 resumed>[{WIFEXITED(s) && WEXITSTATUS(s) == 0}], 0, NULL) = 24212
"#,
            "24211 L /etc\n24212 L /usr/bin/cat\n24212 M 0-0 /usr/bin/cat\n24212 L /etc/hostname\n\
             24212 R 0-0 /etc/hostname\n",
        ),
        (
            "a terminal, where the first process gets a number late",
            r#"chdir("/etc") = 0
openat(AT_FDCWD, "hosts", O_RDONLY) = 3
clone3({flags=CLONE_VM|CLONE_FS|CLONE_FILES}strace: Process 26908 attached
 <unfinished ...>
[pid 26908] read(3,  <unfinished ...>
[pid 26907] <... clone3 resumed> => {parent_tid=[26908]}, 88) = 26908
[pid 26908] <... read resumed>"x", 1) = 1
[pid 26907] stat("a", {...}) = 0
[pid 26908] +++ exited with 0 +++
stat("b", {...}) = 0
"#,
            "0 L /etc\n0 L /etc/hosts\n26908 R 0-0 /etc/hosts\n26907 L /etc/a\n26907 L /etc/b\n",
        ),
        (
            "a message in a call that ends on the next line",
            r#"chdir("/etc") = 0
clone3({flags=CLONE_FS, stack_size=0x7fff80}strace: Process 26909 attached
 => {parent_tid=[26909]}, 88) = 26909
[pid 26909] chdir("/var") = 0
[pid 26907] stat("a", {...}) = 0
"#,
            "0 L /etc\n26909 L /var\n26907 L /var/a\n",
        ),
    ]);
}

#[test]
fn a_call_is_at_the_time_at_which_it_began() {
    let text = "1 10:00:00 open(\"/a\", O_RDONLY <unfinished ...>\n2 10:00:01 stat(\"/b\", {...}) = 0\n\
                1 10:00:02 <... open resumed>) = 3\n";
    let expected = "0 1 L /a\n1000000 2 L /b\n";
    assert_eq!(events(&trace(strace(text))), expected);
}

#[test]
fn files_of_each_process_are_one_recording() {
    let parent = "10.000001 chdir(\"/etc\") = 0\n10.000002 vfork() = 24232\n10.000009 stat(\"a\", {...}) = 0\n";
    let child = "10.000005 stat(\"b\", {...}) = 0\n10.000006 +++ exited with 0 +++\n";
    let with_times = |seconds: &str| {
        let [parent, child] = [parent, child].map(|text| text.replace("10.", seconds));
        let part = |text: &str, pid| (text.as_bytes().to_vec(), Some(pid));
        let parts = [part(&child, 24232), part(&parent, 24231)];
        let parts = parts.each_ref().map(|(text, pid)| Part { text, pid: *pid });
        let imported = read(&parts, Format::Strace, None).expect("small");
        (imported.unread_count, timeless(&trace(imported)))
    };
    // Absolute times put the parent first, whichever file is named first.
    let expected = "24231 L /etc\n24232 L /etc/b\n24231 L /etc/a\n";
    assert_eq!(with_times("1795289800."), (0, expected.to_owned()));
    // Relative ones do not: the directory of the child is not known.
    assert_eq!(with_times("0.").0, 1);
}

#[test]
fn what_is_not_understood_is_kept_and_counted() {
    let text = "stat(\"relative\", {...}) = 0\nwhat the program printed\nstat(\"/a\", {...}) = 0\n\
                <... read resumed>\"x\", 1) = 1\nopenat(AT_FDCWD, \"/b\nstat(\"/c\", {...}) = 0\n";
    let imported = strace(text);
    assert_eq!(imported.unread_count, 4);
    let expected = [
        (
            1,
            "a path relative to an unknown directory; `strace -y` records it",
        ),
        (2, "not a line of strace"),
        (4, "the beginning of the call is missing"),
    ];
    assert_eq!(unread(&imported), expected);
    assert_eq!(
        imported.unread[1].found.to_string(),
        "what the program printed"
    );
    assert_eq!(timeless(&trace(imported)), "0 L /a\n0 L /c\n");
}

#[test]
fn short_lines_that_repeat_long_paths_are_refused() {
    let mut text = format!("chdir(\"/{}\") = 0\n", "d".repeat(4000));
    for _ in 0..1000 {
        text.push_str("stat(\"a\", {}) = 0\nstat(\"b\", {}) = 0\n");
    }
    let error = import(Format::Strace, text.as_bytes()).expect_err("too large");
    assert!(matches!(error, Error::Growth { .. }), "{error}");
    let mut forks = String::new();
    for number in 0..3000 {
        writeln!(forks, "1 open(\"/a\", 0) = {number}").expect("a string takes all");
    }
    for child in 2..3000 {
        writeln!(forks, "1 fork() = {child}").expect("a string takes all");
    }
    let error = import(Format::Strace, forks.as_bytes()).expect_err("too large");
    assert!(matches!(error, Error::Growth { .. }), "{error}");
}
