use super::*;

const COMMON: &str = "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\
    \tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n\
    \tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n";
const RANGE: &str = "\tfield:unsigned long i_ino;\toffset:8;\tsize:8;\tsigned:0;\n\
    \tfield:dev_t s_dev;\toffset:16;\tsize:4;\tsigned:0;\n\
    \tfield:unsigned long index;\toffset:24;\tsize:8;\tsigned:0;\n\
    \tfield:unsigned long last_index;\toffset:32;\tsize:8;\tsigned:0;\n";
const FOLIO: &str = "\tfield:unsigned long i_ino;\toffset:8;\tsize:8;\tsigned:0;\n\
    \tfield:unsigned long index;\toffset:24;\tsize:8;\tsigned:0;\n\
    \tfield:unsigned char order;\toffset:32;\tsize:1;\tsigned:0;\n";
const BLOCK: &str = "\tfield:dev_t dev;\toffset:8;\tsize:4;\tsigned:0;\n\
    \tfield:sector_t sector;\toffset:16;\tsize:8;\tsigned:0;\n\
    \tfield:unsigned int nr_sector;\toffset:24;\tsize:4;\tsigned:0;\n\
    \tfield:char rwbs[10];\toffset:28;\tsize:10;\tsigned:0;\n\
    \tfield:char comm[16];\toffset:38;\tsize:16;\tsigned:0;\n";

const USER_FAULT: &str = "\tfield:unsigned long address;\toffset:8;\tsize:8;\tsigned:0;\n\
    \tfield:unsigned long ip;\toffset:16;\tsize:8;\tsigned:0;\n\
    \tfield:unsigned long error_code;\toffset:24;\tsize:8;\tsigned:0;\n";

fn decoder() -> Decoder {
    let mut decoder = Decoder::default();
    for (id, name, fields) in [
        (599, "mm_filemap_get_pages", RANGE),
        (597, "mm_filemap_fault", RANGE),
        (598, "mm_filemap_map_pages", RANGE),
        (596, "mm_filemap_add_to_page_cache", FOLIO),
        (2097, "block_bio_queue", BLOCK),
        (2107, "block_rq_complete", BLOCK),
        (190, "page_fault_user", USER_FAULT),
    ] {
        let text = format!("name: {name}\nID: {id}\nformat:\n{COMMON}{fields}");
        decoder.learn(name, &text, Path::new("format")).unwrap();
    }
    decoder
}

fn range(id: u16, numbers: [u64; 3]) -> Vec<u8> {
    let [inode, first, last] = numbers;
    let mut data = id.to_le_bytes().to_vec();
    data.extend([0, 0]);
    data.extend(77u32.to_le_bytes());
    for number in [inode, 7 << 20, first, last] {
        data.extend(number.to_le_bytes());
    }
    data
}

fn block(sector: u64, count: u32, rwbs: &[u8; 10]) -> Vec<u8> {
    let mut data = range(2097, [7 << 20, 0, 0]);
    data[16..24].copy_from_slice(&sector.to_le_bytes());
    data[24..28].copy_from_slice(&count.to_le_bytes());
    data[28..38].copy_from_slice(rwbs);
    data.resize(56, 0);
    data
}

fn done(sector: u64, count: u32) -> Vec<u8> {
    let mut data = block(sector, count, b"R\0\0\0\0\0\0\0\0\0");
    data[..2].copy_from_slice(&2107_u16.to_le_bytes());
    data
}

fn decode(data: &[u8]) -> Result<Option<RawKind>, Damage> {
    let record = Record { time_ns: 1, data };
    Ok(decoder().decode(&record)?.map(|event| {
        assert_eq!((event.pid, event.time_ns), (77, 1));
        event.kind
    }))
}

#[test]
fn each_event_is_told_by_its_number() {
    let read = RawKind::Read {
        inode: 9,
        first_page: 2,
        last_page: 5,
    };
    let map = RawKind::Map {
        inode: 9,
        first_page: 2,
        last_page: 2,
    };
    let cache = |last_page| RawKind::Cache {
        inode: 9,
        first_page: 4,
        last_page,
    };
    let device_read = RawKind::DeviceRead {
        start_byte: 4480 * 512,
        len_bytes: 4096,
    };
    let device_done = RawKind::DeviceDone {
        start_byte: 4480 * 512,
        len_bytes: 4096,
    };
    let user_fault = RawKind::UserFault {
        address: 0x7f00_1234,
        instruction: 7 << 20,
    };
    for (data, expected) in [
        (range(599, [9, 2, 5]), Some(read)),
        (range(598, [9, 2, 1]), Some(map)),
        (
            range(597, [9, 2, 5]),
            Some(RawKind::Fault { inode: 9, page: 2 }),
        ),
        (range(596, [9, 4, 0]), Some(cache(4))),
        (range(596, [9, 4, 2]), Some(cache(7))),
        (range(596, [9, 4, 255]), Some(cache(4))),
        (range(1, [9, 2, 5]), None),
        (block(4480, 8, b"RA\0\0\0\0\0\0\0\0"), Some(device_read)),
        (block(4480, 8, b"W\0\0\0\0\0\0\0\0\0"), None),
        (block(0, 0, b"R\0\0\0\0\0\0\0\0\0"), None),
        (done(4480, 8), Some(device_done)),
        (range(190, [0x7f00_1234, 0, 0]), Some(user_fault)),
    ] {
        assert_eq!(decode(&data).unwrap(), expected);
    }
}

#[test]
fn short_records_are_reported() {
    let data = range(599, [9, 2, 5]);
    for len in 0..data.len() {
        assert!(decode(&data[..len]).is_err(), "{len}");
    }
    let data = block(u64::MAX, u32::MAX, b"R\0\0\0\0\0\0\0\0\0");
    assert!(matches!(
        decode(&data).unwrap(),
        Some(RawKind::DeviceRead {
            start_byte: u64::MAX,
            ..
        })
    ));
    assert!(decode(&data[..37]).is_err());
}

#[test]
fn times_count_from_the_start_in_microseconds() {
    let event = Stamped {
        time_ns: 5_999,
        pid: 1,
        kind: RawKind::Fault { inode: 1, page: 0 },
    };
    assert_eq!(event.since(2_000, 1).time_us, 3);
    assert_eq!(event.since(6_000, 1).time_us, 0);
}

#[test]
fn pages_of_large_page_kernels_become_pages_of_4_kib() {
    let map = |first_page, last_page| RawKind::Map {
        inode: 1,
        first_page,
        last_page,
    };
    assert_eq!(map(1, 2).in_pages_of_4_kib(16), map(16, 47));
    assert_eq!(map(1, 2).in_pages_of_4_kib(1), map(1, 2));
    let fault = RawKind::Fault { inode: 1, page: 3 };
    let moved = RawKind::Fault { inode: 1, page: 12 };
    assert_eq!(fault.in_pages_of_4_kib(4), moved);
    assert_eq!(map(0, u64::MAX).in_pages_of_4_kib(4), map(0, u64::MAX));
}
