#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| coldpress_targets::run("variants", data));
