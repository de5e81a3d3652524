//! The order in which functions were first needed, for linkers.

use std::collections::HashSet;

use super::program::Program;
use crate::touches::Touch;

/// Names of functions by first touch.
///
/// Where the address of a touch is known, it is the function there, and all functions of the same
/// code, which have several names. Where only the page is, it is every function that begins in it,
/// by address.
pub(super) fn symbol_order(program: &Program, touches: &[Touch]) -> Vec<Vec<u8>> {
    let mut order = Vec::new();
    let mut named = HashSet::new();
    let mut add = |name: &[u8]| {
        if named.insert(name.to_vec()) {
            order.push(name.to_vec());
        }
    };
    let mut pages = HashSet::new();
    for touch in touches {
        let Some(byte) = touch.byte else {
            if pages.insert(touch.page) {
                let functions = program.functions_of_page(touch.page);
                functions.for_each(|function| add(&function.name));
            }
            continue;
        };
        let address = program.address_at(byte);
        let Some(found) = address.and_then(|address| program.function_at(address)) else {
            continue;
        };
        let first = program
            .functions
            .partition_point(|function| function.address < found.address);
        let twins = program.functions.iter().skip(first);
        twins
            .take_while(|function| function.address == found.address)
            .for_each(|function| add(&function.name));
    }
    order
}
