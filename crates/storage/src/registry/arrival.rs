//! What else happens where rows of a type arrive. The entry of the type says it, in functions; what they call stands in rooms
//! above this one, which know the database and the memory of a server.

use std::pin::Pin;

use sea_orm::DbErr;

pub type Doing<'a, T> = Pin<Box<dyn Future<Output = Result<T, DbErr>> + Send + 'a>>;

/// Rows that arrive at a store, in the transaction that writes them.
pub trait Arriving: Send {
    /// Looks at products before they are written: each has a row of the store, and its codes, beside it.
    fn note_goods(&mut self) -> Doing<'_, ()>;
    /// Writes what lies beside products.
    fn write_goods(&mut self) -> Doing<'_, ()>;
    /// Forgets the codes of products that are gone.
    fn forget_stray_codes(&mut self) -> Doing<'_, ()>;
    /// A store counts its levels itself: they begin with nothing, whatever headquarters has.
    fn start_levels(&mut self) -> Doing<'_, ()>;
    /// What verifies people is kept when their rows come without it.
    fn keep_verifiers(&mut self) -> Doing<'_, ()>;
    /// What is kept to verify people who are not what they were goes.
    fn forget_verifiers(&mut self) -> Doing<'_, ()>;
    /// Sessions of people who left end.
    fn end_sessions(&mut self) -> Doing<'_, ()>;
    /// Balances contain what was sold on account and confirmed.
    fn settle_charges(&mut self) -> Doing<'_, ()>;
}

/// What a store may wait for.
pub trait Waiting: Sync {
    /// Sales on account that the balances of customers do not contain yet.
    fn has_open_charges(&self) -> Doing<'_, bool>;
}

/// What a server keeps in memory, and reads again when it changed.
pub trait Caches {
    /// Who may do what.
    fn forget_permissions(&self);
    /// Who is signed in.
    fn forget_people(&self);
    /// Which stores there are.
    fn forget_stores(&self);
}

pub type Step = for<'a> fn(&'a mut (dyn Arriving + 'a)) -> Doing<'a, ()>;

/// What else is due when rows of a type arrive.
#[derive(Clone, Copy)]
pub struct Arrival {
    /// Before the rows of a page are written.
    pub before: &'static [Step],
    /// As soon as they are.
    pub written: &'static [Step],
    /// When a reload has ended.
    pub reloaded: &'static [Step],
    /// At the end of each page that has rows, and of the last one of a pull.
    pub after: &'static [Step],
    /// At the end of the last one.
    pub complete: &'static [Step],
    /// A reason to pull it although nothing moved.
    pub awaited: Option<for<'a> fn(&'a (dyn Waiting + 'a)) -> Doing<'a, bool>>,
    /// What is not in memory any more, at any server that learns of a change.
    pub forgets: &'static [fn(&dyn Caches)],
}

impl Arrival {
    pub(super) const NOTHING: Self =
        Self { before: &[], written: &[], reloaded: &[], after: &[], complete: &[], awaited: None, forgets: &[] };
}
