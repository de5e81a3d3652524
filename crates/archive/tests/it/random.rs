//! Random archives in random orders hold what they held.

use coldpress_archive::{Layout, Settings, Storing};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::made::{Around, Made, order, read, zip};

pub(crate) fn entry() -> impl Strategy<Value = Made> {
    let flags = (any::<bool>(), any::<bool>(), any::<bool>());
    let content = prop_oneof![
        vec(any::<u8>(), 0..200),
        (0..20_000_usize).prop_map(|n| vec![9; n])
    ];
    let name = "[a-cA-C]{1,3}(/[a-c]{1,2})?";
    (name, content, flags, vec(any::<u8>(), 0..5)).prop_map(|(name, content, flags, comment)| {
        Made {
            deflates: flags.0,
            is_described: flags.1,
            is_wide: flags.2,
            comment,
            ..Made::new(&name, &content)
        }
    })
}

pub(crate) fn around() -> impl Strategy<Value = Around> {
    let bytes = || {
        vec(
            any::<u8>().prop_filter("no signature", |byte| *byte != b'P'),
            0..20,
        )
    };
    (bytes(), any::<bool>(), bytes(), bytes(), any::<bool>()).prop_map(
        |(prefix, is_shifted, gap, comment, is_zip64)| Around {
            prefix,
            is_shifted,
            gap,
            comment,
            is_zip64,
            ..Around::default()
        },
    )
}

pub(crate) fn settings() -> impl Strategy<Value = Settings> {
    let layout = prop_oneof![
        Just(Layout::Gecko),
        Just(Layout::Double),
        Just(Layout::Tail)
    ];
    let storing = prop_oneof![
        Just(Storing::Nothing),
        Just(Storing::Hot),
        Just(Storing::All)
    ];
    let align = prop_oneof![Just(0), Just(4), Just(4096)];
    (layout, storing, align).prop_map(|(layout, storing, align_bytes)| Settings {
        layout,
        storing,
        align_bytes,
        takes_signed: false,
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn contents_records_and_order_are_kept(
        entries in vec(entry(), 1..12),
        around in around(),
        hot in vec(0..12_usize, 0..12),
        settings in settings(),
    ) {
        let file = zip(&entries, &around);
        let old = read(&file);
        let layout = if around.prefix.is_empty() { settings.layout } else { Layout::Tail };
        let settings = Settings { layout, ..settings };
        let new = order(&file, &hot, settings).expect("nothing speaks against it");
        let zip = read(&new);
        old.compare(&file, &zip, &new).expect("contents are the same");
        prop_assert_eq!(zip.comment(), &around.comment[..]);
        let contents: Vec<_> = zip.entries.iter().map(|entry| entry.content(&new).bytes()
            .expect("it is whole").expect("it is readable")).collect();
        let expected: Vec<_> = entries.iter().map(|made| made.content.clone()).collect();
        prop_assert_eq!(contents, expected);
        let again = order(&new, &hot, settings).expect("nothing speaks against it");
        prop_assert!(new == again, "ordered twice is ordered once");
    }

    #[test]
    fn damage_is_found_or_harmless(
        entries in vec(entry(), 1..5),
        place in any::<proptest::sample::Index>(),
        value in any::<u8>(),
        settings in settings(),
    ) {
        let mut file = zip(&entries, &Around::default());
        let place = place.index(file.len());
        file[place] = value;
        let Ok(Some(old)) = coldpress_archive::Zip::read(&file) else { return Ok(()); };
        let Ok(new) = order(&file, &[0, 1], settings) else { return Ok(()); };
        let zip = read(&new);
        old.compare(&file, &zip, &new).expect("whatever it is, it is the same");
    }
}
