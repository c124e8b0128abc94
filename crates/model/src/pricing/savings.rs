//! Which specials a cart gets. Highest priority first; within one, again and again whatever takes off most.
//! `docs/domain.md`, "Specials".

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashMap};
use std::sync::Arc;

use uuid::Uuid;

use super::deal::{Deal, GroupDeal, Run, UnitDeal};
use super::line::CartLine;
use super::special::{Saving, Special};
use crate::{Money, Qty};

/// What takes something off: a special on one line, or a group over several.
enum Candidate<'a> {
    /// Those that any number of units gets, of one line: the best of them takes all that is left of it. One candidate
    /// together, as a line of a large department has hundreds of them.
    Line { specials: Vec<(&'a Arc<Special>, UnitDeal)>, line: usize },
    /// One that a sale gets so many times at the most.
    Unit { special: &'a Arc<Special>, deal: UnitDeal, line: usize, cap: usize },
    /// Each line with the special that names it, in the order of the lines.
    Group { deal: GroupDeal, members: Vec<(usize, &'a Arc<Special>)>, cap: usize },
}

/// Specials that count their units together. Of others the id is the key.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Pool<'a> {
    Mix(&'a str, GroupDeal, i32),
    One(Uuid),
}

/// What a candidate takes off, then what decides between equal ones: the lowest special, line and place.
type Worth = (i128, Reverse<(Uuid, usize, usize)>);

/// What is left of the units of each line, and of what a sale may get of each special.
struct Left {
    units: Vec<i64>,
    caps: Vec<Option<i128>>,
}

/// What the specials take off each line.
pub(super) fn savings(lines: &[CartLine]) -> Vec<Vec<Saving>> {
    let mut saved: Vec<Vec<Saving>> = vec![Vec::new(); lines.len()];
    let (candidates, caps) = candidates(lines);
    if candidates.is_empty() {
        return saved;
    }
    let mut left = Left { units: lines.iter().map(|line| line.quantity.0).collect(), caps };
    for candidates in candidates.into_values() {
        if left.units.iter().all(|units| *units <= 0) {
            break;
        }
        // The value, then the lowest id, then the lowest line. What a candidate gives never rises while units are taken: the
        // highest one that is still worth what it was is the highest of all.
        let mut heap: BinaryHeap<_> =
            candidates.iter().enumerate().map(|(place, candidate)| left.worth(lines, candidate, place)).collect();
        while let Some(was) = heap.pop() {
            let Reverse((_, _, place)) = was.1;
            let now = left.worth(lines, &candidates[place], place);
            if now.0 <= 0 {
                continue;
            }
            if now < was {
                heap.push(now);
                continue;
            }
            left.take(lines, &candidates[place], &mut saved);
        }
    }
    saved
}

/// By priority, highest first; and what may be had of each special.
#[expect(clippy::type_complexity, reason = "a list of lists and what it counts by")]
fn candidates(lines: &[CartLine]) -> (BTreeMap<Reverse<i32>, Vec<Candidate<'_>>>, Vec<Option<i128>>) {
    let mut found: BTreeMap<Reverse<i32>, Vec<Candidate<'_>>> = BTreeMap::new();
    let mut pools: HashMap<Pool<'_>, (usize, usize)> = HashMap::new();
    let mut caps: Vec<Option<i128>> = Vec::new();
    for (line, special, deal) in concerned(lines) {
        let place = found.entry(Reverse(special.priority)).or_default();
        if let (Deal::Unit(deal), None) = (deal, special.max_per_sale) {
            match place.last_mut() {
                Some(Candidate::Line { specials, line: same }) if *same == line => specials.push((special, deal)),
                _ => place.push(Candidate::Line { specials: vec![(special, deal)], line }),
            }
            continue;
        }
        let pool = match (deal, &special.mix_group) {
            (Deal::Group(deal), Some(name)) => Pool::Mix(name, deal, special.priority),
            _ => Pool::One(special.id),
        };
        let known = pools.get(&pool).copied();
        let cap = known.map_or(caps.len(), |(cap, _)| cap);
        let most = special.max_per_sale.map(i128::from);
        match caps.get_mut(cap) {
            Some(cap) => *cap = [*cap, most].into_iter().flatten().min(),
            None => caps.push(most),
        }
        match deal {
            Deal::Unit(deal) => place.push(Candidate::Unit { special, deal, line, cap }),
            Deal::Group(deal) => {
                if let Some(Candidate::Group { members, .. }) = known.and_then(|(_, at)| place.get_mut(at)) {
                    match members.last_mut() {
                        Some((same, member)) if *same == line => {
                            if special.id < member.id {
                                *member = special;
                            }
                        }
                        _ => members.push((line, special)),
                    }
                } else {
                    place.push(Candidate::Group { deal, members: vec![(line, special)], cap });
                }
            }
        }
        pools.entry(pool).or_insert((cap, place.len() - 1));
    }
    (found, caps)
}

/// Each line with each special that it may get: none on a price that somebody typed or a label says.
fn concerned(lines: &[CartLine]) -> impl Iterator<Item = (usize, &Arc<Special>, Deal)> {
    lines.iter().enumerate().filter(|(_, line)| line.takes_specials()).flat_map(|(place, line)| {
        let may = |special: &&Arc<Special>| line.is_counted || matches!(special.deal, Deal::Unit(_));
        line.specials.iter().filter(may).map(move |special| (place, special, special.deal))
    })
}

impl Left {
    /// What a candidate takes off now.
    fn worth(&self, lines: &[CartLine], candidate: &Candidate<'_>, place: usize) -> Worth {
        let (off, special, line) = match candidate {
            Candidate::Line { specials, line } => {
                let best = self.best(lines, specials, *line);
                best.map_or((0, Uuid::nil(), *line), |(off, special)| (off, special.id, *line))
            }
            Candidate::Unit { special, deal, line, cap } => {
                (deal.off(lines[*line].unit_price, Qty(self.of_line(*line, *cap))), special.id, *line)
            }
            Candidate::Group { deal, members, cap } => {
                let lowest = members.iter().map(|(_, special)| special.id).min().unwrap_or_default();
                let first = members.first().map(|(line, _)| *line).unwrap_or_default();
                (deal.of(&self.runs(lines, members), self.caps[*cap]).off, lowest, first)
            }
        };
        (off, Reverse((special, line, place)))
    }

    /// Which of `specials` takes most off what is left of `line`, and how much.
    fn best<'a>(
        &self,
        lines: &[CartLine],
        specials: &[(&'a Arc<Special>, UnitDeal)],
        line: usize,
    ) -> Option<(i128, &'a Arc<Special>)> {
        let (price, units) = (lines[line].unit_price, Qty(self.units[line]));
        if units <= Qty::ZERO {
            return None;
        }
        let list = price.times(units);
        let off = |(special, deal): &(&'a Arc<Special>, UnitDeal)| (deal.off_list(list, price, units), *special);
        specials.iter().map(off).max_by_key(|(off, special)| (*off, Reverse(special.id)))
    }

    /// Thousandths of a line that a special on it may have.
    fn of_line(&self, line: usize, cap: usize) -> i64 {
        let most = self.caps[cap].and_then(|units| i64::try_from(units.max(0) * 1000).ok());
        most.map_or(self.units[line], |most| most.min(self.units[line]))
    }

    /// The whole units that are left, dearest first.
    fn runs(&self, lines: &[CartLine], members: &[(usize, &Arc<Special>)]) -> Vec<Run> {
        let run = |(line, _): &(usize, &Arc<Special>)| Run {
            line: *line,
            price: i128::from(lines[*line].unit_price.0),
            count: i128::from(self.units[*line] / 1000),
        };
        let mut runs: Vec<Run> = members.iter().map(run).filter(|run| run.count > 0).collect();
        runs.sort_by_key(|run| Reverse(run.price));
        runs
    }

    fn take(&mut self, lines: &[CartLine], candidate: &Candidate<'_>, saved: &mut [Vec<Saving>]) {
        match candidate {
            Candidate::Line { specials, line } => {
                if let Some((off, special)) = self.best(lines, specials, *line) {
                    self.note(saved, *line, special, self.units[*line], off);
                }
            }
            Candidate::Unit { special, deal, line, cap } => {
                let units = self.of_line(*line, *cap);
                let off = deal.off(lines[*line].unit_price, Qty(units));
                self.note(saved, *line, special, units, off);
                if let Some(left) = &mut self.caps[*cap] {
                    // A part of a unit is one of those that may be had.
                    *left -= (i128::from(units) + 999) / 1000;
                }
            }
            Candidate::Group { deal, members, cap } => {
                let runs = self.runs(lines, members);
                let taken = deal.of(&runs, self.caps[*cap]);
                for (run, (count, off)) in runs.iter().zip(deal.shared(&runs, taken)) {
                    let units = i64::try_from(count * 1000).unwrap_or(i64::MAX);
                    let member = members.binary_search_by_key(&run.line, |(line, _)| *line);
                    if let Ok(place) = member
                        && units > 0
                    {
                        self.note(saved, run.line, members[place].1, units, off);
                    }
                }
                // What is left of its limit is asked no more: what is left over makes no further deal.
            }
        }
    }

    fn note(&mut self, saved: &mut [Vec<Saving>], line: usize, special: &Arc<Special>, units: i64, off: i128) {
        self.units[line] -= units;
        saved[line].push(Saving { special: special.clone(), quantity: Qty(units), amount: Money::from_wide(off) });
    }
}
