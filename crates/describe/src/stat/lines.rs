//! What is known of a path, as lines.

use std::io::{self, Write};

use coldpress_report::text::{escaped, iso_utc, permissions};
use coldpress_report::units::count;

use super::data::{Data, Extent};
use super::{Listing, Place, Stat};

pub(super) fn write(out: &mut impl Write, facts: &Stat) -> io::Result<()> {
    let file = &facts.file;
    let mut rows = vec![
        ("path", escaped(&file.path_bytes)),
        ("type", file.r#type.replace('-', " ")),
        (
            "mode",
            format!(
                "{} {}{}",
                file.mode,
                file.letter,
                permissions(file.mode_bits)
            ),
        ),
        ("owner, group", format!("{}, {}", file.uid, file.gid)),
        ("size", format!("{} bytes", file.size)),
        ("modified", iso_utc(file.mtime)),
        ("links", file.links.to_string()),
        ("inode", format!("{}, {}", file.inode, facts.form)),
        ("  reference", format!("{:#x}", facts.inode_reference)),
        ("  place", place(&facts.inode_place)),
    ];
    if let Some(target) = &file.target_bytes {
        rows.push(("target", escaped(target)));
    }
    if let Some((major, minor)) = file.device {
        rows.push(("device", format!("{major},{minor}")));
    }
    if let Some(index) = facts.xattr_index {
        rows.push(("xattr set", index.to_string()));
    }
    for (name, value) in facts.xattrs.iter() {
        rows.push(("  xattr", format!("{} = {}", escaped(name), escaped(value))));
    }
    if let Some(listing) = &facts.listing {
        rows.extend(listing_rows(listing));
    }
    if let Some(data) = &facts.data {
        rows.extend(data_rows(data));
    }
    for (name, value) in rows {
        writeln!(out, "{name:<18} {value}")?;
    }
    if let Some(blocks) = facts.data.as_ref().and_then(|data| data.blocks.as_ref()) {
        writeln!(
            out,
            "\nfile byte         image byte      size    length  block"
        )?;
        for block in blocks.iter() {
            writeln!(
                out,
                "{:<15} {:>12} {:>9} {:>9}  {}",
                block.offset, block.start, block.size_bytes, block.len_bytes, block.kind
            )?;
        }
    }
    Ok(())
}

fn listing_rows(listing: &Listing) -> Vec<(&'static str, String)> {
    let mut rows = vec![
        ("parent inode", listing.parent.to_string()),
        (
            "listing",
            format!(
                "{} entries, {} bytes",
                count(listing.entries),
                listing.len_bytes
            ),
        ),
    ];
    if let Some(found) = &listing.place {
        rows.push(("  place", place(found)));
    }
    rows.push(("  index entries", count(listing.index_entries)));
    rows
}

fn data_rows(data: &Data) -> Vec<(&'static str, String)> {
    let mut rows = vec![(
        "data blocks",
        format!(
            "{}: {} compressed, {} stored, {} sparse",
            count(data.block_count),
            count(data.compressed_count),
            count(data.stored_count),
            count(data.sparse_count)
        ),
    )];
    if let Some(found) = &data.extent {
        rows.push(("  extent", extent(found)));
    }
    if data.sparse_bytes > 0 {
        rows.push(("  sparse bytes", data.sparse_bytes.to_string()));
    }
    let Some(tail) = &data.tail else {
        return rows;
    };
    rows.push((
        "tail end",
        format!(
            "{} bytes from byte {} of fragment {}",
            tail.len_bytes, tail.offset, tail.fragment
        ),
    ));
    let kind = match tail.block_is_compressed {
        Some(true) => "compressed",
        Some(false) => "stored",
        None => "missing",
    };
    let place = tail.block.as_ref().map(extent).unwrap_or_default();
    rows.push((
        "  fragment block",
        format!("{place} {kind}").trim().to_owned(),
    ));
    rows
}

/// `image byte 1234 to 5678 (4444 bytes)`
fn extent(extent: &Extent) -> String {
    let Extent { start, size_bytes } = *extent;
    let end = start.saturating_add(size_bytes);
    format!("image byte {start} to {end}, {size_bytes} bytes")
}

fn place(place: &Place) -> String {
    let Place {
        block_start,
        offset,
        start,
        size_bytes,
        is_compressed,
    } = *place;
    let bytes = extent(&Extent { start, size_bytes });
    let kind = if is_compressed {
        "compressed"
    } else {
        "stored"
    };
    format!("{bytes}; byte {offset} of the {kind} metadata block at {block_start}")
}
