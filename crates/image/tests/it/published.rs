//! Images for published defects, read in this process: an error that says where, or the truth.

use std::time::{Duration, Instant};

use coldpress_image::{Error, Image, Severity, walk};
use coldpress_nasty::{Case, defects};

use crate::defects::found;

/// No small image may take longer than this, on a busy machine.
const PATIENCE: Duration = Duration::from_secs(5);
/// Bytes that are read of each file.
const READ_BYTES: usize = 1 << 20;

/// What is said of an image: why it does not open, or what a check finds.
fn told(case: &Case) -> String {
    match Image::new(Box::new(case.bytes.clone())) {
        Err(error) => error.to_string(),
        Ok(image) => {
            let errors = found(&image)
                .into_iter()
                .filter(|problem| problem.severity == Severity::Error);
            let texts = errors
                .map(|it| it.to_string())
                .collect::<Vec<_>>()
                .join("\n");
            let read = read_all(&image);
            assert!(
                read.is_ok() || !texts.is_empty(),
                "{}: check is content, but {read:?}",
                case.what
            );
            texts
        }
    }
}

/// Walks, and reads all that is there, up to a limit.
fn read_all(image: &Image) -> Result<(), Error> {
    let mut buf = vec![0; READ_BYTES];
    walk(image, &mut |visited| {
        image.owner(visited.inode)?;
        image.xattrs(visited.inode)?;
        if let Some(file) = &visited.file(image)? {
            image.read_at(file, 0, &mut buf)?;
            image.read_at(file, file.size_bytes.saturating_sub(10), &mut buf)?;
        }
        Ok(())
    })
}

fn check(cases: Vec<Case>) {
    assert!(!cases.is_empty());
    for case in cases {
        let started = Instant::now();
        let told = told(&case);
        let what = &case.what;
        match case.says {
            None => {}
            Some("") => assert_eq!(told, "", "{what}"),
            Some(says) => assert!(told.contains(says), "{what}: `{says}` is not in: {told}"),
        }
        let time = started.elapsed();
        assert!(time < PATIENCE, "{what} takes {time:?}");
    }
}

#[test]
fn cve_2012_4025_block_logs_and_sizes_that_overflow() {
    check(defects::block_sizes());
}

#[test]
fn cve_2015_4645_fragment_and_inode_counts_that_overflow() {
    check(defects::counts());
}

#[test]
fn cve_2021_40153_names_that_lead_elsewhere() {
    check(defects::names());
}

#[test]
fn cve_2021_41072_a_symlink_and_a_directory_of_one_name() {
    check(defects::one_name_twice());
}

#[test]
fn cve_2021_41072_directories_with_two_parents() {
    check(defects::loops());
}

#[test]
fn cve_2024_26982_inode_number_0() {
    check(defects::inode_numbers());
}

#[test]
fn cve_2025_40200_negative_file_sizes() {
    check(defects::file_sizes());
}

#[test]
fn cve_2023_52933_negative_numbers_of_xattr_sets() {
    check(defects::xattr_tables());
}

#[test]
fn cve_2024_46744_symlink_targets_over_a_page() {
    check(defects::targets());
}

#[test]
fn cve_2025_40049_bogus_parents() {
    check(defects::parents());
}

#[test]
fn cve_2025_38415_odd_sizes_of_the_device() {
    check(defects::image_sizes());
}

#[test]
fn squashfs_tools_152_tail_ends_outside_their_block() {
    check(defects::tail_ends());
}

#[test]
fn squashfs_tools_2026_positions_that_overflow() {
    check(defects::positions());
}

#[test]
fn squashfs_tools_2026_indexes_that_lead_outside() {
    check(defects::indexes());
}

#[test]
fn squashfuse_153_name_sizes_over_any_buffer() {
    check(defects::name_sizes());
}

#[test]
fn squashfuse_154_indexes_of_owners_and_xattrs() {
    check(defects::owners());
}

#[test]
fn squashfuse_158_references_behind_their_block() {
    check(defects::root_references());
}

#[test]
fn squashfuse_158_listings_behind_their_block() {
    check(defects::listing_places());
}

#[test]
fn backhand_494_modes_and_types_that_are_none() {
    check(defects::modes_and_types());
}

#[test]
fn trosinenko_2018_headers_of_metadata_blocks() {
    check(defects::metadata_headers());
}

#[test]
fn trosinenko_2018_fragment_blocks_of_negative_length() {
    check(defects::fragment_tables());
}

#[test]
fn kernel_words_of_a_block_list_with_high_bits() {
    check(defects::block_words());
}

#[test]
fn blocks_that_hold_more_than_a_block() {
    check(defects::content_bombs());
}

#[test]
fn blocks_in_the_middle_of_blocks() {
    check(defects::overlapping_blocks());
}

#[test]
fn metadata_blocks_that_hold_more_than_8_kib() {
    check(defects::metadata_bombs());
}

#[test]
fn files_of_holes_without_end() {
    check(defects::endless_files());
}

#[test]
fn runs_of_more_entries_than_there_are() {
    check(defects::run_counts());
}

#[test]
fn listings_of_more_bytes_than_there_are() {
    check(defects::listing_sizes());
}

#[test]
fn directory_indexes_longer_than_their_inode() {
    check(defects::directory_indexes());
}

#[test]
fn sets_of_more_xattrs_than_there_are() {
    check(defects::xattr_indexes());
}

#[test]
fn xattrs_that_refer_in_circles() {
    check(defects::xattr_pairs());
}

#[test]
fn streams_that_want_gigabytes() {
    check(defects::streams_that_want_memory());
}

#[test]
fn options_of_compressors_out_of_range() {
    check(defects::compressor_options());
}

#[test]
fn compressors_that_are_none() {
    check(defects::compressor_numbers());
}

#[test]
fn other_magics_and_versions() {
    check(defects::versions());
}

#[test]
fn images_cut_at_each_structure() {
    check(defects::truncations());
}

#[test]
fn symlinks_that_lead_out() {
    check(defects::outward_links(b"/etc/passwd"));
}

#[test]
fn directories_of_65535_levels() {
    check(vec![defects::nested_directories(65_535)]);
}

#[test]
fn more_names_than_bytes() {
    check(vec![
        defects::large_listings(30, 4000),
        defects::large_listings(1000, 4800),
    ]);
}
