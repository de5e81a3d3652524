//! An image that a guest mounts through dm-verity: its reads beside those that are predicted.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::system::{System, noise};
use super::{TIMEOUT, begin, finish};
use crate::run::Session;
use crate::skip;

/// Opens the tree as docs/verity.md says, and tells what the disk read from the mount on.
const INIT: &str = "#!/bin/sh
/bin/busybox mount -t devtmpfs dev /dev
/bin/busybox mkdir -p /proc /sys /run /dev/shm
/bin/busybox mount -t proc proc /proc
/bin/busybox mount -t sysfs sys /sys
exec </dev/console >/dev/console 2>&1
for module in /modules/*; do /bin/busybox insmod $module; done
for word in $(/bin/busybox cat /proc/cmdline); do
    case $word in roothash=*) hash=${word#*=} ;; offset=*) offset=${word#*=} ;; esac
done
PROGRAM open /dev/vda app /dev/vda $hash --hash-offset=$offset
/bin/busybox mount -t squashfs -o ro /dev/mapper/app /root
read before _ sectors _ </sys/block/vda/stat
/bin/busybox cat /root/read >/dev/null
read after _ end _ </sys/block/vda/stat
echo figures $((after - before)) $(((end - sectors) * 512))
/bin/busybox printf 'small login: '
exec /bin/busybox sleep 1000
";

fn veritysetup() -> Option<PathBuf> {
    let places = ["/usr/sbin/veritysetup", "/sbin/veritysetup"];
    places
        .map(PathBuf::from)
        .into_iter()
        .find(|it| it.is_file())
}

/// What the guest said of the start: reads and bytes.
fn measured(chart: &Path) -> [f64; 2] {
    let chart: Value = serde_json::from_slice(&fs::read(chart).unwrap()).unwrap();
    let lines = chart["lines"].as_array().unwrap().iter();
    let mut lines = lines.filter_map(|line| line["text"].as_str()?.strip_prefix("figures "));
    let (reads, bytes) = lines
        .next()
        .expect("a line of figures")
        .split_once(' ')
        .unwrap();
    [reads, bytes].map(|number| number.trim().parse().unwrap())
}

/// The kernel reads hash blocks of 1 KiB in clusters of 128, which cover 8 MiB of data: so the
/// image has several without being large. Data blocks of 2 KiB are read alike by kernels that keep
/// the edges of reads and kernels before 6.6, which do not.
#[test]
fn a_guest_reads_through_a_hash_tree_what_is_predicted() {
    let (Some(parts), Some(program)) = (skip::guest_with_verity(), veritysetup()) else {
        return;
    };
    let session = Session::beside_others();
    let init = INIT.replace("PROGRAM", program.to_str().unwrap());
    System::of(&parts).write_with_verity(session.directory(), &init, &program);
    let root = session.at("root");
    fs::create_dir(&root).unwrap();
    for (seed, (name, mib)) in [("before", 9), ("read", 6), ("unread", 9)]
        .iter()
        .enumerate()
    {
        fs::write(root.join(name), noise(seed as u64 + 1, mib << 20)).unwrap();
    }
    let tree = [
        "--verity",
        "append",
        "--verity-data-block",
        "2048",
        "--verity-hash-block",
        "1024",
    ];
    let build = [&["-q", "build", "root", "root.sqfs", "--json"][..], &tree].concat();
    let tree = &session.done(build).json()["hash_tree"];
    let trace = "coldpress-trace 1\n0 1 L /read\n10 1 R 0-1535 /read\n";
    fs::write(session.at("trace"), trace).unwrap();
    let predict = ["-q", "predict", "root.sqfs", "--trace", "trace", "--json"];
    let predicted = session.done(predict).json();
    let without = session
        .done([&predict[..], &["--verity", "none"]].concat())
        .json();
    assert!(predicted["hash_reads"].as_u64() > Some(0), "{predicted}");
    assert_eq!(without["hash_reads"], 0);

    let hash = tree["root_hash"].as_str().unwrap();
    // A processor that is imitated may be too slow for the kernel's test of timers.
    let append = format!("no_timer_check roothash={hash} offset={}", tree["start"]);
    let more = [
        "--runs",
        "1",
        "--chart",
        "charts",
        "--timeout",
        TIMEOUT,
        "--name",
        "guest",
        "--append",
        &append,
    ];
    let ran = finish(begin(&session, &more));
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let measured = measured(&session.at("charts/1-guest.json"));
    for (name, measured) in ["reads", "read_bytes"].into_iter().zip(measured) {
        let predicted = predicted[name].as_f64().unwrap();
        let error = (predicted / measured - 1.0).abs();
        assert!(
            error <= 0.05,
            "{name}: {predicted} were predicted, {measured} are"
        );
    }
}
