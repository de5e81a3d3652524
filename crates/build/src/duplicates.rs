//! Finding files with the same content before anything is compressed.
//!
//! Only files of equal length are read for it. Equal hashes are not trusted: the files are then
//! compared byte by byte.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read};

use coldpress_codec::{Workers, ordered};
use coldpress_layout::{Item, NodeId, Order};

use crate::error::{self, Error};
use crate::progress::Meter;
use crate::source::Source;

/// Bytes that are read at once: enough to amortize the call, small for many threads.
const READ_BYTES: usize = 1 << 16;

/// For each node the earlier node, in the order of the data, that has the same content.
pub(crate) fn find(
    source: &Source,
    order: &Order,
    workers: &Workers,
    meter: &mut Meter,
) -> Result<Vec<Option<NodeId>>, Error> {
    let mut originals = vec![None; source.tree.nodes.len()];
    let candidates = equal_lengths(source, order);
    let mut hashes = Vec::with_capacity(candidates.len());
    ordered::<_, _, _, Error>(
        candidates.iter().map(|node| Ok(*node)),
        workers,
        || Ok(vec![0; READ_BYTES]),
        |buffer, node| Ok((node, hash(source, node, buffer)?)),
        |hashed| {
            hashes.push(hashed);
            // Not counted, since the bytes are read again; but the caller may stop here.
            meter.add(0)
        },
    )?;
    let mut firsts = HashMap::new();
    let mut pairs = Vec::new();
    for (node, hash) in hashes {
        match firsts.entry((source.size_bytes(node), hash)) {
            std::collections::hash_map::Entry::Occupied(first) => pairs.push((*first.get(), node)),
            std::collections::hash_map::Entry::Vacant(place) => {
                place.insert(node);
            }
        }
    }
    ordered::<_, _, _, Error>(
        pairs.into_iter().map(Ok),
        workers,
        || Ok((vec![0; READ_BYTES], vec![0; READ_BYTES])),
        |(left, right), (first, node)| Ok((first, node, equal(source, first, left, node, right)?)),
        |(first, node, equal)| {
            originals[node.index()] = equal.then_some(first);
            meter.add(0)
        },
    )?;
    Ok(originals)
}

/// The files that share their length with another, in the order of the data.
fn equal_lengths(source: &Source, order: &Order) -> Vec<NodeId> {
    let mut files = Vec::new();
    let mut seen = vec![false; source.tree.nodes.len()];
    let mut counts: HashMap<u64, u32> = HashMap::new();
    for item in &order.data {
        let nodes = match item {
            Item::Blocks(node) => std::slice::from_ref(node),
            Item::Fragment(nodes) => nodes,
        };
        for node in nodes {
            if !std::mem::replace(&mut seen[node.index()], true) {
                *counts.entry(source.size_bytes(*node)).or_default() += 1;
                files.push(*node);
            }
        }
    }
    files.retain(|node| counts[&source.size_bytes(*node)] > 1);
    files
}

fn hash(source: &Source, node: NodeId, buffer: &mut [u8]) -> Result<[u8; 32], Error> {
    let mut file = source.open(node)?;
    let mut hasher = blake3::Hasher::new();
    loop {
        let len = file
            .read(buffer)
            .map_err(error::source("read", source.path(node)))?;
        if len == 0 {
            return Ok(*hasher.finalize().as_bytes());
        }
        hasher.update(&buffer[..len]);
    }
}

fn equal(
    source: &Source,
    first: NodeId,
    left: &mut [u8],
    second: NodeId,
    right: &mut [u8],
) -> Result<bool, Error> {
    let (mut a, mut b) = (source.open(first)?, source.open(second)?);
    loop {
        let a_len = fill(&mut a, left).map_err(error::source("read", source.path(first)))?;
        let b_len = fill(&mut b, right).map_err(error::source("read", source.path(second)))?;
        if left[..a_len] != right[..b_len] {
            return Ok(false);
        }
        if a_len == 0 {
            return Ok(true);
        }
    }
}

/// Reads until the buffer is full or the file ends.
fn fill(file: &mut File, buffer: &mut [u8]) -> io::Result<usize> {
    let mut len = 0;
    while len < buffer.len() {
        match file.read(&mut buffer[len..]) {
            Ok(0) => break,
            Ok(read) => len += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(len)
}
