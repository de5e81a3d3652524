use coldpress_image::Image;
use coldpress_snap::Metadata;

use super::super::trial::image;
use super::*;

/// A snap of the type that keeps every rule, but for its blocks of 64 KiB.
fn survey(kind: Kind, compressor: Compressor) -> Survey {
    let made = image::make(compressor, None).unwrap();
    let image = Image::new(Box::new(made.bytes)).unwrap();
    let mut survey = Survey::of(&image).unwrap();
    let text = format!("name: hello\nversion: 1\ntype: {}\n", kind.name());
    survey.metadata = Ok(Metadata::parse(text.as_bytes()).unwrap());
    survey.superblock.block_size = coldpress_format::BlockSize::new(BLOCK_BYTES).unwrap();
    survey
}

/// What is not as it should be of a snap that was changed so.
fn found(kind: Kind, change: impl FnOnce(&mut Survey)) -> Vec<(Verdict, &'static str)> {
    let mut survey = survey(kind, Compressor::Xz);
    change(&mut survey);
    let resquashed = Resquashed {
        verdict: Verdict::Yes,
        why: "mksquashfs made the same bytes".to_owned(),
        reasons: Vec::new(),
    };
    let padded = survey.superblock.bytes_used.next_multiple_of(4096);
    let findings = survey.judge(padded, Some(&resquashed));
    let findings = findings.into_iter().map(|it| (it.verdict, it.about));
    findings
        .filter(|(verdict, _)| *verdict != Verdict::Yes)
        .collect()
}

fn places(count: u64) -> Places {
    let mut places = Places::default();
    for number in 0..count {
        places.note(format!("/{number}").as_bytes(), "found");
    }
    places
}

#[test]
fn a_snap_that_keeps_every_rule_has_each_of_them_met() {
    for kind in [Kind::App, Kind::Gadget, Kind::Kernel, Kind::Snapd] {
        assert_eq!(found(kind, |_| {}), [], "{kind:?}");
    }
    let findings = survey(Kind::App, Compressor::Xz).judge(4096, None);
    let names: Vec<_> = findings.iter().map(|it| it.about).collect();
    let rules = [
        "compressor",
        "size",
        "fragments",
        "block size",
        "compressor options",
        "padding",
        "xattrs",
        "owners",
        "modes",
        "file types",
        "symlinks",
        "snap.yaml",
        "meta",
        "apps",
        "resquash",
        "deltas",
    ];
    assert_eq!(names, rules);
}

#[test]
fn each_rule_is_broken_by_its_snap_unless_its_type_is_exempt() {
    use Kind::{App, Base, Kernel, Snapd};
    use Verdict::{No, Partly, Unknown};
    type Case = (&'static str, fn(&mut Survey), [(Kind, Verdict); 3]);
    let cases: [Case; 11] = [
        (
            "fragments",
            |it| it.superblock.fragment_count = 2,
            [(App, No), (Base, No), (Snapd, No)],
        ),
        (
            "block size",
            |it| it.superblock.block_size = coldpress_format::BlockSize::MIN,
            [(App, No), (Base, Verdict::Yes), (Kernel, No)],
        ),
        (
            "xattrs",
            |it| it.xattrs = places(1),
            [(App, No), (Base, Verdict::Yes), (Snapd, Unknown)],
        ),
        (
            "owners",
            |it| it.owners = places(1),
            [(App, No), (Base, Verdict::Yes), (Kernel, No)],
        ),
        (
            "modes",
            |it| it.modes = places(1),
            [(App, No), (Base, Unknown), (Snapd, No)],
        ),
        (
            "file types",
            |it| it.kinds = places(1),
            [(App, No), (Base, Unknown), (Kernel, No)],
        ),
        (
            "symlinks",
            |it| it.leaving = places(1),
            [(App, No), (Base, Verdict::Yes), (Kernel, Verdict::Yes)],
        ),
        (
            "symlinks",
            |it| it.links_are_followed = false,
            [(App, Unknown), (Base, Unknown), (Kernel, Unknown)],
        ),
        (
            "meta",
            |it| it.unreadable = places(1),
            [(App, No), (Base, No), (Kernel, No)],
        ),
        (
            "apps",
            |it| it.programs = places(1),
            [(App, No), (Base, No), (Kernel, No)],
        ),
        (
            "deltas",
            |it| it.superblock.block_size = coldpress_format::BlockSize::MIN,
            [(App, Partly), (Base, Partly), (Kernel, Partly)],
        ),
    ];
    for (rule, change, expected) in cases {
        for (kind, verdict) in expected {
            let found = found(kind, change);
            let of_it = found.iter().find(|(_, about)| *about == rule);
            let of_it = of_it.map_or(Verdict::Yes, |(verdict, _)| *verdict);
            assert_eq!(of_it, verdict, "{rule} of {kind:?}");
        }
    }
    let without = found(App, |it| it.metadata = Err("there is none".to_owned()));
    assert_eq!(without, [(No, "snap.yaml")]);
}

#[test]
fn the_end_of_the_file_is_where_mksquashfs_or_snap_pack_puts_it() {
    let mut survey = survey(Kind::App, Compressor::Xz);
    for (used, size_bytes, verdict) in [
        (5000, 8192, Verdict::Yes),
        (5000, SNAP_MIN_BYTES, Verdict::Yes),
        (5000, 5000, Verdict::No),
        (5000, 12_288, Verdict::No),
        (20_000, 20_480, Verdict::Yes),
        (20_000, SNAP_MIN_BYTES, Verdict::No),
    ] {
        survey.superblock.bytes_used = used;
        assert_eq!(
            survey.padding(size_bytes).verdict,
            verdict,
            "{used} {size_bytes}"
        );
    }
    assert_eq!(size(SNAP_MAX_BYTES).verdict, Verdict::Yes);
    assert_eq!(size(SNAP_MAX_BYTES + 1).verdict, Verdict::No);
}

#[test]
fn what_differs_when_it_is_made_again_is_refused() {
    for (kind, verdict, expected) in [
        (
            Kind::App,
            Verdict::No,
            [(Verdict::No, "resquash"), (Verdict::Partly, "deltas")],
        ),
        (
            Kind::App,
            Verdict::Unknown,
            [(Verdict::Unknown, "resquash"), (Verdict::Unknown, "deltas")],
        ),
    ] {
        let why = "by mksquashfs 4.5".to_owned();
        let findings = survey(kind, Compressor::Lzo).judge(
            4096,
            Some(&Resquashed {
                verdict,
                why,
                reasons: vec!["a differs".to_owned()],
            }),
        );
        let mut last = findings.iter().rev().take(2);
        for (verdict, about) in expected.into_iter().rev() {
            let found = last.next().unwrap();
            assert_eq!((found.verdict, found.about), (verdict, about));
        }
    }
    let resquashed = Resquashed {
        verdict: Verdict::No,
        why: String::new(),
        reasons: Vec::new(),
    };
    let findings = survey(Kind::Base, Compressor::Xz).judge(4096, Some(&resquashed));
    let resquash = findings.iter().find(|it| it.about == "resquash").unwrap();
    assert_eq!(resquash.verdict, Verdict::Yes);
}

#[test]
fn some_of_many_places_are_named() {
    let finding = met("owners", "").at(&places(7));
    let shown: Vec<_> = finding.places.iter().map(String::as_str).collect();
    let expected = [
        "`/0` (found)",
        "`/1` (found)",
        "`/2` (found)",
        "`/3` (found)",
        "`/4` (found)",
    ];
    assert_eq!(shown[..5], expected);
    assert_eq!(shown[5..], ["and 2 more"]);
}

#[test]
fn the_store_asks_mksquashfs_for_the_compressor_of_the_upload() {
    for (compressor, name, refused) in [
        (Compressor::Xz, "xz", 0),
        (Compressor::Lzo, "lzo", 0),
        (Compressor::Zstd, "xz", 1),
    ] {
        let survey = survey(Kind::App, compressor);
        assert_eq!(survey.mksquashfs_options()[4], name);
        assert_eq!(survey.refused_at_once().len(), refused);
    }
}
