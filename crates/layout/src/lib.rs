//! The order of an image: tree, plan, order of data, tail ends and metadata.
//!
//! Three values, each computed from the one before it:
//!
//! - [`Tree`]: what the image holds, without file data. Nodes are numbered; names stand in
//!   directories.
//! - [`Plan`]: the wanted order of the working set, by path. It is partial, a text file
//!   (docs/plan-format.md), and may be edited by hand. [`plan`] derives it from a recorded start.
//! - [`Order`]: the order of everything, by node. [`order`] completes a plan; the writer obeys.
//!
//! A plan may be stale or wrong in any way: the order is lawful all the same, and paths that match
//! nothing are handed back. The laws are stated at [`Order`].
//!
//! [`match_profile`] finds in a tree what a profile of an older release touched; its working set is
//! then planned like that of a recording.
//!
//! [`Grouping`] says which tail ends share a fragment block where no plan does, [`Sketch`] how
//! files are known to be similar. [`assign`] spends a budget of bytes on blocks that are stored or
//! compressed by less, where it saves most time.
//!
//! [`Keeping`] says what of an older image stays where it was, so that updates are small.
//!
//! [`SortFile`] is how other tools are told an order; it is converted to a plan and from one.
//!
//! The crate is pure: no files, threads, clock or randomness, and all iteration that reaches a
//! result is in the order of names or of the plan. So the same tree and the same plan give the same
//! image. Everything is O(n log n) in the number of nodes, with explicit stacks instead of
//! recursion, because depth is chosen by whoever made the tree.
#![forbid(unsafe_code)]

mod access;
mod assign;
mod block_encoding;
mod check;
mod cold;
mod error;
mod finder;
mod grouping;
mod hot;
mod matching;
mod metadata;
mod order;
mod plan;
mod settle;
mod sort;
mod stable;
mod tails;
mod text;
mod tree;
mod walk;

pub use access::plan;
pub use assign::{BlockGain, EncodingGain, ReadCost, assign};
pub use block_encoding::{BlockEncoding, EncodedBlocks, EncodingRule};
pub use error::{Error, PlanRule, SortRule, TreeRule};
pub use grouping::{Group, Grouping, Sketch, Sketches};
pub use matching::{How, Matched, Matching, Staleness, match_profile};
pub use order::{Alignment, Item, Order, order, order_grouped, order_keeping};
pub use plan::{Plan, PlanItem};
pub use settle::settle;
pub use sort::{Dialect, Finding, Flaw, Loss, SortEntry, SortFile, SortFlag};
pub use stable::{Former, FormerItem, Keeping, Stability};
pub use tails::Tails;
pub use tree::{Kind, Node, NodeId, Tree};
pub use walk::Place;
