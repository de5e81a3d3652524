//! What becomes of an index of variants.

use coldpress_variants::{Client, Index, choose};

/// Reads an index, and chooses by it; what is written again is read alike.
pub(crate) fn variants(data: &[u8]) {
    let Ok(index) = Index::parse(data) else {
        return;
    };
    let bytes = index.bytes().expect("what was read can be written");
    assert_eq!(Index::parse(&bytes).expect("it is sound"), index);
    let Ok(sequence) = index.sequence() else {
        return;
    };
    for client in [
        "usb2",
        "reader=fuse,download=1M",
        "target=openwrt,memory=1M",
    ] {
        let client = Client::parse(client).expect("it is a client");
        let Ok(choice) = choose(&index, &sequence, &client) else {
            return;
        };
        assert_eq!(choice.options.len(), index.images.len());
        assert!(
            choice
                .taken
                .is_none_or(|taken| !choice.options[taken].is_refused)
        );
        assert!(!choice.text().is_empty());
    }
    assert!(index.chosen_for.is_none() || !index.clients_text().is_empty());
}
