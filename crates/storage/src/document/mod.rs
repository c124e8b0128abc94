//! What each type that stores push is to headquarters, one file a type. The engine asks here and names no type itself.
//!
//! [`Pushed`] has no default bodies: whoever adds a type answers every question, with "nothing" where that is the answer.

pub mod adjustment;
mod columns;
pub mod customer;
mod facts;
pub mod flags;
pub mod movement;
pub mod order;
pub mod sale;
pub mod session;
pub mod transfer;

use tillkeep_model::state::MayFollow;
use uuid::Uuid;

pub use facts::{Facts, Named, Session};

use crate::document::movement::{Movement, Position};
use crate::rows::Row;

/// A type of which stores push rows.
pub trait Pushed: Send + Sync {
    /// Its place in a push request: parents first.
    fn order(&self) -> u8;

    /// The columns that the sender may write. Nothing at all: the envelope is left aside.
    fn owned(&self, context: WriteContext<'_>) -> &'static [&'static str];

    /// What becomes of a row beyond its limits.
    fn beyond(&self) -> Beyond;

    /// What becomes of a new row whose id another store has used.
    fn used_id(&self) -> UsedId;

    /// Which way its states may go, where it has some.
    fn states(&self) -> Option<MayFollow>;

    /// Written by more than one server: a status that may not follow is left alone, and the rest is taken all the same.
    fn is_co_written(&self) -> bool;

    /// The state that an envelope with this action reports.
    fn sent_status(&self, action: &str, row: &dyn Row) -> Option<String>;

    /// The state of `row`, merged but for it, when HQ had `context.status` and the envelope reports `sent`; `None` leaves
    /// it as it is.
    fn next_status(&self, context: WriteContext<'_>, sent: Option<&str>, row: &mut dyn Row) -> Option<String>;

    /// The row that must be at HQ before this one.
    fn parent(&self) -> Option<Parent>;

    /// Whether its store may delete the row that HQ has, or one that HQ does not have.
    fn may_be_deleted(&self, existing: Option<&dyn Row>) -> bool;

    /// JSON lists that only grow: their elements are known by `receiptId`.
    fn append_only_lists(&self) -> &'static [&'static str];

    /// The number that its store gives it.
    fn number(&self) -> Option<&'static Numbering>;

    /// Columns with numbers as they were printed on paper.
    fn printed(&self) -> &'static [&'static str];

    /// Columns that say when it happened.
    fn times(&self) -> &'static [&'static str];

    /// Fills in what HQ itself says of a row that is new there.
    fn complete(&self, row: &mut dyn Row, maker: &Maker<'_>);

    /// The stock that the stored document moves; its store made it at `position`.
    fn movements(&self, document: &Whole<'_>, position: Option<Position>) -> Vec<Movement>;

    /// What the stored document has put on the account of its customer.
    fn charged(&self, document: &Whole<'_>) -> i128;

    /// The flags of what does not add up in it.
    fn checks(&self, document: &Whole<'_>) -> Vec<&'static str>;

    /// The rows that it names and that HQ looks up for [`Pushed::flags`].
    fn named(&self, document: &Whole<'_>) -> Named;

    /// The flags of what it names and HQ does not have, or has otherwise.
    fn flags(&self, document: &Whole<'_>, facts: &Facts) -> Vec<&'static str>;

    /// The documents that may come before it and wait for it.
    fn awaited(&self) -> Option<Awaited>;

    /// How a store that lost its database gets its own rows back; `None` for what it gets by pulling.
    fn restored(&self) -> Option<Restored>;

    /// What the export of a month says of it; `None` for what is not exported.
    fn exported(&self) -> Option<Exported>;

    /// What people do to it at a store, as the audit log there must say.
    fn acts(&self) -> &'static [Act];
}

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

/// A column in which documents name another one of their store, which may be kept under another id than it has there.
#[derive(Clone, Copy, Debug)]
pub struct Naming {
    pub table: &'static str,
    pub column: &'static str,
    /// The table of what it names.
    pub names: &'static str,
    /// Its rows of the store `$1`.
    pub of_store: &'static str,
}

pub const NAMINGS: &[Naming] = &[
    Naming { table: sale::TYPE, column: "register_session_id", names: session::TYPE, of_store: "store_id = $1" },
    Naming { table: sale::TYPE, column: "original_sale_id", names: sale::TYPE, of_store: "store_id = $1" },
    Naming {
        table: "sale_items",
        column: "original_sale_item_id",
        names: "sale_items",
        of_store: "sale_id IN (SELECT id FROM sales WHERE store_id = $1)",
    },
];

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
    /// Column of the store whose number it is.
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

/// Documents that may come before a row that they name.
#[derive(Clone, Copy, Debug)]
pub struct Awaited {
    pub by: &'static str,
    /// Their column that names the row.
    pub column: &'static str,
    /// The flag that they lose when it comes.
    pub flag: &'static str,
    /// The row has an account, and what the stored sales put on it is summed up when it comes.
    pub sales_charge_it: bool,
}

/// How a store gets its own rows of a type back.
#[derive(Clone, Copy, Debug)]
pub struct Restored {
    /// Place among the types that it gets back.
    pub place: u8,
    /// The rows name registers, which their store alone knows and needs again.
    pub registers: bool,
}

/// What is summed up in the export of a month.
#[derive(Clone, Copy, Debug)]
pub struct Exported {
    /// Place among the types that are exported.
    pub place: u8,
    pub amounts: &'static [&'static str],
    pub quantities: &'static [&'static str],
}

/// An act of a person at a store.
#[derive(Clone, Copy, Debug)]
pub struct Act {
    pub when: When,
    /// The word of it in the audit log.
    pub action: &'static str,
}

/// Which rows an act was done to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    Created,
    Closed,
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
