//! What a drawer's day came to: X, Z and ZZ as values, and what must hold of them. No database and no clock.

mod blind;
mod identities;
mod report;
mod sum;
mod zz;

pub use blind::{BlindChain, BlindControls, BlindDepartment, BlindTender, Own, OwnMovement, XReport, blind};
pub use identities::{Broken, identities};
pub use report::{
    Amounts, Cash, ChainHead, Controls, Counted, Denomination, Department, Header, LostNumbers, Owner, Receipts,
    Removed, RemovedBy, RunningTotal, Settlements, Stored, TaxTotal, TenderTotal, ZReport,
};
pub use zz::{Gap, ZRow, ZzReport, ZzRow, zz};
