//! What a package registry asks of a crate, so that `cargo package` and `cargo publish` take each.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::architecture::packages;
use crate::run::repository;

/// Whether the crate may be published: `publish = false` is an empty list of registries.
fn is_published(package: &Value) -> bool {
    package["publish"]
        .as_array()
        .is_none_or(|it| !it.is_empty())
}

#[test]
fn published_crates_describe_themselves() {
    for package in packages().iter().filter(|it| is_published(it)) {
        let name = &package["name"];
        for field in ["description", "license", "rust_version"] {
            let text = package[field].as_str().unwrap_or_default();
            assert!(!text.is_empty(), "{name} has no {field}");
        }
        for field in ["keywords", "categories"] {
            let words = package[field].as_array().unwrap();
            assert!((1..=5).contains(&words.len()), "{name}: {field} {words:?}");
        }
        let readme = package["readme"].as_str().unwrap_or_default();
        let manifest = Path::new(package["manifest_path"].as_str().unwrap());
        let file = manifest.parent().unwrap().join(readme);
        assert!(
            !readme.is_empty() && file.is_file(),
            "{name}: readme {readme:?}"
        );
    }
}

#[test]
fn published_crates_use_published_crates_by_version() {
    let crates = packages();
    let published: Vec<_> = crates.iter().filter(|it| is_published(it)).collect();
    assert!(!published.is_empty());
    for package in &published {
        let dependencies = package["dependencies"].as_array().unwrap();
        // Development dependencies without a version are left out of a package.
        let own = dependencies
            .iter()
            .filter(|it| !it["path"].is_null() && it["kind"] != "dev");
        for dependency in own {
            let (package, used) = (&package["name"], &dependency["name"]);
            assert!(
                published.iter().any(|it| it["name"] == *used),
                "{package} uses {used}, which has `publish = false`"
            );
            assert_ne!(
                dependency["req"], "*",
                "{package} uses {used} without a version"
            );
        }
    }
}

#[test]
fn a_release_has_no_symbols() {
    let manifest = fs::read_to_string(repository().join("Cargo.toml")).unwrap();
    let table = |name: &str| {
        let tables = manifest.split("\n[");
        let table = tables.into_iter().find(|table| table.starts_with(name));
        table.unwrap_or_else(|| panic!("there is no table {name}"))
    };
    // cargo forgets what the profile says of `strip` where a package has a table of its own.
    for name in ["profile.release]", "profile.release.package.coldpress-cli]"] {
        let stripped = table(name).lines().any(|line| line == "strip = true");
        assert!(stripped, "[{name} has no `strip = true`");
    }
}
