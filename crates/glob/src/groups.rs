//! Matching with groups, by carrying the set of places that a pattern can have reached.
//!
//! What the alternatives of a group reach from a place is computed once for each: groups that call
//! each other for every repetition would take as many steps as the length of the text to the power
//! of their depth.

use std::collections::HashMap;
use std::rc::Rc;

use crate::glob::{Group, Item, Repeat, Text};
use crate::places::Places;

/// Whether a pattern matches the whole of a text.
pub(crate) fn matches(items: &[Item], text: Text<'_>) -> bool {
    let len = text.bytes.len();
    let mut matching = Matching {
        text,
        reached: HashMap::new(),
    };
    let mut places = Places::one(len, 0);
    matching.advance(items, &mut places);
    places.contains(len)
}

struct Matching<'a> {
    text: Text<'a>,
    /// What one of the alternatives of a group reaches, by group and place.
    reached: HashMap<(usize, usize), Rc<Places>>,
}

impl Matching<'_> {
    /// Goes on from places to those that `items` reach from there.
    fn advance(&mut self, items: &[Item], places: &mut Places) {
        for item in items {
            if places.is_empty() {
                return;
            }
            match item {
                Item::Star => *places = self.star(places),
                Item::Group(group) => *places = self.group(group, places),
                one => places.advance(|at| self.text.fits(one, at)),
            }
        }
    }

    fn star(&self, from: &Places) -> Places {
        let len = self.text.bytes.len();
        let mut to = Places::none(len);
        let mut is_within = false;
        for at in 0..=len {
            is_within |= from.contains(at) && self.text.is_open(at);
            if is_within {
                to.insert(at);
            }
            is_within &= self.text.is_taken(at);
        }
        to
    }

    fn group(&mut self, group: &Group, from: &Places) -> Places {
        let mut to = match group.repeat {
            Repeat::Not => return self.not(group, from),
            Repeat::Optional | Repeat::Any => from.clone(),
            Repeat::Once | Repeat::Some => Places::none(self.text.bytes.len()),
        };
        let is_repeated = matches!(group.repeat, Repeat::Any | Repeat::Some);
        let mut pending: Vec<usize> = from.iter().collect();
        let mut entered = from.clone();
        while let Some(at) = pending.pop() {
            let reached = self.once(group, at);
            to.add(&reached);
            if is_repeated {
                pending.extend(reached.without(&entered).iter());
                entered.add(&reached);
            }
        }
        to
    }

    /// Everything that no alternative matches, within a name where names are matched one by one.
    fn not(&mut self, group: &Group, from: &Places) -> Places {
        let mut to = Places::none(self.text.bytes.len());
        for start in from.iter() {
            let reached = self.once(group, start);
            for end in start..=self.text.bytes.len() {
                if !reached.contains(end) {
                    to.insert(end);
                }
                if !self.text.is_taken(end) {
                    break;
                }
            }
        }
        to
    }

    /// What one of the alternatives reaches from a place.
    fn once(&mut self, group: &Group, at: usize) -> Rc<Places> {
        if let Some(reached) = self.reached.get(&(group.index, at)) {
            return Rc::clone(reached);
        }
        let len = self.text.bytes.len();
        let mut reached = Places::none(len);
        for items in &group.alternatives {
            let mut places = Places::one(len, at);
            self.advance(items, &mut places);
            reached.add(&places);
        }
        let reached = Rc::new(reached);
        self.reached.insert((group.index, at), Rc::clone(&reached));
        reached
    }
}
