//! Values that are one of a few words, in rows and on the wire. A word that is none of them is of a newer program: it is kept as
//! it came.

/// A value that is written as a word.
pub trait Word: Copy + Eq + Sized + 'static {
    const ALL: &'static [Self];

    /// As it is written in rows and on the wire.
    fn word(self) -> &'static str;
}

/// A word as it was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reported<'a, W> {
    Known(W),
    /// A word of a newer program; or none at all.
    Other(&'a str),
}

impl<'a, W: Word> Reported<'a, W> {
    pub fn read(word: &'a str) -> Self {
        W::ALL.iter().find(|known| known.word() == word).map_or(Self::Other(word), |known| Self::Known(*known))
    }

    pub fn is_one_of(self, words: &[W]) -> bool {
        matches!(self, Self::Known(word) if words.contains(&word))
    }
}

/// Declares such types. They are compared with texts and written into them.
macro_rules! words {
    ($($(#[$about:meta])* $name:ident { $($(#[$doc:meta])* $value:ident = $word:literal,)+ })+) => {$(
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $name { $($(#[$doc])* $value),+ }

        impl $name {
            pub const WORDS: &'static [&'static str] = &[$($word),+];

            pub const fn word(self) -> &'static str {
                match self { $(Self::$value => $word),+ }
            }
        }

        impl $crate::words::Word for $name {
            const ALL: &'static [Self] = &[$(Self::$value),+];

            fn word(self) -> &'static str {
                self.word()
            }
        }

        impl PartialEq<$name> for &str {
            fn eq(&self, other: &$name) -> bool {
                *self == other.word()
            }
        }

        impl PartialEq<$name> for String {
            fn eq(&self, other: &$name) -> bool {
                self == other.word()
            }
        }

        impl From<$name> for String {
            fn from(value: $name) -> Self {
                value.word().to_owned()
            }
        }
    )+};
}
pub(crate) use words;

words! {
    /// What a receipt is of.
    SaleType {
        Sale = "sale",
        Refund = "refund",
        /// A customer pays what is owed: no lines, total 0.
        Settlement = "settlement",
    }
    /// What an entry of a chain of documents is of.
    ChainKind {
        Sale = "sale",
        Refund = "refund",
        Void = "void",
        Settlement = "settlement",
    }
    /// How far a signing device is with an entry.
    SignatureState {
        Waiting = "waiting",
        Signed = "signed",
        CouldNotSign = "could_not_sign",
    }
    /// How far a paper is.
    PrintState {
        Waiting = "waiting",
        /// Bytes may be at the printer.
        Printing = "printing",
        Printed = "printed",
        /// Bytes were sent, and nothing says whether a paper came out.
        Unknown = "unknown",
        Failed = "failed",
    }
    /// The papers of one sale.
    PaperKind {
        Sale = "sale",
        Copy = "copy",
        Gift = "gift",
        Invoice = "invoice",
    }
    /// Papers of no sale, as print jobs name them.
    ReportKind {
        X = "x",
        Z = "z",
        Zz = "zz",
        Movement = "movement",
        /// No paper: the drawer is opened.
        Drawer = "drawer",
    }
    /// Money that comes into a drawer or leaves it without a sale.
    CashMovementKind {
        PaidIn = "paid_in",
        PaidOut = "paid_out",
        /// To the safe.
        Drop = "drop",
        /// From the safe.
        FloatAdd = "float_add",
        /// Nothing moves: the drawer is opened.
        NoSale = "no_sale",
    }
    /// Where a parked cart is.
    ParkedState {
        Parked = "parked",
        Resumed = "resumed",
        Abandoned = "abandoned",
    }
    /// What changes a safe besides its drawers.
    SafeMovementKind {
        Deposit = "deposit",
        Correction = "correction",
    }
}
