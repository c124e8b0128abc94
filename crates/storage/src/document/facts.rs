//! What HQ has of the rows that documents name, looked up once for a batch.

use std::collections::{HashMap, HashSet};

use tillkeep_model::receipt::ReceiptNumber;
use uuid::Uuid;

/// The rows that a document names.
#[derive(Clone, Debug, Default)]
pub struct Named {
    pub products: Vec<Uuid>,
    pub customer: Option<Uuid>,
    pub session: Option<Uuid>,
}

/// What HQ has of them.
#[derive(Default)]
pub struct Facts {
    pub products: HashSet<Uuid>,
    /// Whether the customer is deleted.
    pub customers: HashMap<Uuid, bool>,
    pub sessions: HashMap<Uuid, Session>,
}

impl Facts {
    /// The flag of a document that names a product which HQ does not have.
    pub(super) fn unknown_product(&self, named: &Named) -> Option<&'static str> {
        named.products.iter().any(|product| !self.products.contains(product)).then_some("unknown_product")
    }
}

/// A drawer that a sale names.
pub struct Session {
    pub closed: bool,
    /// The first and the last receipt of its Z report.
    pub receipts: Option<(ReceiptNumber, ReceiptNumber)>,
}

impl Session {
    /// Whether the Z report was printed without this receipt. The news of a close overtakes sales that it counts: they are
    /// in its range.
    pub(super) fn is_closed_to(&self, receipt: &str) -> bool {
        self.closed
            && ReceiptNumber::parse(receipt).is_some_and(|receipt| {
                let counts = |(first, last): &(ReceiptNumber, ReceiptNumber)| {
                    (first.order()..=last.order()).contains(&receipt.order())
                };
                !self.receipts.as_ref().is_some_and(counts)
            })
    }
}
