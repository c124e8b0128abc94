//! The states of documents and which way they may go. A pushed envelope may jump forward, never back, except where a
//! list below has a step back. See `docs/sync.md`, rule U7.

pub use crate::words::Reported;
use crate::words::{Word, words};

/// The states of one kind of document.
pub trait Status: Word {
    /// How far along the document is, and whether this ends it.
    fn place(self) -> (u8, bool);

    /// The step back that exists, if one begins here.
    fn back(self) -> Option<Self>;
}

impl<S: Status> Reported<'_, S> {
    /// Whether a document in this state may be reported in state `to`. A state that this version does not know comes from
    /// a newer program and is let through.
    pub fn may_become(self, to: Self) -> bool {
        let (Self::Known(from), Self::Known(to)) = (self, to) else { return true };
        let ((now, ended), (then, _)) = (from.place(), to.place());
        from == to || (!ended && (then > now || from.back() == Some(to)))
    }
}

/// Whether one word for a state may follow another one, whatever the document.
pub type MayFollow = fn(from: &str, to: &str) -> bool;

/// [`Reported::may_become`] of words.
pub fn may_follow<S: Status>(from: &str, to: &str) -> bool {
    Reported::<S>::read(from).may_become(Reported::read(to))
}

macro_rules! statuses {
    ($(
        $(#[$about:meta])* $name:ident {
            $($status:ident = $word:literal at $place:literal $($ends:ident)?,)*
        } $([$from:ident back to $to:ident])?
    )*) => {$(
        words! {
            $(#[$about])*
            $name { $($status = $word,)* }
        }

        impl Status for $name {
            fn place(self) -> (u8, bool) {
                match self { $(Self::$status => ($place, statuses!(@ends $($ends)?))),* }
            }

            fn back(self) -> Option<Self> {
                $(if self == Self::$from {
                    return Some(Self::$to);
                })?
                None
            }
        }
    )*};
    (@ends ends) => { true };
    (@ends) => { false };
}

statuses! {
    /// Of a store without a line it may become known later that it voided what was given back elsewhere.
    SaleStatus {
        Completed = "completed" at 0,
        PartiallyRefunded = "partially_refunded" at 1,
        Refunded = "refunded" at 2,
        Voided = "voided" at 3 ends,
    }
    /// Moves with its sale: only the words are used.
    PaymentStatus {
        Captured = "captured" at 0,
        Voided = "voided" at 1 ends,
    }
    /// A count may be taken up again.
    SessionStatus {
        Open = "open" at 0,
        Counting = "counting" at 1,
        Closed = "closed" at 2 ends,
    } [Counting back to Open]
    TransferStatus {
        Draft = "draft" at 0,
        Submitted = "submitted" at 1,
        Approved = "approved" at 2,
        InTransit = "in_transit" at 3,
        PartiallyReceived = "partially_received" at 4,
        Received = "received" at 5 ends,
        Rejected = "rejected" at 5 ends,
        Cancelled = "cancelled" at 5 ends,
    }
    /// An order may be refused.
    OrderStatus {
        Draft = "draft" at 0,
        Submitted = "submitted" at 1,
        Approved = "approved" at 2,
        Ordered = "ordered" at 3,
        PartiallyReceived = "partially_received" at 4,
        Received = "received" at 5,
        Closed = "closed" at 6 ends,
        Cancelled = "cancelled" at 6 ends,
    } [Submitted back to Draft]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_late_create_does_not_undo_a_void() {
        assert!(may_follow::<SaleStatus>("completed", "voided"));
        assert!(!may_follow::<SaleStatus>("voided", "completed"));
        assert!(!may_follow::<SaleStatus>("refunded", "partially_refunded"));
        assert!(may_follow::<SaleStatus>("refunded", "voided"));
    }

    #[test]
    fn a_session_steps_back_only_from_counting_to_open() {
        assert!(may_follow::<SessionStatus>("counting", "open"));
        assert!(may_follow::<SessionStatus>("open", "closed"));
        assert!(!may_follow::<SessionStatus>("closed", "open"));
        assert!(!may_follow::<SessionStatus>("closed", "counting"));
    }

    #[test]
    fn transfers_and_orders_jump_forward_and_end() {
        assert!(may_follow::<TransferStatus>("draft", "in_transit"));
        assert!(!may_follow::<TransferStatus>("in_transit", "approved"));
        assert!(!may_follow::<TransferStatus>("cancelled", "received"));
        assert!(may_follow::<OrderStatus>("submitted", "draft"));
        assert!(!may_follow::<OrderStatus>("approved", "draft"));
        assert!(may_follow::<OrderStatus>("received", "closed"));
    }

    #[test]
    fn a_state_may_follow_itself_also_at_the_end() {
        assert!(may_follow::<SaleStatus>("voided", "voided"));
        assert!(!may_follow::<SaleStatus>("voided", "refunded"));
    }

    #[test]
    fn a_state_of_a_newer_program_is_let_through_both_ways() {
        assert_eq!(Reported::<OrderStatus>::read("archived"), Reported::Other("archived"));
        assert!(may_follow::<OrderStatus>("closed", "archived") && may_follow::<OrderStatus>("archived", "draft"));
    }

    #[test]
    fn every_word_is_read_as_its_own_state() {
        fn all<S: Status + std::fmt::Debug>() {
            for status in S::ALL {
                assert_eq!(Reported::read(status.word()), Reported::Known(*status));
            }
        }
        all::<SaleStatus>();
        all::<PaymentStatus>();
        all::<SessionStatus>();
        all::<TransferStatus>();
        all::<OrderStatus>();
    }
}
