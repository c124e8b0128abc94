//! What the journal of a day books, and on which accounts. Every chain has its own chart; what it says nothing of stands on an
//! account of the usual one. `docs/integrate.md`, "Accounting".

use serde::{Deserialize, Serialize};

/// Declares what is booked: its word, the account that it stands on when nothing is said, and what that is usually called.
macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident = $word:literal, $account:literal, $name:literal;)+) => {
        /// What a line of the journal is of, in the order in which they stand in an entry.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum AccountKind { $($(#[$doc])* $kind),+ }

        impl AccountKind {
            pub const ALL: &'static [Self] = &[$(Self::$kind),+];

            /// As it is written in the journal and in the chart.
            #[must_use]
            pub const fn word(self) -> &'static str {
                match self { $(Self::$kind => $word),+ }
            }

            /// The account when the chart says nothing of it.
            #[must_use]
            pub const fn usual(self) -> &'static str {
                match self { $(Self::$kind => $account),+ }
            }

            /// What that account is called.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$kind => $name),+ }
            }
        }
    };
}

kinds! {
    /// In cash, in drawers. By tender; without a code what moves between drawers, safe and others.
    Cash = "cash", "1000", "Cash in drawers";
    Safe = "safe", "1010", "Cash in the safe";
    /// Out of the safe, on the way to a bank.
    Deposit = "deposit", "1020", "Cash on the way to the bank";
    Card = "card", "1100", "Card payments receivable";
    Check = "check", "1110", "Checks received";
    Voucher = "voucher", "1120", "Vouchers receivable";
    Other = "other", "1190", "Other payments receivable";
    OnAccount = "on_account", "1200", "Customers' accounts";
    /// A refund against a new sale: nothing is left on it.
    Exchange = "exchange", "1290", "Exchanges";
    GiftCard = "gift_card", "2100", "Gift cards";
    StoreCredit = "store_credit", "2110", "Store credits";
    /// By rate.
    Tax = "tax", "2200", "Tax payable";
    /// What was sold, by the rates on it.
    Revenue = "revenue", "4000", "Sales";
    /// What was given back, by the rates on it.
    Returns = "returns", "4100", "Sales returned";
    /// Into a drawer, by reason.
    PaidIn = "paid_in", "4900", "Other receipts of drawers";
    /// Out of a drawer, by reason.
    PaidOut = "paid_out", "6900", "Expenses paid from drawers";
    CashRounding = "cash_rounding", "6910", "Cash rounding";
    /// What was counted in drawers beside what there should have been.
    CashVariance = "cash_variance", "6920", "Cash over and short";
    SafeCorrection = "safe_correction", "6930", "Corrections of the safe";
    /// What documents were paid beside what they came to: theirs are flagged.
    Difference = "difference", "9999", "To be cleared";
}

impl AccountKind {
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| kind.word() == word)
    }

    /// Where the payments of a tender stand: kinds of tenders are called as they are there. One of a newer program is `other`.
    #[must_use]
    pub fn of_tender(tender_kind: &str) -> Self {
        crate::pricing::TenderKind::parse(tender_kind).and_then(|kind| Self::parse(kind.word())).unwrap_or(Self::Other)
    }

    /// Whether accounts may be said by code: of rates, tenders or reasons.
    #[must_use]
    pub const fn has_codes(self) -> bool {
        !matches!(
            self,
            Self::Safe
                | Self::Deposit
                | Self::CashRounding
                | Self::CashVariance
                | Self::SafeCorrection
                | Self::Difference
        )
    }
}

/// An account that a chain has said.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Account {
    pub kind: String,
    /// Of this rate, tender or reason alone.
    #[serde(default)]
    pub code: Option<String>,
    pub account: String,
}

/// The accounts of a chain.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Chart {
    /// 0 before somebody has said one.
    pub version: i64,
    /// By kind and code, each once.
    pub accounts: Vec<Account>,
}

impl Chart {
    /// Where something stands: as its code says, else its kind, else as usual.
    #[must_use]
    pub fn account(&self, kind: AccountKind, code: Option<&str>) -> &str {
        let said = |code: Option<&str>| {
            let of = |account: &&Account| account.kind == kind.word() && account.code.as_deref() == code;
            self.accounts.iter().find(of).map(|account| account.account.as_str())
        };
        code.and_then(|code| said(Some(code))).or_else(|| said(None)).unwrap_or(kind.usual())
    }

    /// Says an account, or with `None` takes back what was said.
    pub fn say(&mut self, kind: AccountKind, code: Option<&str>, account: Option<&str>) {
        self.accounts.retain(|said| said.kind != kind.word() || said.code.as_deref() != code);
        self.accounts.extend(account.map(|account| Account {
            kind: kind.word().to_owned(),
            code: code.map(str::to_owned),
            account: account.to_owned(),
        }));
        self.accounts.sort_by(|one, other| (&one.kind, &one.code).cmp(&(&other.kind, &other.code)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pricing::TenderKind;

    #[test]
    fn an_account_is_the_one_of_the_code_else_of_the_kind_else_the_usual_one() {
        let mut chart = Chart::default();
        assert_eq!(chart.account(AccountKind::Revenue, Some("VAT19")), "4000");
        chart.say(AccountKind::Revenue, None, Some("8000"));
        chart.say(AccountKind::Revenue, Some("VAT19"), Some("8400"));
        chart.say(AccountKind::Revenue, Some("VAT19"), Some("8401"));
        assert_eq!(chart.account(AccountKind::Revenue, Some("VAT19")), "8401");
        assert_eq!(chart.account(AccountKind::Revenue, Some("VAT7")), "8000");
        assert_eq!(chart.account(AccountKind::Revenue, None), "8000");
        assert_eq!(chart.account(AccountKind::Returns, Some("VAT19")), "4100");
        chart.say(AccountKind::Revenue, Some("VAT19"), None);
        assert_eq!(chart.account(AccountKind::Revenue, Some("VAT19")), "8000");
        assert_eq!(chart.accounts.len(), 1);
    }

    #[test]
    fn every_kind_of_tender_has_an_account_of_its_own_name() {
        for word in TenderKind::WORDS {
            assert_eq!(AccountKind::of_tender(word).word(), *word);
        }
        assert_eq!(AccountKind::of_tender("seashells"), AccountKind::Other);
    }

    #[test]
    fn no_two_kinds_have_one_word_or_one_usual_account() {
        for (place, kind) in AccountKind::ALL.iter().enumerate() {
            assert_eq!(AccountKind::parse(kind.word()), Some(*kind));
            let mut others = AccountKind::ALL.iter().skip(place + 1);
            assert!(others.all(|other| other.usual() != kind.usual()), "{}", kind.word());
        }
    }
}
