//! veritysetup writes the same bytes, and accepts those that are written here.

use std::fs;
use std::path::Path;
use std::process::Command;

use coldpress_testkit::without_peer;
use coldpress_verity::{HashType, Parameters, Tree};

use crate::sample::{Numbers, data, on, tree_of, workers};

/// Trees that are compared.
const CASES: usize = 100;
/// Bytes of the largest data.
const DATA_BYTES_MAX: u64 = 2 << 20;

fn veritysetup(directory: &Path, args: &[String]) -> String {
    let mut command = Command::new("veritysetup");
    let ran = command.args(args).current_dir(directory).output().unwrap();
    let text = String::from_utf8_lossy(&ran.stdout).into_owned();
    let errors = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "{args:?}: {text}{errors}");
    text
}

fn words(parameters: &Parameters, data_blocks: u64) -> Vec<String> {
    let Parameters {
        hash_type,
        algorithm,
        data_block,
        hash_block,
        salt,
    } = parameters;
    vec![
        format!("--format={}", u8::from(*hash_type == HashType::Normal)),
        format!("--hash={}", algorithm.name()),
        format!("--data-block-size={}", data_block.bytes()),
        format!("--hash-block-size={}", hash_block.bytes()),
        format!("--data-blocks={data_blocks}"),
        format!("--salt={salt}"),
    ]
}

#[test]
fn trees_are_those_of_veritysetup() {
    if without_peer("veritysetup") {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name);
    let mut numbers = Numbers(1);
    for case in 0..CASES {
        let parameters = numbers.parameters();
        let blocks_max = DATA_BYTES_MAX / parameters.data_block.bytes();
        let shift = numbers.below(13);
        let blocks = 1 + numbers.below(blocks_max.min(1 << shift));
        let data = data(&mut numbers, &parameters, blocks);
        // As a sidecar, appended, and for the kernel alone.
        let hash_block_bytes = parameters.hash_block.bytes();
        let (name, start, has_superblock) = match case % 3 {
            0 => ("tree", 0, true),
            1 => ("data", data.len() as u64, true),
            _ => ("tree", hash_block_bytes * numbers.below(3), false),
        };
        let _ = fs::remove_file(at("tree"));
        fs::write(at("data"), &data).unwrap();
        let mut common = words(&parameters, blocks);
        common.push(format!("--hash-offset={start}"));
        if has_superblock {
            common.push("--uuid=05050505-0505-0505-0505-050505050505".to_owned());
        } else {
            common.push("--no-superblock".to_owned());
        }
        let say = |verb: &str, more: &str| {
            let place = [verb, "data", name].map(str::to_owned).into_iter();
            let more = (!more.is_empty()).then(|| more.to_owned());
            place
                .chain(more)
                .chain(common.iter().cloned())
                .collect::<Vec<_>>()
        };
        let format = say("format", "--root-hash-file=root");
        veritysetup(directory.path(), &format);
        let place = (start, has_superblock);
        let (protected, mut ours) = tree_of(&data, &parameters, place, 1 + case % 4);
        let root_hash = fs::read_to_string(at("root")).unwrap();
        assert_eq!(protected.root_hash.to_string(), root_hash, "{format:?}");
        if name == "data" {
            ours[..data.len()].copy_from_slice(&data);
        }
        let theirs = fs::read(at(name)).unwrap();
        // Without levels, they do not extend the file to the end of a hash block.
        let end = ours.len().min(theirs.len());
        assert!(ours[..end] == theirs[..end], "{format:?}");
        assert!(ours.len() == theirs.len() || blocks == 1, "{format:?}");
        // What they wrote is accepted here, and the other way.
        let tree = if has_superblock {
            Tree::read(&theirs, start).unwrap()
        } else {
            Tree::without_superblock(&theirs, start, parameters.clone(), blocks).unwrap()
        };
        let found = tree.verify(&data, &theirs, &protected.root_hash, &workers(2), &mut on);
        assert_eq!(found.unwrap(), None, "{format:?}");
        fs::write(at(name), &ours).unwrap();
        veritysetup(directory.path(), &say("verify", &root_hash));
    }
}
