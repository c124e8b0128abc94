//! The store that pushes.

use uuid::Uuid;

/// Who pushes.
#[derive(Clone, Debug)]
pub struct Sender {
    pub store_id: Uuid,
    pub store_code: String,
    /// A user at headquarters tries again what this store sent: its store counts no try.
    pub by_hand: Option<ByHand>,
    /// Customers that it may make in an hour; without an end when a user at headquarters tries again what it sent.
    pub new_customers: Option<u32>,
}

/// What a user at headquarters decided about an envelope that is tried again.
#[derive(Clone, Debug, Default)]
pub struct ByHand {
    /// The number that headquarters gave to what is in it.
    pub number: Option<String>,
}

impl Sender {
    pub const fn of_store(store_id: Uuid, store_code: String) -> Self {
        Self { store_id, store_code, by_hand: None, new_customers: None }
    }

    pub(crate) fn given_number(&self) -> Option<&str> {
        self.by_hand.as_ref()?.number.as_deref()
    }
}
