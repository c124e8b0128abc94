//! What a till does, and where the server dies that is asked for it.

/// One request of a till.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    Sell,
    SellForLess,
    Void,
    GiveBack,
    Exchange,
    PaidIn,
    PaidOut,
    Drop,
    FloatAdd,
    NoSale,
    Park,
    /// Goes on with the cart that was parked.
    Resume,
    /// Sells the cart that it went on with.
    SellResumed,
    /// Drops the cart that was parked.
    DropCart,
    Open,
    Count,
    /// Goes back to selling.
    Reopen,
    /// Closes a drawer with the count that it has.
    CloseCounted,
    /// Counts and closes in one.
    Close,
    Force,
    /// Hands the drawer to another user.
    Reassign,
    Deposit,
    Correct,
    /// Of the register.
    Zz,
    /// Of the whole store.
    StoreZz,
}

impl Act {
    /// Whether it makes a document or a movement under an id that is never asked for again when it is refused.
    pub const fn makes_something(self) -> bool {
        matches!(
            self,
            Self::Sell
                | Self::SellForLess
                | Self::GiveBack
                | Self::Exchange
                | Self::PaidIn
                | Self::PaidOut
                | Self::Drop
                | Self::FloatAdd
                | Self::NoSale
                | Self::Deposit
                | Self::Correct
        )
    }

    /// How many documents it makes: sales, refunds and both halves of an exchange.
    pub const fn documents(self) -> usize {
        match self {
            Self::Exchange => 2,
            Self::Sell | Self::SellForLess | Self::SellResumed | Self::GiveBack => 1,
            _ => 0,
        }
    }

    /// The places that the server comes by for it, where a day has it die.
    pub const fn places(self) -> &'static [&'static str] {
        match self {
            Self::Sell | Self::SellForLess | Self::SellResumed => &["sale.written", "sale.committed"],
            Self::Void => &["void.written", "void.committed"],
            Self::GiveBack => &["refund.claimed", "refund.written", "refund.committed"],
            Self::Exchange => &["exchange.written", "exchange.committed"],
            Self::PaidIn | Self::PaidOut | Self::Drop | Self::FloatAdd | Self::NoSale => {
                &["movement.written", "movement.committed"]
            }
            Self::Park => &["parked.written"],
            Self::Resume => &["parked.resumed"],
            Self::DropCart => &[],
            Self::Count | Self::Reopen => &["count.written"],
            Self::CloseCounted | Self::Close => &["session.closed"],
            Self::Force => &["session.forced"],
            Self::Reassign => &["reassign.written"],
            Self::Deposit | Self::Correct => &["safe.written"],
            // They have no place of their own; what they change goes to headquarters.
            Self::Open | Self::Zz | Self::StoreZz => &["outbox.enqueue"],
        }
    }
}
