//! What each candidate would give.

use std::ops::ControlFlow;

use coldpress_assemble::TableOptions;
use coldpress_cost::{AccessSequence, Geometry, ImageOptions, Prediction, predict};
use coldpress_format::{BlockSize, Compressor};
use coldpress_layout::{Group, Order, Plan, Sketches, Tails, order_grouped};
use coldpress_writer::{Error, Estimate, Options, SampledBlocks, Source};

use crate::budget::Budget;
use crate::candidate::{Candidate, OrderBy};
use crate::device::{Device, Devices, mean};
use crate::outcome::Outcome;
use crate::sampled::Sampled;
use crate::sizes::Sizes;
use crate::spend::{Spending, Spent};

/// A file by its path, and its pages of code, first and last.
pub type FileCode = (Vec<u8>, Vec<(u64, u64)>);

/// What is searched for, and under which conditions.
#[derive(Clone, Copy)]
#[expect(missing_debug_implementations, reason = "a function has none")]
pub struct Search<'a> {
    /// What the images hold.
    pub source: &'a Source,
    /// How they are written, but for what makes a candidate.
    pub options: &'a Options,
    /// The plan for images of a block size; an empty one if there is none.
    pub plan: &'a dyn Fn(BlockSize) -> Plan,
    /// The start that is to be fast; `None` is reading everything, as extracting does.
    pub sequence: Option<&'a AccessSequence>,
    /// Files that the start maps, and their pages of code, first and last: the kernel reads these
    /// ahead otherwise.
    pub code: &'a [FileCode],
    /// The readaheads to choose from, at least one, as what the devices are like with each.
    pub readaheads: &'a [Devices],
    /// What candidates that spend may spend.
    pub budget: Budget,
}

/// Orders that several candidates share.
type Orders = Vec<((BlockSize, Tails, Group, OrderBy), Order)>;

impl Search<'_> {
    /// Predicts candidates that were sampled.
    ///
    /// * `wanted`: their places; the outcomes are in this order.
    /// * `poll`: called for each; stops the work when it breaks.
    ///
    /// # Errors
    ///
    /// [`Error::Interrupted`]; [`Error::TooMany`] if the format does not allow the images.
    ///
    /// # Cost
    ///
    /// O(n) in the nodes of the source for each candidate: some ms for 20,000 of them.
    pub fn predict(
        &self,
        candidates: &[Candidate],
        sampled: &Sampled,
        wanted: &[usize],
        poll: &mut dyn FnMut() -> ControlFlow<()>,
    ) -> Result<Vec<Outcome>, Error> {
        let mut orders = Orders::new();
        let mut outcomes = Vec::with_capacity(wanted.len());
        for &place in wanted {
            if poll().is_break() {
                return Err(Error::Interrupted);
            }
            let (candidate, place) = (&candidates[place], sampled.places[place]);
            outcomes.push(self.outcome(candidate, place, sampled, &mut orders)?);
        }
        Ok(outcomes)
    }

    /// * `place`: of its image in the sampling.
    fn outcome(
        &self,
        candidate: &Candidate,
        place: usize,
        sampled: &Sampled,
        orders: &mut Orders,
    ) -> Result<Outcome, Error> {
        let estimate = &sampled.sampling.estimates[place];
        let order = self.order(candidate, sampled.sampling.sketches(place), orders);
        let blocks = sampled.sampling.blocks(place);
        let spent = self.spend(candidate, order, &blocks, estimate);
        let sizes = Sizes {
            source: self.source,
            blocks,
            stored: spent.stored,
        };
        let predictions = self.predictions(candidate, order, &sizes)?;
        Ok(self.made(estimate, spent.more_bytes, &predictions))
    }

    /// The plan of a candidate that was sampled, with what it spends.
    ///
    /// * `place`: its place among them.
    pub fn plan_with_encoding(
        &self,
        candidate: &Candidate,
        place: usize,
        sampled: &Sampled,
    ) -> Plan {
        let mut plan = self.plan_of(candidate);
        let place = sampled.places.get(place).copied();
        let estimate = place.and_then(|place| sampled.sampling.estimates.get(place));
        if let (Some(place), Some(estimate)) = (place, estimate) {
            let mut orders = Orders::new();
            let sketches = sampled.sampling.sketches(place);
            let order = self.order(candidate, sketches, &mut orders);
            let blocks = sampled.sampling.blocks(place);
            plan.encoding = self.spend(candidate, order, &blocks, estimate).rules;
        }
        plan
    }

    /// What a candidate stores of the start, if it spends.
    fn spend(
        &self,
        candidate: &Candidate,
        order: &Order,
        blocks: &SampledBlocks<'_>,
        estimate: &Estimate,
    ) -> Spent {
        let (true, Some(sequence), Some(compressor)) =
            (candidate.spends, self.sequence, candidate.compressor())
        else {
            return Spent::default();
        };
        let spending = Spending {
            tree: &self.source.tree,
            sequence,
            devices: self.readaheads.first().map_or(&[], Vec::as_slice),
            compressor,
            block_size: candidate.block_size,
        };
        spending.spend(order, blocks, self.budget.bytes(estimate.image_bytes))
    }

    /// The order of a candidate's image.
    fn order<'o>(
        &self,
        candidate: &Candidate,
        sketches: &Sketches,
        orders: &'o mut Orders,
    ) -> &'o Order {
        let Candidate {
            block_size,
            tails,
            group,
            order,
            ..
        } = *candidate;
        let key = (block_size, tails, group, order);
        let known = orders.iter().position(|(known, _)| *known == key);
        let place = known.unwrap_or_else(|| {
            let plan = self.plan_of(candidate);
            let tree = &self.source.tree;
            let grouping = group.with(sketches);
            let (order, _) = order_grouped(tree, &plan, block_size, tails, grouping);
            orders.push((key, order));
            orders.len() - 1
        });
        &orders[place].1
    }

    /// The plan of a candidate's image, without what it spends.
    fn plan_of(&self, candidate: &Candidate) -> Plan {
        let plan = || (self.plan)(candidate.block_size);
        match candidate.order {
            OrderBy::Tree => Plan::default(),
            OrderBy::Plan => plan(),
            OrderBy::SortFile => Plan {
                data: plan().data,
                ..Plan::default()
            },
        }
    }

    /// For each readahead a start on each device.
    fn predictions(
        &self,
        candidate: &Candidate,
        order: &Order,
        sizes: &Sizes<'_>,
    ) -> Result<Vec<Vec<Prediction>>, Error> {
        let written = candidate.options(self.options);
        let options = ImageOptions {
            // An image without one names gzip, and stores every block.
            compressor: candidate.compressor().unwrap_or(Compressor::Gzip),
            block_size: candidate.block_size,
            data_start: written.data_start(),
            tables: TableOptions {
                metadata: written.metadata,
                is_exportable: written.exportable,
            },
        };
        let mut geometry = Geometry::predicted(&self.source.tree, order, &options, sizes)?;
        for (path, pages) in self.code {
            geometry.set_executable(path, pages.clone());
        }
        let everything;
        let sequence = if let Some(sequence) = self.sequence {
            sequence
        } else {
            everything = AccessSequence::of_everything(&geometry);
            &everything
        };
        let on = |device: &Device| {
            let (medium, machine) = (&device.medium, &device.machine);
            predict(&geometry, sequence, medium, machine, &device.reader)
        };
        let readaheads = self.readaheads.iter();
        Ok(readaheads
            .map(|devices| devices.iter().map(on).collect())
            .collect())
    }

    fn made(
        &self,
        estimate: &Estimate,
        more_bytes: u64,
        predictions: &[Vec<Prediction>],
    ) -> Outcome {
        let mean_start_s = |(devices, found): (&Devices, &Vec<Prediction>)| {
            mean(devices, |place| found[place].time_s)
        };
        let readaheads = self.readaheads.iter().zip(predictions);
        let starts_s: Vec<f64> = readaheads.map(mean_start_s).collect();
        let places = 0..starts_s.len();
        let soonest = places.min_by(|&a, &b| starts_s[a].total_cmp(&starts_s[b]));
        let readahead = soonest.unwrap_or_default();
        let (devices, found) = (&self.readaheads[readahead], &predictions[readahead]);
        #[expect(
            clippy::cast_precision_loss,
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "counts below 2^53"
        )]
        let count = |figure: fn(&Prediction) -> u64| {
            mean(devices, |place| figure(&found[place]) as f64).round() as u64
        };
        Outcome {
            start_s: starts_s[readahead],
            device_starts_s: found.iter().map(|it| it.time_s).collect(),
            readahead,
            readahead_starts_s: starts_s,
            size_bytes: estimate.image_bytes.saturating_add(more_bytes),
            size_error_bytes: estimate.error_bytes,
            build_s: estimate.build_s(self.options.threads),
            memory_bytes: estimate.memory_bytes,
            page_cache_bytes: count(|it| it.page_cache_bytes),
            reads: count(|it| it.reads),
            read_bytes: count(|it| it.read_bytes),
            decompressed_bytes: count(|it| it.decompressed_bytes),
        }
    }
}

impl Candidate {
    /// How its image is written; what makes no candidate is taken over.
    pub fn options(&self, base: &Options) -> Options {
        Options {
            compression: self.compression,
            uncompressed: self.uncompressed,
            block_size: self.block_size,
            tails: self.tails,
            group: self.group,
            ..base.clone()
        }
    }
}
