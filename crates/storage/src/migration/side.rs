//! Which side has a database.

/// Which server a database belongs to: the tables are the same, what is unique and what is versioned is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Hq,
    Store,
}
