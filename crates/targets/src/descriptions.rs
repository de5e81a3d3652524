//! What is said of images.

use std::io;
use std::ops::ControlFlow;
use std::path::Path;

use coldpress_describe::{Contents, Stat, Survey, dump_json, dump_lines, tree_json, tree_text};
use coldpress_image::image_path::Found;
use coldpress_image::{DumpOptions, Image, Walker, dump};

/// Paths that are described one by one, and ranges of bytes: more of them is no news.
const PATHS: usize = 200;
const RANGES: usize = 2000;

/// Describes an image in every way that one image can be.
pub(crate) fn describe(image: &Image, data: &[u8]) {
    let contents = Contents::new(
        Path::new("image"),
        image,
        &data.to_vec(),
        Survey::of(image).ok(),
    );
    assert!(!contents.text(image).is_empty(), "contents have a text");
    serde_json::to_writer(io::sink(), &contents).expect("contents are JSON");
    trees(image);
    dumps(data);
}

fn trees(image: &Image) {
    let below = || Walker::below(image, b"/", image.superblock().root_inode);
    if let (Ok(mut text), Ok(mut json), Ok(mut paths)) = (below(), below(), below()) {
        let _ = tree_text(&mut text, None, true, &mut io::sink());
        let _ = tree_json(&mut json, None, &mut io::sink());
        let mut left = PATHS;
        while let (1.., Ok(Some(visited))) = (left, paths.next_path()) {
            left -= 1;
            let Ok(inode) = image.inode(visited.at) else {
                continue;
            };
            let (path, at) = (visited.path.to_vec(), visited.at);
            stat(image, &Found { path, at, inode });
        }
    }
}

fn stat(image: &Image, found: &Found) {
    if let Ok(stat) = Stat::of(image, found, true) {
        stat.write(&mut io::sink()).expect("a sink takes lines");
        serde_json::to_writer(io::sink(), &stat).expect("a stat is JSON");
    }
}

fn dumps(data: &[u8]) {
    let mut left = RANGES;
    let _ = dump(
        Box::new(data.to_vec()),
        &DumpOptions::default(),
        &mut |range| {
            dump_lines(&mut io::sink(), &range).expect("a sink takes lines");
            dump_json(&mut io::sink(), &range).expect("a sink takes JSON");
            left -= 1;
            match left {
                0 => ControlFlow::Break(()),
                _ => ControlFlow::Continue(()),
            }
        },
        &mut || ControlFlow::Continue(()),
    );
}
