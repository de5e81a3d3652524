//! What is wrong with a plan or a tree: where and which rule.

use coldpress_trace::{Excerpt, LINE_BYTES_MAX, PathTextError};

use crate::tree::NodeId;

/// A plan or a tree that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A line of a plan breaks a rule of docs/plan-format.md.
    #[error("plan line {line}: {rule}")]
    Plan {
        /// The line, counted from 1.
        line: u64,
        /// The rule that it breaks, with what was found.
        rule: PlanRule,
    },
    /// A line of a sort file breaks a rule of its tool, or would.
    #[error("sort file line {line}: {rule}")]
    Sort {
        /// The line, counted from 1.
        line: u64,
        /// The rule that it breaks, with what was found.
        rule: SortRule,
    },
    /// A node of a tree breaks a rule.
    #[error("node {}: {rule}", node.0)]
    Tree {
        /// The node.
        node: NodeId,
        /// The rule that it breaks, with what was found.
        rule: TreeRule,
    },
}

/// The rules that a line of a plan can break.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PlanRule {
    /// The first line is not that of a plan that this version reads.
    #[error("found `{0}`, expected `coldpress-plan 1`; no other format is read")]
    FirstLine(Excerpt),
    /// The line is too long.
    #[error("has {len_bytes} bytes, limit is {LINE_BYTES_MAX}")]
    TooLong {
        /// Its length without the newline.
        len_bytes: usize,
    },
    /// A bracketed line names no section.
    #[error("found `{0}`, the sections are `[data]`, `[inodes]`, `[directories]` and `[packing]`")]
    UnknownSection(Excerpt),
    /// A section begins a second time.
    #[error("a second section `{0}`; each may occur once")]
    RepeatedSection(&'static str),
    /// The line is not of a kind that stands here.
    #[error("found `{found}`, expected {expected}")]
    Unexpected {
        /// The line.
        found: Excerpt,
        /// What may stand here.
        expected: &'static str,
    },
    /// The path is spelled wrongly.
    #[error("path `{found}`, {error}")]
    Path {
        /// The text of the path.
        found: Excerpt,
        /// Where in the text and why.
        error: PathTextError,
    },
}

/// The rules that a line of a sort file can break.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SortRule {
    /// The line is too long.
    #[error("has {len_bytes} bytes, limit is {max_bytes}")]
    TooLong {
        /// Its length without the newline.
        len_bytes: usize,
        /// What the tool reads.
        max_bytes: usize,
    },
    /// The line has a zero byte.
    #[error("a zero byte; both tools would take it for the end of the line")]
    Nul,
    /// In mksquashfs's dialect, the path is not followed by a number.
    #[error("`{0}`, no priority follows the path; a space of the path is written `\\ `")]
    NoPriorityBehind(Excerpt),
    /// In gensquashfs's dialect, the line does not begin with a number.
    #[error("`{0}`, a line begins with the priority, digits after `-` if it is negative")]
    NoPriorityBefore(Excerpt),
    /// The number is out of range.
    #[error("priorities are from {min} to {max}")]
    Priority {
        /// The lowest.
        min: i64,
        /// The highest.
        max: i64,
    },
    /// Something stands behind the end of the entry.
    #[error("`{0}` follows the priority or the closing quotation mark; nothing may")]
    Trailing(Excerpt),
    /// There is no path.
    #[error("no path follows, with a space before it")]
    NoPath,
    /// The list of flags does not end.
    #[error("no `]` ends the flags")]
    OpenFlags,
    /// There is no such flag.
    #[error(
        "unknown flag `{0}`; there are glob, glob_no_path, align, dont_fragment, dont_compress, \
         dont_deduplicate and nosparse"
    )]
    UnknownFlag(Excerpt),
    /// The quoted path does not end.
    #[error("no closing quotation mark ends the path")]
    OpenQuote,
    /// A backslash in quotation marks begins no escape.
    #[error("unknown escape in quotation marks; they are `\\\"` and `\\\\`")]
    UnknownEscape,
    /// The path has `..`.
    #[error("the path has `..`; it is one inside the image")]
    DotDot,
    /// The dialect has no words for an entry.
    #[error(
        "the format cannot express it: a line feed in the path, a path that is not plain, or flags"
    )]
    NoSpelling,
}

/// The rules that a node can break.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TreeRule {
    /// There is no node 0, or it is no directory.
    #[error("the root is missing or not a directory; node 0 is the root directory")]
    Root,
    /// An entry's name is empty, `.`, `..`, too long, or has a slash or a zero byte.
    #[error("entry name `{0}` is not legal; names have 1 to 256 bytes without `/` and NUL")]
    Name(Excerpt),
    /// Entries are not in ascending order of their names, or two are alike.
    #[error("entry `{0}` is out of order or repeated; entries ascend by the bytes of their names")]
    EntryOrder(Excerpt),
    /// An entry names a node that the tree does not have.
    #[error("entry `{name}` names node {}, which does not exist", node.0)]
    NoSuchNode {
        /// The name of the entry.
        name: Excerpt,
        /// What it names.
        node: NodeId,
    },
    /// A directory stands in two directories, or the root in one.
    #[error("the directory has a second parent; only other nodes may have several links")]
    SecondParent,
    /// No path leads from the root to the node.
    #[error("no path leads to the node; it is in no directory, or in a loop of directories")]
    Unreachable,
    /// The mode has bits above the 12 permission bits.
    #[error("mode is {0:#o}, limit is 0o7777; the file type is no part of it")]
    Mode(u16),
    /// Extended attributes are not in ascending order of their names, or two are alike.
    #[error("xattr `{0}` is out of order or repeated; xattrs ascend by the bytes of their names")]
    XattrOrder(Excerpt),
}
