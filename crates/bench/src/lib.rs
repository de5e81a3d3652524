//! Cold and warm starts compared: what ran, what counts, and how sure the answer is.
//!
//! A start from an image is *cold* if nothing of it is in memory. Whether one image starts
//! sooner than another is asked here and answered with a ratio and its interval: [`compare`] runs
//! the same command from each image in turn, on the same imitated storage device, and proves before
//! each run that it will be cold; [`stats`] says what the samples allow to say; [`report_html`]
//! shows it, losses and excluded runs included.
//!
//! This crate runs programs. It knows neither the format nor the writer of images, so it judges
//! ours and those of others alike.
//!
//! [`boot()`] does the same with whole systems: it boots images in virtual machines.
//!
//! * [`Row`] and [`text`]: figures and words for the terminal.
//! * [`standings`]: the contestants of a study beside their baselines, figure by figure.
//! * [`differences`], [`Condition`] and [`Comparison`]: a study beside an older one, and when that
//!   is a failure.
//! * [`build_study`]: how long it takes to make and to unpack images, by tool and setting.
//! * [`Report`]: studies of any kind, from here or from others, as one page.
//! * [`figure()`]: a figure with the unit in its name.

mod boot;
pub mod build_study;
mod compare;
mod comparison;
mod condition;
mod difference;
mod error;
#[cfg(test)]
mod example;
mod figure;
mod machine_facts;
mod odd_trees;
mod pareto;
mod real;
mod relation;
mod report;
mod rows;
mod run;
mod runner;
mod scenario;
mod standing;
mod study;
pub mod text;
mod tree;
mod turns;

pub use boot::{
    BootChart, BootContestant, BootProgress, BootRow, BootScenario, Booted, ChartLine, ChartSample,
    RecordedBoot, Span, boot, boot_chart_svg, boot_rows, record_boot,
};
pub use coldpress_statistics as stats;
pub use compare::compare;
pub use comparison::{COMPARISON_COLUMNS, Comparison, Judgement};
pub use condition::{Condition, ConditionError};
pub use difference::{Difference, differences, unmatched};
pub use error::Error;
pub use figure::formatted as figure;
pub use machine_facts::machine_facts;
pub use odd_trees::odd_trees;
pub use pareto::pareto_front;
pub use relation::{Evidence, Relation};
pub use report::{
    Exhibit, FileSizes, HeatMap, Report, Scatter, ScatterLine, ScatterSpot, Section, TaskSpan,
    Timeline, TimelineSpot, Waterfall, report_html,
};
pub use rows::{Row, Versus, rows};
pub use run::{Excluded, Exit};
pub use runner::{Progress, Step};
pub use scenario::{Contestant, MountBy, Scenario, What};
pub use standing::{Standing, standings, versus};
