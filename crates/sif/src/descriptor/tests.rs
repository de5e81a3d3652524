use super::*;

#[test]
fn a_descriptor_is_read_as_it_was_written() {
    let partition = Partition::primary(Architecture::named("amd64"));
    let kinds = (0x4001..=0x400c).map(|number| Kind::parse(number, &[]));
    for kind in kinds.chain([Kind::Partition(partition)]) {
        let descriptor = Descriptor {
            kind,
            id: 7,
            group: 1,
            link: 0xf000_0001,
            start: 32_176,
            size_bytes: u64::MAX,
            padded_bytes: 3,
            created_s: -1,
            modified_s: 9,
            name: b"oci-config.json".to_vec(),
        };
        let mut record = descriptor.to_bytes();
        assert_eq!(Descriptor::parse(&record), Some(descriptor.clone()));
        assert_eq!(descriptor.end(), None);
        record[4] = 0;
        assert_eq!(Descriptor::parse(&record), None);
    }
    assert_eq!(Descriptor::parse(&[1; DESCRIPTOR_BYTES - 1]), None);
}
