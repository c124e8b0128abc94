//! What each type that stores push is to headquarters, one file a type. The engine asks here and names no type itself.
//!
//! [`Pushed`] has no default: whoever adds a type answers every question, with `None` or an empty list where that is the answer.

pub mod adjustment;
mod awaited;
mod columns;
pub mod customer;
mod facts;
pub mod flags;
pub(crate) mod lists;
pub mod movement;
pub mod order;
pub mod sale;
pub mod session;
pub mod transfer;

use tillkeep_model::state::MayFollow;
use uuid::Uuid;

pub use awaited::{Awaited, Reference};
pub use facts::{Facts, Named, Session};

use crate::document::movement::{Movement, Position};
use crate::rows::Row;

/// A type of which stores push rows. Its place in a push request, in what a store gets back and in an export is that in the
/// registry.
pub struct Pushed {
    /// The columns that the sender may write. Nothing at all: the envelope is left aside.
    pub owned: fn(WriteContext<'_>) -> &'static [&'static str],
    /// What becomes of a row beyond its limits.
    pub beyond: Beyond,
    /// What becomes of a new row under an id that another store has used.
    pub used_id: UsedId,
    pub states: Option<States>,
    /// The row that must be at HQ before this one.
    pub parent: Option<Parent>,
    /// Whether its store may delete the row that HQ has, or one that HQ does not have; `None`: never.
    pub may_be_deleted: Option<MayBeDeleted>,
    /// JSON lists that only grow: their elements are known by `receiptId` or `id`, else by all that they say.
    pub append_only_lists: &'static [&'static str],
    /// What follows of one of these lists that has kept what its sender did not say.
    pub kept: Option<Kept>,
    /// The number that its store gives it.
    pub number: Option<&'static Numbering>,
    /// Columns with numbers as they were printed on paper.
    pub printed: &'static [&'static str],
    /// Columns that say when it happened.
    pub times: &'static [&'static str],
    /// Column with the business day on which it counts.
    pub day: Option<&'static str>,
    /// Fills in what HQ itself says of a row that is new there.
    pub complete: Option<fn(&mut dyn Row, &Maker<'_>)>,
    /// The stock that the stored document moves; its store made it at the position.
    pub movements: Option<Moves>,
    /// What the stored document has put on the account of its customer.
    pub charged: Option<fn(&Whole<'_>) -> i128>,
    /// What the stored sales put on its account is summed up when it comes after them.
    pub has_account: bool,
    /// The flags of what does not add up in it.
    pub checks: Option<fn(&Whole<'_>) -> Vec<&'static str>>,
    /// The rows that it names and that may come after it.
    pub awaited: &'static [Awaited],
    /// The flags of what it names and HQ has, but otherwise than it says.
    pub flags: Option<fn(&Whole<'_>, &Facts) -> Vec<&'static str>>,
    /// Columns, also of its lines, that headquarters reckons from what other documents say, whatever a store says of them.
    pub reckoned: &'static [&'static str],
    /// How a store that lost its database gets its own rows back; `None` for what it gets by pulling.
    pub restored: Option<Restored>,
    /// What the export of a month says of it; `None` for what is not exported.
    pub exported: Option<Exported>,
    /// What people do to it at a store, as the audit log there must say.
    pub acts: &'static [AuditedAct],
}

/// Of a row, one of its lists, which is that of both sides, and what the sender said of it.
pub type Kept = fn(&mut dyn Row, &str, Option<&str>);
pub type MayBeDeleted = fn(Option<&dyn Row>) -> bool;
pub type Moves = fn(&Whole<'_>, Option<Position>) -> Vec<Movement>;

impl Pushed {
    /// The state that a row is in.
    pub fn status(&self, row: &dyn Row) -> Option<String> {
        row.text(self.states.as_ref()?.column)
    }

    /// Whether headquarters made it.
    pub fn made_by_hq(&self, row: &dyn Row) -> bool {
        self.states.as_ref().and_then(|states| states.made_by_hq).is_some_and(|made| made(row))
    }

    /// The state that an envelope with this action reports.
    pub fn sent_status(&self, action: &str, row: &dyn Row) -> Option<String> {
        let by_action = self.states.as_ref()?.by_action.iter().find(|(name, _)| *name == action);
        by_action.map_or_else(|| self.status(row), |(_, status)| Some((*status).to_owned()))
    }

    pub fn may_be_deleted(&self, existing: Option<&dyn Row>) -> bool {
        self.may_be_deleted.is_some_and(|may| may(existing))
    }

    pub fn movements(&self, document: &Whole<'_>, position: Option<Position>) -> Vec<Movement> {
        self.movements.map_or_else(Vec::new, |movements| movements(document, position))
    }

    pub fn charged(&self, document: &Whole<'_>) -> i128 {
        self.charged.map_or(0, |charged| charged(document))
    }

    /// The flags of what does not add up in the document.
    pub fn checks(&self, document: &Whole<'_>) -> Vec<&'static str> {
        self.checks.map_or_else(Vec::new, |checks| checks(document))
    }

    /// The rows that the document names and that HQ looks up for [`Pushed::flags`].
    pub fn named(&self, document: &Whole<'_>) -> Named {
        let mut named = Named::default();
        for awaited in self.awaited {
            awaited.ids(document).for_each(|id| named.add(awaited.names, id));
        }
        named
    }

    /// The flags of what the document names and HQ does not have, or has otherwise.
    pub fn flags(&self, document: &Whole<'_>, facts: &Facts) -> Vec<&'static str> {
        let mut flags = Vec::new();
        for awaited in self.awaited {
            let Some(flag) = awaited.names.unknown().filter(|flag| !flags.contains(flag)) else { continue };
            if awaited.ids(document).any(|id| !facts.has(awaited.names, id)) {
                flags.push(flag);
            }
        }
        flags.extend(self.flags.into_iter().flat_map(|more| more(document, facts)));
        flags
    }
}

/// The states that its rows have.
pub struct States {
    /// Column that says which one a row is in.
    pub column: &'static str,
    /// Which way they may go.
    pub may_follow: MayFollow,
    /// Actions of an envelope that say a state, whatever its row says.
    pub by_action: &'static [(&'static str, &'static str)],
    /// Whether headquarters made a row, where it makes some too.
    pub made_by_hq: Option<fn(&dyn Row) -> bool>,
    /// The state of rows that more than one server writes: a status that may not follow is left alone, and the rest is taken
    /// all the same. `None` of what one writes.
    pub merged: Option<MergeStatus>,
    /// Those that headquarters reckons from other documents.
    pub reckoned: Option<Reckoned>,
}

/// States that headquarters reckons: a store that says one of them means another one.
pub struct Reckoned {
    pub states: &'static [&'static str],
    pub means: &'static str,
}

impl States {
    /// What a store means that says a state.
    pub fn meant<'a>(&self, said: &'a str) -> &'a str {
        self.reckoned
            .as_ref()
            .filter(|reckoned| reckoned.states.contains(&said))
            .map_or(said, |reckoned| reckoned.means)
    }

    /// The state of a row that was in one and is said to be in another one: what was reckoned stays.
    pub fn after(&self, had: Option<&str>, said: &str) -> String {
        let meant = self.meant(said);
        had.filter(|had| self.meant(had) == meant).unwrap_or(meant).to_owned()
    }
}

/// The state of a row, merged but for it, when HQ had the status of the context and the envelope reports the other one.
pub type MergeStatus = fn(WriteContext<'_>, Option<&str>, &mut dyn Row) -> String;

/// What the sender of an envelope is to a row that HQ may already have.
#[derive(Clone, Copy, Debug)]
pub struct WriteContext<'a> {
    /// The state of the row at HQ (of its parent for a line), `None` when HQ does not have it.
    pub status: Option<&'a str>,
    /// The row is new at HQ.
    pub new: bool,
    /// The sender is the receiving store of a transfer.
    pub receives: bool,
    /// Headquarters made the order (that of a line's order).
    pub made_by_hq: bool,
}

/// What becomes of a pushed row with a text, a list or a number of lines beyond its limit (`tillkeep_model::fields`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beyond {
    /// The envelope is refused with the name of the field.
    Refuse,
    /// What is too much is cut off and the row flagged: money came in, and is never refused.
    Cut,
}

/// What becomes of a new row when another store has a row with its id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UsedId {
    /// The row is the other store's, or everybody's, and stays so: the envelope is judged by that.
    Theirs,
    /// It is kept under an id of its own and flagged: money came in or goods moved.
    Another,
}

/// The row that another one belongs to and cannot be without.
#[derive(Clone, Copy, Debug)]
pub struct Parent {
    pub entity_type: &'static str,
    /// Column that names it.
    pub column: &'static str,
}

/// The number that a store gives to a row.
#[derive(Debug)]
pub struct Numbering {
    /// The name of its series.
    pub kind: &'static str,
    pub table: &'static str,
    pub column: &'static str,
    /// Column of the store that gave the number.
    pub store: &'static str,
    /// Column of the register, where each register has a series of its own.
    pub register: Option<&'static str>,
    pub form: Form,
    pub clash: Clash,
}

/// How a number is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// The store's code, this, the register if there is one, and the number.
    Text { infix: &'static str },
    /// A whole number that has the letter of its series in it, as of drawers.
    Whole,
}

/// What becomes of a number that another row has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clash {
    /// Numbers are unique at HQ: the second row is refused. One that begins with another store's code is replaced.
    Refused,
    /// It was printed and stays: both rows get this flag.
    Flagged(&'static str),
}

/// Who made a row that is new at HQ.
pub struct Maker<'a> {
    pub store_id: Uuid,
    pub store_code: &'a str,
}

/// How a store gets its own rows of a type back.
#[derive(Clone, Copy, Debug)]
pub struct Restored {
    /// The rows name registers, which their store alone knows and needs again.
    pub registers: bool,
}

/// What is summed up in the export of a month.
#[derive(Clone, Copy, Debug)]
pub struct Exported {
    pub amounts: &'static [&'static str],
    pub quantities: &'static [&'static str],
}

/// An act of a person at a store.
#[derive(Clone, Copy, Debug)]
pub struct AuditedAct {
    pub when: When,
    /// The word of it in the audit log.
    pub action: &'static str,
}

/// Which rows an act was done to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    Created,
    Closed,
    /// Closed without a count.
    ForceClosed,
}

/// A row with its lines, one list for each kind of child in the registry's order.
pub struct Whole<'a> {
    pub row: &'a dyn Row,
    pub lines: Vec<Vec<&'a dyn Row>>,
}

impl<'a> Whole<'a> {
    pub fn new(row: &'a dyn Row, children: &'a [Vec<Box<dyn Row>>]) -> Self {
        Self { row, lines: children.iter().map(|lines| lines.iter().map(|line| &**line).collect()).collect() }
    }

    /// The lines of the child at `place`, which are rows of `M`.
    fn lines_of<M: 'static>(&self, place: usize) -> impl Iterator<Item = &'a M> {
        self.lines.get(place).into_iter().flatten().filter_map(|line| line.typed())
    }
}
