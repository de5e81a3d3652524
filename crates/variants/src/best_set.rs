//! The set of so many images that no other set of that number beats.

/// How many sets are looked at before what was found is good enough: some seconds.
const SETS_MAX: u64 = 20_000_000;

/// What images cost clients.
#[derive(Clone, Debug, PartialEq)]
pub struct Costs {
    /// Shares of the clients.
    pub shares: Vec<f64>,
    /// For each image what it costs each client, in s; infinite if that cannot read it.
    pub images: Vec<Vec<f64>>,
}

/// A set of images.
#[derive(Clone, Debug, PartialEq)]
pub struct BestSet {
    /// Places of the images, ascending.
    pub images: Vec<usize>,
    /// What is expected: the mean of what clients pay, each for the image that costs it least, by
    /// their shares, in s.
    pub expected_s: f64,
    /// No set of that number costs less than this, in s: the same if the set is the best.
    pub least_s: f64,
}

impl Costs {
    /// The set of at most `count` images that costs least. Fewer are enough if others would not be
    /// taken by anybody. `None` if there is a client that can read none, or no set of that number
    /// serves all clients.
    ///
    /// Images that another one beats for every client are left out first, which loses nothing.
    /// Then every set is looked at that can still be better than the best one found: how good it
    /// can get is known, as each client can take no better image than its best of those that are
    /// left. After 20 million sets the search ends, and [`BestSet::least_s`] says how much better
    /// another set could be at most.
    pub fn best_set(&self, count: usize) -> Option<BestSet> {
        let mut search = Search::new(self);
        let nothing = vec![f64::INFINITY; self.shares.len()];
        search.look(0, count, &mut Vec::new(), &nothing);
        let (mut images, expected_s) = (search.best?, search.best_s);
        self.leave_out_unused(&mut images, expected_s);
        images.sort_unstable();
        let least_s = search.open_s.min(expected_s);
        Some(BestSet {
            images,
            expected_s,
            least_s,
        })
    }

    /// What a set costs, in s.
    pub fn expected_s(&self, images: &[usize]) -> f64 {
        let least = |client: usize| {
            let costs = images.iter().map(|image| self.images[*image][client]);
            costs.fold(f64::INFINITY, f64::min)
        };
        let clients = self.shares.iter().enumerate();
        clients.map(|(client, share)| share * least(client)).sum()
    }

    fn leave_out_unused(&self, images: &mut Vec<usize>, expected_s: f64) {
        let mut at = 0;
        while at < images.len() && images.len() > 1 {
            let image = images.remove(at);
            if self.expected_s(images) > expected_s {
                images.insert(at, image);
                at += 1;
            }
        }
    }

    /// The images that none beats for every client.
    fn unbeaten(&self) -> Vec<usize> {
        let beats = |one: usize, other: usize| {
            let pairs = self.images[one].iter().zip(&self.images[other]);
            let is_as_good = pairs.clone().all(|(one, other)| one <= other);
            // Of those that are equal, the first stays.
            is_as_good && (one < other || pairs.clone().any(|(one, other)| one < other))
        };
        let all = 0..self.images.len();
        let is_unbeaten = |image: &usize| {
            !all.clone()
                .any(|other| other != *image && beats(other, *image))
        };
        all.clone().filter(is_unbeaten).collect()
    }
}

/// The search while it goes on.
struct Search<'a> {
    costs: &'a Costs,
    unbeaten: Vec<usize>,
    /// For each place in `unbeaten` the least that each client pays for it or one behind.
    least_behind: Vec<Vec<f64>>,
    best: Option<Vec<usize>>,
    best_s: f64,
    /// The least that sets could cost that were not looked at.
    open_s: f64,
    looked_at: u64,
}

impl<'a> Search<'a> {
    fn new(costs: &'a Costs) -> Self {
        let mut unbeaten = costs.unbeaten();
        // Those that are good on their own come first, so that a good set is found soon.
        unbeaten.sort_by(|one, other| {
            costs
                .expected_s(&[*one])
                .total_cmp(&costs.expected_s(&[*other]))
        });
        let mut least_behind = vec![vec![f64::INFINITY; costs.shares.len()]];
        for image in unbeaten.iter().rev() {
            let behind = &least_behind[least_behind.len() - 1];
            least_behind.push(least(behind, &costs.images[*image]));
        }
        least_behind.reverse();
        Self {
            costs,
            unbeaten,
            least_behind,
            best: None,
            best_s: f64::INFINITY,
            open_s: f64::INFINITY,
            looked_at: 0,
        }
    }

    fn mean(&self, costs: &[f64]) -> f64 {
        let pairs = self.costs.shares.iter().zip(costs);
        pairs.map(|(share, cost_s)| share * cost_s).sum()
    }

    /// * `from`: the first place in `unbeaten` that may still be taken.
    /// * `left`: how many may.
    /// * `paid`: what clients pay with what was `taken`.
    fn look(&mut self, from: usize, left: usize, taken: &mut Vec<usize>, paid: &[f64]) {
        self.looked_at += 1;
        let cost_s = self.mean(paid);
        if cost_s < self.best_s {
            (self.best, self.best_s) = (Some(taken.clone()), cost_s);
        }
        for place in from..self.unbeaten.len() {
            let can_get_s = self.mean(&least(paid, &self.least_behind[place]));
            if left == 0 || can_get_s >= self.best_s {
                return;
            }
            if self.looked_at >= SETS_MAX {
                self.open_s = self.open_s.min(can_get_s);
                return;
            }
            let image = self.unbeaten[place];
            let now_paid = least(paid, &self.costs.images[image]);
            taken.push(image);
            self.look(place + 1, left - 1, taken, &now_paid);
            taken.pop();
        }
    }
}

fn least(one: &[f64], other: &[f64]) -> Vec<f64> {
    one.iter()
        .zip(other)
        .map(|(one, other)| one.min(*other))
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn costs(shares: &[f64], images: &[&[f64]]) -> Costs {
        Costs {
            shares: shares.to_vec(),
            images: images.iter().map(|image| image.to_vec()).collect(),
        }
    }

    #[test]
    fn a_set_serves_each_client_as_well_as_it_can() {
        let none = f64::INFINITY;
        let of_two = &[0.5, 0.5][..];
        for (shares, images, count, expected) in [
            (
                of_two,
                vec![&[1.0, 9.0][..], &[9.0, 1.0], &[2.0, 2.0]],
                1,
                Some((vec![2], 2.0)),
            ),
            (
                of_two,
                vec![&[1.0, 9.0], &[9.0, 1.0], &[2.0, 2.0]],
                2,
                Some((vec![0, 1], 1.0)),
            ),
            // A third would not be taken.
            (
                of_two,
                vec![&[1.0, 9.0], &[9.0, 1.0], &[2.0, 2.0]],
                3,
                Some((vec![0, 1], 1.0)),
            ),
            // Of equal ones the first.
            (
                of_two,
                vec![&[3.0, 3.0], &[3.0, 3.0]],
                2,
                Some((vec![0], 3.0)),
            ),
            (of_two, vec![&[1.0, none], &[none, 1.0]], 1, None),
            (
                of_two,
                vec![&[1.0, none], &[none, 1.0]],
                2,
                Some((vec![0, 1], 1.0)),
            ),
            (of_two, vec![&[1.0, none]], 2, None),
            (&[1.0], vec![], 2, None),
        ] {
            let found = costs(shares, &images).best_set(count);
            let found = found.map(|set| {
                assert!((set.least_s - set.expected_s).abs() < 1e-12);
                (set.images, set.expected_s)
            });
            assert_eq!(found, expected);
        }
    }

    /// Every set of at most `count` images.
    fn every_set(images: usize, count: usize) -> Vec<Vec<usize>> {
        let all = (1_u32..1 << images).filter(|set| set.count_ones() as usize <= count);
        all.map(|set| (0..images).filter(|at| set >> at & 1 == 1).collect())
            .collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]
        #[test]
        fn no_other_set_of_that_number_is_better(
            rows in prop::collection::vec(prop::collection::vec(1_u32..12, 3), 1..9),
            shares in prop::collection::vec(1_u32..5, 3),
            count in 1_usize..5,
        ) {
            // 11 stands for an image that is not read.
            let cost = |cost: u32| if cost == 11 { f64::INFINITY } else { f64::from(cost) };
            let costs = Costs {
                shares: shares.into_iter().map(f64::from).collect(),
                images: rows.iter().map(|row| row.iter().copied().map(cost).collect()).collect(),
            };
            let best_s = every_set(rows.len(), count)
                .iter()
                .map(|set| costs.expected_s(set))
                .fold(f64::INFINITY, f64::min);
            match costs.best_set(count) {
                None => prop_assert!(best_s.is_infinite()),
                Some(set) => {
                    prop_assert!(set.images.len() <= count);
                    prop_assert!((costs.expected_s(&set.images) - best_s).abs() < 1e-9);
                    prop_assert!((set.expected_s - best_s).abs() < 1e-9);
                }
            }
        }
    }
}
