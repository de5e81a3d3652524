//! The filter that picks the calls to tell, as a program of the kernel's classic BPF.
//!
//! ```text
//! another architecture's call?     -> let it happen
//! a call that names a file?        -> tell
//! such a one of an open file only? -> let it happen: `fstat(2)` is `newfstatat(2)` with an empty
//! path ```

use super::calls::{EMPTY_PATH, Operation, all};
use crate::syscall::Instruction;

// <linux/bpf_common.h>, <linux/seccomp.h>, <linux/audit.h>
const LOAD_WORD: u16 = 0x20;
const JUMP_IF_EQUAL: u16 = 0x15;
const JUMP_IF_ANY_BIT: u16 = 0x45;
const RETURN: u16 = 0x06;
const AT_NUMBER: u32 = 0;
const AT_ARCHITECTURE: u32 = 4;
const AT_ARGS: u32 = 16;

/// What the kernel calls this architecture; nothing where the numbers of calls are not known here.
const ARCHITECTURE: Option<u32> = if cfg!(all(target_arch = "x86_64", target_pointer_width = "64"))
{
    Some(0xC000_003E)
} else if cfg!(all(target_arch = "aarch64", target_endian = "little")) {
    Some(0xC000_00B7)
} else if cfg!(target_arch = "riscv64") {
    Some(0xC000_00F3)
} else {
    None
};

/// The filter; nothing on an architecture that is not known.
pub(super) fn program() -> Option<Vec<Instruction>> {
    let architecture = ARCHITECTURE?;
    let (flagged, plain): (Vec<_>, Vec<_>) =
        all().partition(|call| flags(call.operation).is_some());
    // From the end: each jump is told how far it is to the two answers.
    let mut program = vec![
        one(RETURN, libc::SECCOMP_RET_USER_NOTIF),
        one(RETURN, libc::SECCOMP_RET_ALLOW),
    ];
    // The distance from an instruction that will be pushed next, by the one that it is to reach.
    let to =
        |program: &[Instruction], from_end: usize| u8::try_from(program.len() - from_end - 1).ok();
    let (tell, allow) = (0, 1);
    for call in flagged {
        let at = AT_ARGS + 8 * u32::try_from(flags(call.operation)?).ok()?;
        program.push(Instruction {
            code: JUMP_IF_ANY_BIT,
            if_true: to(&program, allow)?,
            if_false: to(&program, tell)?,
            value: EMPTY_PATH,
        });
        program.push(one(LOAD_WORD, at));
        program.push(Instruction {
            code: JUMP_IF_EQUAL,
            if_true: 0,
            if_false: 2,
            value: u32::try_from(call.number).ok()?,
        });
    }
    for call in plain {
        program.push(Instruction {
            code: JUMP_IF_EQUAL,
            if_true: to(&program, tell)?,
            if_false: 0,
            value: u32::try_from(call.number).ok()?,
        });
    }
    program.push(one(LOAD_WORD, AT_NUMBER));
    program.push(Instruction {
        code: JUMP_IF_EQUAL,
        if_true: 0,
        if_false: to(&program, allow)?,
        value: architecture,
    });
    program.push(one(LOAD_WORD, AT_ARCHITECTURE));
    program.reverse();
    Some(program)
}

/// The flags with which a call may mean an open file; only those that are called for each open
/// file, often.
fn flags(operation: Operation) -> Option<usize> {
    match operation {
        Operation::LookBy(flags) => Some(flags),
        _ => None,
    }
}

fn one(code: u16, value: u32) -> Instruction {
    Instruction {
        code,
        if_true: 0,
        if_false: 0,
        value,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the kernel does with a filter.
    fn answer(architecture: u32, number: u32, args: [u32; 6]) -> u32 {
        let program = program().unwrap();
        let mut word = 0;
        let mut at = 0;
        loop {
            let Instruction {
                code,
                if_true,
                if_false,
                value,
            } = program[at];
            at += 1;
            match code {
                RETURN => return value,
                LOAD_WORD if value == AT_NUMBER => word = number,
                LOAD_WORD if value == AT_ARCHITECTURE => word = architecture,
                LOAD_WORD => word = args[usize::try_from((value - AT_ARGS) / 8).unwrap()],
                JUMP_IF_EQUAL if word == value => at += usize::from(if_true),
                JUMP_IF_ANY_BIT if word & value != 0 => at += usize::from(if_true),
                _ => at += usize::from(if_false),
            }
        }
    }

    #[test]
    fn only_calls_that_name_files_are_told() {
        let Some(here) = ARCHITECTURE else { return };
        let number = |number: libc::c_long| u32::try_from(number).unwrap();
        for call in all() {
            let told = answer(here, number(call.number), [0; 6]);
            assert_eq!(told, libc::SECCOMP_RET_USER_NOTIF, "{call:?}");
            assert_eq!(
                answer(here ^ 1, number(call.number), [0; 6]),
                libc::SECCOMP_RET_ALLOW
            );
        }
        let allowed = [
            (libc::SYS_read, [0; 6]),
            (libc::SYS_newfstatat, [3, 0, 0, EMPTY_PATH, 0, 0]),
            (libc::SYS_statx, [3, 0, EMPTY_PATH | 0x800, 0, 0, 0]),
        ];
        for (call, args) in allowed {
            assert_eq!(
                answer(here, number(call), args),
                libc::SECCOMP_RET_ALLOW,
                "{call}"
            );
        }
        // The flag counts where the call has it, nowhere else.
        let args = [3, 0, 0, 0, EMPTY_PATH, 0];
        let told = answer(here, number(libc::SYS_newfstatat), args);
        assert_eq!(told, libc::SECCOMP_RET_USER_NOTIF);
    }
}
