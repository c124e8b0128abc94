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
    Line { specials: Arc<[(&'a Arc<Special>, UnitDeal)]>, line: usize },
    /// One that a sale gets so many times at the most.
    Unit { special: &'a Arc<Special>, deal: UnitDeal, line: usize, cap: usize },
    /// Each line with the special that names it, dearest first; and the lowest of these.
    Group { deal: GroupDeal, members: Vec<(usize, &'a Arc<Special>)>, cap: usize, lowest: Uuid },
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
    let Candidates { found: candidates, caps, .. } = Candidates::of(lines);
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

/// Lines with the same specials, dearest first: those of a department share one list.
struct Class<'a> {
    specials: &'a Arc<[Arc<Special>]>,
    lines: Vec<usize>,
}

/// The lines that a special may make cheaper.
fn classes(lines: &[CartLine]) -> Vec<Class<'_>> {
    let mut order: Vec<usize> = (0..lines.len()).filter(|line| lines[*line].takes_specials()).collect();
    order.sort_by_key(|line| Reverse(lines[*line].unit_price));
    let mut classes: Vec<Class<'_>> = Vec::new();
    let mut places: HashMap<*const Arc<Special>, usize> = HashMap::new();
    for line in order {
        let specials = &lines[line].specials;
        if specials.is_empty() {
            continue;
        }
        let place = *places.entry(specials.as_ptr()).or_insert(classes.len());
        if place == classes.len() {
            classes.push(Class { specials, lines: Vec::new() });
        }
        classes[place].lines.push(line);
    }
    classes
}

/// By priority, highest first; and what may be had of each special.
#[derive(Default)]
struct Candidates<'a> {
    found: BTreeMap<Reverse<i32>, Vec<Candidate<'a>>>,
    /// The limit of each pool, and its candidate when it is one.
    pools: HashMap<Pool<'a>, (usize, usize)>,
    caps: Vec<Option<i128>>,
}

impl<'a> Candidates<'a> {
    fn of(lines: &'a [CartLine]) -> Self {
        let mut all = Self::default();
        for class in classes(lines) {
            all.add(lines, &class);
        }
        let price = |line: usize| Reverse(lines[line].unit_price);
        for candidate in all.found.values_mut().flatten() {
            if let Candidate::Group { members, lowest, .. } = candidate {
                // Of several rows that name a line the lowest one counts.
                members.sort_by_key(|(line, special)| (price(*line), *line, special.id));
                members.dedup_by_key(|(line, _)| *line);
                *lowest = members.iter().map(|(_, special)| special.id).min().unwrap_or_default();
            }
        }
        all
    }

    fn add(&mut self, lines: &[CartLine], class: &Class<'a>) {
        let counted: Vec<usize> = class.lines.iter().copied().filter(|line| lines[*line].is_counted).collect();
        let mut unlimited: BTreeMap<i32, Vec<(&'a Arc<Special>, UnitDeal)>> = BTreeMap::new();
        for special in class.specials.iter() {
            match (special.deal, special.max_per_sale) {
                (Deal::Unit(deal), None) => unlimited.entry(special.priority).or_default().push((special, deal)),
                (Deal::Unit(deal), Some(_)) => {
                    let (cap, _) = self.pool(Pool::One(special.id), special);
                    let of_line = |line: &usize| Candidate::Unit { special, deal, line: *line, cap };
                    self.at(special.priority).extend(class.lines.iter().map(of_line));
                }
                (Deal::Group(deal), _) if !counted.is_empty() => self.add_group(special, deal, &counted),
                (Deal::Group(_), _) => {}
            }
        }
        for (priority, specials) in unlimited {
            let specials: Arc<[_]> = undominated(specials).into();
            let of_line = |line: &usize| Candidate::Line { specials: specials.clone(), line: *line };
            self.at(priority).extend(class.lines.iter().map(of_line));
        }
    }

    fn add_group(&mut self, special: &'a Arc<Special>, deal: GroupDeal, counted: &[usize]) {
        let pool = match &special.mix_group {
            Some(name) => Pool::Mix(name, deal, special.priority),
            None => Pool::One(special.id),
        };
        let (cap, place) = self.pool(pool, special);
        let candidates = self.at(special.priority);
        if place == candidates.len() {
            candidates.push(Candidate::Group { deal, members: Vec::new(), cap, lowest: special.id });
        }
        if let Some(Candidate::Group { members, .. }) = candidates.get_mut(place) {
            members.extend(counted.iter().map(|line| (*line, special)));
        }
    }

    fn at(&mut self, priority: i32) -> &mut Vec<Candidate<'a>> {
        self.found.entry(Reverse(priority)).or_default()
    }

    /// The limit of a pool, which is the lowest of its specials, and where its candidate stands or will.
    fn pool(&mut self, pool: Pool<'a>, special: &Special) -> (usize, usize) {
        let next = (self.caps.len(), self.at(special.priority).len());
        let (cap, place) = *self.pools.entry(pool).or_insert(next);
        let most = special.max_per_sale.map(i128::from);
        match self.caps.get_mut(cap) {
            Some(cap) => *cap = [*cap, most].into_iter().flatten().min(),
            None => self.caps.push(most),
        }
        (cap, place)
    }
}

/// Those that may be the best on some line: of one kind, what takes off no more and has no lower id never is.
fn undominated(mut specials: Vec<(&Arc<Special>, UnitDeal)>) -> Vec<(&Arc<Special>, UnitDeal)> {
    // The kind, then what takes off most.
    let order = |deal: UnitDeal| match deal {
        UnitDeal::Percent(bps) => (0, -i64::from(bps.0)),
        UnitDeal::Amount(amount) => (1, amount.0.saturating_neg()),
        UnitDeal::Fixed(price) => (2, price.0),
    };
    specials.sort_by_key(|(special, deal)| (order(*deal), special.id));
    let mut last: Option<(i32, Uuid)> = None;
    specials.retain(|(special, deal)| {
        let kind = order(*deal).0;
        let may_win = last.is_none_or(|(of, lowest)| of != kind || special.id < lowest);
        if may_win {
            last = Some((kind, special.id));
        }
        may_win
    });
    specials
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
            // No other candidate has its id.
            Candidate::Group { deal, members, cap, lowest } => {
                (deal.of(&self.runs(lines, members), self.caps[*cap]).off, *lowest, 0)
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
        members.iter().map(run).filter(|run| run.count > 0).collect()
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
            Candidate::Group { deal, members, cap, .. } => {
                let runs = self.runs(lines, members);
                let taken = deal.of(&runs, self.caps[*cap]);
                let named: HashMap<usize, &Arc<Special>> = members.iter().copied().collect();
                for (run, (count, off)) in runs.iter().zip(deal.shared(&runs, taken)) {
                    let units = i64::try_from(count * 1000).unwrap_or(i64::MAX);
                    if units > 0 {
                        self.note(saved, run.line, named[&run.line], units, off);
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
