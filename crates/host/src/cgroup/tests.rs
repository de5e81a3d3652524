use super::*;

const V1_MOUNTS: &str = "\
22 1 0:5 / /proc rw,relatime - proc proc rw
30 22 0:28 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw
31 22 0:29 / /sys/fs/cgroup/cpu rw,relatime shared:9 - cgroup cgroup rw,cpu
32 22 0:30 / /sys/fs/cgroup/blk\\040io rw,relatime shared:10 - cgroup cgroup rw,blkio
";
const V2_MOUNTS: &str = "30 22 0:28 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw,nsdelegate\n";

fn check(mounts: &str, own: &str, expected: Option<(&str, Version)>) {
    let found = parse_hierarchy(mounts, own, |path| !path.ends_with("missing"));
    let expected = expected.map(|(parent, version)| Hierarchy {
        parent: parent.into(),
        version,
    });
    assert_eq!(found, expected);
}

#[test]
fn the_blkio_hierarchy_is_preferred_and_used_below_the_own_group() {
    let own = |group: &str| format!("8:pids:/\n7:blkio:{group}\n0::/\n");
    let at = "/sys/fs/cgroup/blk io";
    check(
        V1_MOUNTS,
        &own("/"),
        Some(("/sys/fs/cgroup/blk io/", Version::V1)),
    );
    check(
        V1_MOUNTS,
        &own("/jobs/1"),
        Some(("/sys/fs/cgroup/blk io/jobs/1", Version::V1)),
    );
    check(V1_MOUNTS, &own("/missing"), Some((at, Version::V1)));
    check(V1_MOUNTS, "", Some((at, Version::V1)));
    check(
        V2_MOUNTS,
        "0::/user\n",
        Some(("/sys/fs/cgroup", Version::V2)),
    );
    check("22 1 0:5 / /proc rw - proc proc rw\n", "", None);
    check("", "", None);
    check("not a line of mountinfo", "", None);
}

#[test]
fn limits_are_written_as_each_version_wants() {
    let lines = |version, text| {
        limit_lines(version, (7, 3), &Device::parse(text).unwrap())
            .into_iter()
            .map(|(file, line)| format!("{file}: {line}"))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        lines(Version::V1, "usb2"),
        [
            "blkio.throttle.read_bps_device: 7:3 25000000",
            "blkio.throttle.read_iops_device: 7:3 400",
        ]
    );
    assert_eq!(
        lines(Version::V1, "iops=9"),
        ["blkio.throttle.read_iops_device: 7:3 9"]
    );
    assert_eq!(
        lines(Version::V2, "sd"),
        ["io.max: 7:3 rbps=20000000 riops=500"]
    );
    assert_eq!(lines(Version::V2, "bw=7"), ["io.max: 7:3 rbps=7 riops=max"]);
    assert!(lines(Version::V1, "host").is_empty());
    assert!(lines(Version::V2, "host").is_empty());
}

#[test]
fn a_group_of_the_unified_hierarchy_ends_its_members() {
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
    let unified = mounts.lines().find(|line| line.contains(" - cgroup2 "));
    let hierarchy = parse_hierarchy(unified.unwrap_or(""), "", |_| true);
    let group = hierarchy.and_then(|hierarchy| Cgroup::create_in(&hierarchy, "unified").ok());
    let Some(group) = group else {
        coldpress_testkit::missing("root", "a cgroup of the unified hierarchy");
        return;
    };
    let mut child = process::Command::new("sleep").arg("600").spawn().unwrap();
    fs::write(group.path().join("cgroup.procs"), child.id().to_string()).unwrap();
    group.kill_all().unwrap();
    assert!(!child.wait().unwrap().success());
    let path = group.path().to_owned();
    drop(group);
    assert!(!path.exists());
}
