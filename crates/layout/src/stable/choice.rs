//! What moves: the shortest path through what a start reads, in two states.

use super::{BOUNDARY_BYTES, Fate, FormerItem, JUMP_BYTES, Places, Stability, members};
use crate::order::{Item, Placing};

/// What a start reads next: something of the older image, or something that is at the front anyway.
#[derive(Clone, Copy)]
enum Step {
    Former(u32),
    Front,
}

/// What it costs to leave something where it is, and to move it.
struct Costs {
    /// Bytes that the start reads of it where it is, and at the front.
    read_bytes: [u64; 2],
    /// Bytes that the update transfers if it moves, and if what stands before it moves with it.
    update_bytes: [u64; 2],
    /// Whether it moves as it is.
    is_whole: bool,
}

/// Where something lies.
const STAYS: usize = 0;
const MOVES: usize = 1;

/// What becomes of each item of the older image.
///
/// # Cost
///
/// O(n) in the older image and the wanted items.
pub(super) fn moved(
    placing: &Placing<'_>,
    wanted: &[Item],
    places: &Places<'_>,
    stability: Stability,
) -> Vec<Fate> {
    let hot = Hot::new(placing, wanted, places);
    let costs: Vec<Option<Costs>> = hot
        .steps
        .iter()
        .map(|step| match step {
            Step::Former(index) => Some(hot.costs(placing, places, *index)),
            Step::Front => None,
        })
        .collect();
    let states = shortest(&hot.steps, &costs, places, stability);
    let mut fates = vec![Fate::Stays; places.former.len()];
    for ((step, costs), state) in hot.steps.iter().zip(&costs).zip(states) {
        if let (Step::Former(index), Some(costs), MOVES) = (step, costs, state) {
            fates[*index as usize] = if costs.is_whole {
                Fate::Moves
            } else {
                Fate::Dissolves
            };
        }
    }
    fates
}

/// What a start reads.
struct Hot {
    /// In its order, each item of the older image once.
    steps: Vec<Step>,
    /// By node: whether its tail end is wanted.
    tails: Vec<bool>,
}

impl Hot {
    fn new(placing: &Placing<'_>, wanted: &[Item], places: &Places<'_>) -> Self {
        let mut hot = Self {
            steps: Vec::new(),
            tails: vec![false; placing.tree.nodes.len()],
        };
        let mut seen = vec![false; places.former.len()];
        for item in wanted {
            for id in members(item) {
                let is_tail = matches!(item, Item::Fragment(_)) || placing.is_all_tail(*id);
                hot.tails[placing.tree.tail_of(*id).index()] |= is_tail;
                match places.of(item, *id) {
                    None => hot.steps.push(Step::Front),
                    Some(index) if !std::mem::replace(&mut seen[index as usize], true) => {
                        hot.steps.push(Step::Former(index));
                    }
                    Some(_) => {}
                }
            }
        }
        hot
    }

    fn costs(&self, placing: &Placing<'_>, places: &Places<'_>, index: u32) -> Costs {
        let FormerItem {
            item,
            size_bytes,
            is_same,
            ..
        } = places.item(index);
        let size_bytes = *size_bytes;
        let tail_bytes = |id| u64::from(placing.block_size.tail_bytes(placing.size_bytes(id)));
        let all: u64 = members(item).iter().map(|id| tail_bytes(*id)).sum();
        let wanted = members(item).iter().filter(|id| self.tails[id.index()]);
        let wanted: u64 = wanted.map(|id| tail_bytes(*id)).sum();
        if matches!(item, Item::Fragment(_)) && wanted < all {
            let share = u128::from(size_bytes) * u128::from(wanted) / u128::from(all);
            let share = u64::try_from(share).unwrap_or(size_bytes);
            return Costs {
                read_bytes: [size_bytes, share],
                update_bytes: [size_bytes.saturating_add(share); 2],
                is_whole: false,
            };
        }
        let boundary_bytes = if *is_same {
            size_bytes.min(BOUNDARY_BYTES)
        } else {
            0
        };
        Costs {
            read_bytes: [size_bytes; 2],
            update_bytes: [boundary_bytes, 0],
            is_whole: true,
        }
    }
}

/// For each step whether it stays or moves, so that all together costs least. Of equal ones the
/// one that moves less.
fn shortest(
    steps: &[Step],
    costs: &[Option<Costs>],
    places: &Places<'_>,
    stability: Stability,
) -> Vec<usize> {
    // The front is where a start begins.
    let mut least = [None, Some(0_u128)];
    let mut before = None;
    let mut from = Vec::with_capacity(steps.len());
    for (step, costs) in steps.iter().zip(costs) {
        let item = match step {
            Step::Former(index) => Some(places.item(*index)),
            Step::Front => None,
        };
        let cost = |state: usize, last: usize| {
            let Some(costs) = costs else {
                // It is at the front, whatever else is.
                let jump = if last == MOVES { 0 } else { JUMP_BYTES };
                return (state == MOVES).then(|| stability.weigh(jump, 0));
            };
            let jump = match (last, state) {
                (MOVES, MOVES) => 0,
                (STAYS, STAYS) => jump_bytes(before, item),
                _ => JUMP_BYTES,
            };
            let is_run = last == MOVES && jump_bytes(before, item) == 0;
            let update = if state == MOVES {
                costs.update_bytes[usize::from(is_run)]
            } else {
                0
            };
            Some(stability.weigh(jump.saturating_add(costs.read_bytes[state]), update))
        };
        let best = [STAYS, MOVES].map(|state| {
            let reach = |last: usize| {
                let so_far: u128 = least[last]?;
                Some((so_far + cost(state, last)?, last))
            };
            [STAYS, MOVES].into_iter().filter_map(reach).min()
        });
        from.push(best.map(|best| best.map_or(MOVES, |(_, last)| last)));
        least = best.map(|best| best.map(|(cost, _)| cost));
        before = item;
    }
    let mut state = match least {
        [Some(stays), Some(moves)] if stays <= moves => STAYS,
        [Some(_), None] => STAYS,
        _ => MOVES,
    };
    let mut states = vec![MOVES; steps.len()];
    for (place, from) in states.iter_mut().zip(&from).rev() {
        *place = state;
        state = from[state];
    }
    states
}

/// What it costs to read on at an item of the older image behind another.
fn jump_bytes(before: Option<&FormerItem>, item: Option<&FormerItem>) -> u64 {
    let (Some(before), Some(item)) = (before, item) else {
        return JUMP_BYTES;
    };
    let end = before.start.saturating_add(before.size_bytes);
    let gap = item.start.checked_sub(end);
    gap.unwrap_or(JUMP_BYTES).min(JUMP_BYTES)
}
