//! The states of documents and which way they may go. A pushed envelope may jump forward, never back, except where a
//! table has the step back. See `docs/sync.md`, rule U7.

/// The documents that have states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Document {
    Sale,
    RegisterSession,
    Transfer,
    PurchaseOrder,
}

impl Document {
    /// How far along `status` is, and whether it ends the document; `None` for a status this version does not know.
    fn place(self, status: &str) -> Option<(u8, bool)> {
        Some(match (self, status) {
            (Self::Sale, "completed")
            | (Self::RegisterSession, "open")
            | (Self::Transfer | Self::PurchaseOrder, "draft") => (0, false),
            (Self::RegisterSession, "counting")
            | (Self::Sale, "partially_refunded")
            | (Self::Transfer | Self::PurchaseOrder, "submitted") => (1, false),
            (Self::Sale, "refunded" | "voided") | (Self::RegisterSession, "closed") => (2, true),
            (Self::Transfer | Self::PurchaseOrder, "approved") => (2, false),
            (Self::Transfer, "in_transit") | (Self::PurchaseOrder, "ordered") => (3, false),
            (Self::Transfer | Self::PurchaseOrder, "partially_received") => (4, false),
            (Self::Transfer, "received" | "rejected" | "cancelled") => (5, true),
            (Self::PurchaseOrder, "received") => (5, false),
            (Self::PurchaseOrder, "closed" | "cancelled") => (6, true),
            _ => return None,
        })
    }

    /// Whether a document in state `from` may be reported in state `to`. A status that this version does not know
    /// comes from a newer program and is let through.
    #[must_use]
    pub fn may_follow(self, from: &str, to: &str) -> bool {
        if from == to {
            return true;
        }
        // The steps back that exist: a count taken up again, and an order that was refused.
        let back = matches!(
            (self, from, to),
            (Self::RegisterSession, "counting", "open") | (Self::PurchaseOrder, "submitted", "draft")
        );
        match (self.place(from), self.place(to)) {
            (Some((_, true)), Some(_)) => false,
            (Some((now, false)), Some((then, _))) => then > now || back,
            _ => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_late_create_does_not_undo_a_void() {
        assert!(Document::Sale.may_follow("completed", "voided"));
        assert!(!Document::Sale.may_follow("voided", "completed"));
        assert!(!Document::Sale.may_follow("refunded", "partially_refunded"));
    }

    #[test]
    fn a_session_steps_back_only_from_counting_to_open() {
        assert!(Document::RegisterSession.may_follow("counting", "open"));
        assert!(Document::RegisterSession.may_follow("open", "closed"));
        assert!(!Document::RegisterSession.may_follow("closed", "open"));
    }

    #[test]
    fn transfers_and_orders_jump_forward_and_end() {
        assert!(Document::Transfer.may_follow("draft", "in_transit"));
        assert!(!Document::Transfer.may_follow("in_transit", "approved"));
        assert!(!Document::Transfer.may_follow("cancelled", "received"));
        assert!(Document::PurchaseOrder.may_follow("submitted", "draft"));
        assert!(Document::PurchaseOrder.may_follow("received", "closed"));
    }
}
