//! What HQ has of the rows that documents name, looked up once for a batch.

use std::collections::{HashMap, HashSet};

use tillkeep_model::receipt::ReceiptNumber;
use uuid::Uuid;

use super::Reference;

/// The rows that a document names, as far as HQ looks at them.
#[derive(Clone, Debug, Default)]
pub struct Named {
    pub products: Vec<Uuid>,
    pub customer: Option<Uuid>,
    pub session: Option<Uuid>,
}

impl Named {
    pub(super) fn add(&mut self, names: Reference, id: Uuid) {
        match names {
            Reference::Product => self.products.push(id),
            Reference::Customer => self.customer = Some(id),
            Reference::Session => self.session = Some(id),
            Reference::Sale | Reference::SaleItem => {}
        }
    }
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
    /// What of that which documents name HQ does not have and may get, products first.
    pub(crate) fn lacks(&self, named: &[Named]) -> impl Iterator<Item = Reference> + use<> {
        let products = named.iter().flat_map(|named| &named.products).any(|id| !self.products.contains(id));
        let customers = named.iter().filter_map(|named| named.customer).any(|id| !self.customers.contains_key(&id));
        let all = [(products, Reference::Product), (customers, Reference::Customer)];
        all.into_iter().filter_map(|(is, names)| is.then_some(names))
    }

    /// Whether HQ has what a document names.
    pub(super) fn has(&self, names: Reference, id: Uuid) -> bool {
        match names {
            Reference::Product => self.products.contains(&id),
            Reference::Customer => self.customers.contains_key(&id),
            Reference::Session => self.sessions.contains_key(&id),
            // No store is notified of these.
            Reference::Sale | Reference::SaleItem => true,
        }
    }
}

/// A drawer that a document names.
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
