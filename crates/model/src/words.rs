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
    }
}
