//! What the superblock and the lines on standard output say of an image.

use std::fs;

use super::tools::Workshop;
use super::tree;

fn workshop() -> Workshop {
    let workshop = Workshop::new();
    tree::write(&workshop.at("SRC"));
    workshop
}

#[test]
fn flags_are_those_of_squashfs_tools() {
    let workshop = workshop();
    // Values of mksquashfs 4.7.5: 0x80 exportable, 0x40 duplicates, 0x200 no xattrs, ...
    for (options, flags) in [
        ("", 0x00c0),
        ("-no-xattrs", 0x02c0),
        ("-noI", 0x00c1),
        ("-noId", 0x08c0),
        ("-noI -noId", 0x00c1),
        ("-noD -noF -noX", 0x01ca),
        ("-no-compression", 0x01cb),
        ("-no-fragments -no-duplicates", 0x0090),
        ("-tailends -no-exports", 0x0060),
    ] {
        workshop.done("mksquashfs", &format!("SRC out -noappend -quiet {options}"));
        let bytes = fs::read(workshop.at("out")).unwrap();
        let found = u16::from_le_bytes([bytes[24], bytes[25]]);
        assert_eq!(found, flags, "{options}: {found:#06x}");
    }
}

#[test]
#[expect(
    clippy::cast_precision_loss,
    reason = "sizes are printed with two decimals"
)]
fn the_summary_has_the_sizes_of_the_tables() {
    let workshop = workshop();
    let text = workshop.done("mksquashfs", "SRC out -noappend").text();
    let bytes = fs::read(workshop.at("out")).unwrap();
    let field = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
    let (used, inodes, listings) = (field(40), field(64), field(72));
    let kilobytes = used as f64 / 1024.0;
    for line in [
        format!(
            "Filesystem size {kilobytes:.2} Kbytes ({:.2} Mbytes)",
            kilobytes / 1024.0
        ),
        format!(
            "Inode table size {} bytes ({:.2} Kbytes)",
            listings - inodes,
            (listings - inodes) as f64 / 1024.0
        ),
    ] {
        assert!(text.lines().any(|found| found == line), "{line}\n{text}");
    }
    assert!(text.contains("\nDirectory table size "), "{text}");
    assert!(
        text.contains("% of uncompressed filesystem size ("),
        "{text}"
    );
    assert!(text.starts_with("Parallel mksquashfs: Using "), "{text}");
}

#[test]
fn blocks_and_bytes_before_compression_are_counted_as_by_mksquashfs() {
    let workshop = Workshop::new();
    fs::create_dir(workshop.at("FEW")).unwrap();
    workshop.file("FEW/blocks", &"x".repeat(10_000));
    workshop.file("FEW/again", &"x".repeat(10_000));
    workshop.file("FEW/tail", "abc");
    let text = workshop
        .done("mksquashfs", "FEW out -noappend -b 4096")
        .text();
    // Three blocks, the same again, and the tail end; all tables and the superblock.
    assert!(text.contains("] 7/7 100%\n"), "{text}");
    let sizes = "% of uncompressed filesystem size (19.90 Kbytes)\n";
    assert!(text.contains(sizes), "{text}");
    let text = workshop
        .done("mksquashfs", "FEW out -noappend -wildcards -e *")
        .text();
    assert!(text.contains("] 0/0 100%\n"), "{text}");
    let sizes = "\n\t100% of uncompressed directory table size (0 bytes)\n";
    assert!(text.contains(sizes), "{text}");
}

#[test]
fn a_pipe_gets_the_bar_of_mksquashfs() {
    let workshop = workshop();
    let bar = |line: &str| {
        let text = workshop
            .done("mksquashfs", &format!("SRC out -noappend {line}"))
            .text();
        text.contains("\r[=") && text.contains("] 4/4 100%\n")
            || text.matches(" 100%\n").count() == 1 && text.contains("\r[=")
    };
    assert!(bar("") && bar("-quiet") && bar("-info -progress"));
    for line in ["-no-progress", "-percentage", "-info"] {
        assert!(!bar(line), "{line}");
    }
}

#[test]
fn help_goes_to_standard_output() {
    let workshop = workshop();
    for tool in ["mksquashfs", "sqfstar"] {
        let help = workshop.done(tool, "--help");
        assert!(help.text().contains("-Xcompression-level"), "{tool}");
    }
}

#[test]
fn a_dictionary_is_no_larger_than_a_block() {
    let workshop = workshop();
    let line = "SRC out -noappend -comp xz -b 4096";
    let refused = workshop.run("mksquashfs", &format!("{line} -Xdict-size 8K"));
    assert_eq!(refused.code, Some(1));
    assert!(
        refused.stderr.contains("`-Xdict-size 8K`"),
        "{}",
        refused.stderr
    );
    workshop.done("mksquashfs", line);
}
