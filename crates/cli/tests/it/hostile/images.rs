//! Images for published defects, and for work without end, for every verb that reads images.

use coldpress_nasty::defects;

use super::verbs::{everywhere, everywhere_but};

#[test]
fn cve_2012_4025_block_logs_and_sizes_that_overflow() {
    everywhere(&defects::block_sizes());
}

#[test]
fn cve_2015_4645_fragment_and_inode_counts_that_overflow() {
    everywhere(&defects::counts());
}

#[test]
fn cve_2021_40153_names_that_lead_elsewhere() {
    everywhere(&defects::names());
}

#[test]
fn cve_2021_41072_a_symlink_and_a_directory_of_one_name() {
    everywhere(&defects::one_name_twice());
}

#[test]
fn cve_2021_41072_directories_with_two_parents() {
    everywhere(&defects::loops());
}

#[test]
fn cve_2024_26982_inode_number_0() {
    everywhere(&defects::inode_numbers());
}

#[test]
fn cve_2025_40200_negative_file_sizes() {
    everywhere(&defects::file_sizes());
}

#[test]
fn cve_2023_52933_negative_numbers_of_xattr_sets() {
    everywhere(&defects::xattr_tables());
}

#[test]
fn cve_2024_46744_symlink_targets_over_a_page() {
    everywhere(&defects::targets());
}

#[test]
fn cve_2025_40049_bogus_parents() {
    everywhere(&defects::parents());
}

#[test]
fn cve_2025_38415_odd_sizes_of_the_device() {
    everywhere(&defects::image_sizes());
}

#[test]
fn squashfs_tools_152_tail_ends_outside_their_block() {
    everywhere(&defects::tail_ends());
}

#[test]
fn squashfs_tools_2026_positions_that_overflow() {
    everywhere(&defects::positions());
}

#[test]
fn squashfs_tools_2026_indexes_that_lead_outside() {
    everywhere(&defects::indexes());
}

#[test]
fn squashfuse_153_name_sizes_over_any_buffer() {
    everywhere(&defects::name_sizes());
}

#[test]
fn squashfuse_154_indexes_of_owners_and_xattrs() {
    everywhere(&defects::owners());
}

#[test]
fn squashfuse_158_references_behind_their_block() {
    everywhere(&defects::root_references());
}

#[test]
fn squashfuse_158_listings_behind_their_block() {
    everywhere(&defects::listing_places());
}

#[test]
fn backhand_494_modes_and_types_that_are_none() {
    everywhere(&defects::modes_and_types());
}

#[test]
fn trosinenko_2018_headers_of_metadata_blocks() {
    everywhere(&defects::metadata_headers());
}

#[test]
fn trosinenko_2018_fragment_blocks_of_negative_length() {
    everywhere(&defects::fragment_tables());
}

#[test]
fn kernel_words_of_a_block_list_with_high_bits() {
    everywhere(&defects::block_words());
}

#[test]
fn blocks_that_hold_more_than_a_block() {
    everywhere(&defects::content_bombs());
}

#[test]
fn blocks_in_the_middle_of_blocks() {
    everywhere(&defects::overlapping_blocks());
}

#[test]
fn metadata_blocks_that_hold_more_than_8_kib() {
    everywhere(&defects::metadata_bombs());
}

#[test]
fn files_of_holes_without_end() {
    everywhere(&defects::endless_files());
}

#[test]
fn runs_of_more_entries_than_there_are() {
    everywhere(&defects::run_counts());
}

#[test]
fn listings_of_more_bytes_than_there_are() {
    everywhere(&defects::listing_sizes());
}

#[test]
fn directory_indexes_longer_than_their_inode() {
    everywhere(&defects::directory_indexes());
}

#[test]
fn sets_of_more_xattrs_than_there_are() {
    everywhere(&defects::xattr_indexes());
}

#[test]
fn xattrs_that_refer_in_circles() {
    everywhere(&defects::xattr_pairs());
}

#[test]
fn streams_that_want_gigabytes() {
    everywhere(&defects::streams_that_want_memory());
}

#[test]
fn options_of_compressors_out_of_range() {
    everywhere(&defects::compressor_options());
}

#[test]
fn compressors_that_are_none() {
    everywhere(&defects::compressor_numbers());
}

#[test]
fn other_magics_and_versions() {
    everywhere(&defects::versions());
}

#[test]
fn images_cut_at_each_structure() {
    everywhere(&defects::truncations());
}

#[test]
fn symlinks_that_lead_out() {
    everywhere(&defects::outward_links(b"../../outside"));
}

#[test]
fn directories_of_65535_levels() {
    everywhere(&[defects::nested_directories(2000)]);
    // To print all their paths is 4 GiB of text, to make them takes a disk minutes.
    let left_out = [
        "ls",
        "tree",
        "find",
        "dump",
        "tar",
        "extract",
        "diff",
        "resquash",
        "unsquashfs",
    ];
    everywhere_but(&left_out, &[defects::nested_directories(65_535)]);
}

#[test]
fn more_names_than_bytes() {
    everywhere(&[
        defects::large_listings(30, 4000),
        defects::large_listings(1000, 4800),
    ]);
}
