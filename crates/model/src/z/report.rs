//! The figures of one drawer. An X has them of an open one, a Z those of its close, a ZZ the sums of several.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::pricing::TenderKind;
use crate::{Instant, JsonText, Money, Ppm, Qty};

/// Declares types of which each field is always written and may be absent when read: rows of earlier releases have fewer.
macro_rules! figures {
    ($($(#[$about:meta])* $name:ident as $schema:ident {
        $($(#[$doc:meta])* $field:ident: $type:ty $(= $default:literal)?,)+
    })+) => {$(
        $(#[$about])*
        #[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
        #[serde(rename_all = "camelCase")]
        #[schema(as = $schema)]
        pub struct $name {
            $($(#[$doc])* #[serde(default $(= $default)?)] #[schema(required)] pub $field: $type,)+
        }
    )+};
}
pub(super) use figures;

figures! {
    /// Payments on accounts: how many, and how much is not owed any more.
    Settlements as ZSettlements {
        count: i64,
        amount: Money,
    }

    /// What was paid with one tender. Change is taken off: it is what counted towards documents, not what was handed over.
    TenderTotal as ZTender {
        tender_id: Option<Uuid>,
        tender_code: String,
        tender_kind: String,
        /// Payments of documents that are not voided.
        count: i64,
        /// `salesAmount + refundsAmount`.
        amount: Money,
        /// Of sales and payments on accounts.
        sales_amount: Money,
        /// Of refunds, below zero.
        refunds_amount: Money,
    }

    /// One rate of tax. Amounts of refunds are taken off.
    TaxTotal as ZTax {
        tax_rate_id: Uuid,
        code: String,
        name: String,
        rate_ppm: Ppm,
        base_amount: Money,
        tax_amount: Money,
    }

    /// Whose drawer it is, and when.
    Header as ZHeader {
        session_id: Option<Uuid>,
        session_number: Option<i32>,
        register_code: String,
        business_date: String,
        opened_by: Option<Uuid>,
        opened_by_name: String,
        opened_at: Option<Instant>,
        /// Null of an open one.
        closed_by: Option<Uuid>,
        closed_by_name: String,
        closed_at: Option<Instant>,
        /// Who was given the drawer after it was opened, oldest first.
        owners: Vec<Owner>,
        /// Closed without a count.
        forced: bool,
    }

    /// Who was given the drawer, by whom and when.
    Owner as ZOwner {
        user_id: Uuid,
        name: String,
        by_user_id: Uuid,
        at: Option<Instant>,
    }

    /// How sales came to their net amount. The first four are of sales alone: a refund has them in its sale.
    Amounts as ZAmounts {
        /// Unit price and quantity of all lines sold, before anything is taken off.
        list_sales: Money,
        special_discount: Money,
        line_discount: Money,
        cart_discount: Money,
        /// Net amounts of sales.
        net_sales: Money,
        /// Net amounts of refunds, below zero.
        net_refunds: Money,
    }

    /// What was sold of one department, less what was given back.
    Department as ZDepartment {
        /// Null for lines of a product without one.
        department_id: Option<Uuid>,
        name: String,
        quantity: Qty,
        net_amount: Money,
    }

    /// What there should be in the drawer, and what there was.
    Cash as ZCash {
        opening_float: Money,
        /// Payments in cash, less what was paid back.
        payments: Money,
        /// Sums of movements, each above zero.
        paid_in: Money,
        float_add: Money,
        paid_out: Money,
        drop: Money,
        /// `openingFloat + payments + paidIn + floatAdd - paidOut - drop`.
        expected: Money,
        /// Null before a count and after a close by force: unknown is not nothing.
        counted: Option<Money>,
        /// `counted - expected`.
        variance: Option<Money>,
        denominations: Vec<Denomination>,
    }

    /// Coins or notes of one value.
    Denomination as ZDenomination {
        value: Money,
        count: i64,
    }

    /// Some of them, and what they come to.
    Counted as ZCounted {
        count: i64,
        amount: Money,
    }

    /// What a manager looks at.
    Controls as ZControls {
        /// Lines with a price that a person set, and how much less than their own price they cost.
        price_overrides: Counted,
        /// Discounts that a person gave.
        manual_discounts: Counted,
        /// How often the drawer was opened without a document.
        no_sale_count: i64,
        parked_abandoned: i64,
        /// Carts that were still parked at the close.
        parked_open: i64,
        /// Approvals of a second person.
        approvals: i64,
        removed: Removed,
        /// More was paid out or dropped than there should have been in the drawer.
        paid_out_beyond_cash: bool,
    }

    /// Lines that were taken off a cart before it was paid.
    Removed as ZRemoved {
        count: i64,
        amount: Money,
        by_cashier: Vec<RemovedBy>,
    }

    RemovedBy as ZRemovedBy {
        user_id: Uuid,
        name: String,
        count: i64,
        amount: Money,
    }

    /// Numbers of receipts of one series that lie together.
    Receipts as ZReceipts {
        /// Register and letter: `02`, `02A`.
        series: String,
        first: i64,
        last: i64,
        /// Documents, voided ones too: `last - first + 1` without `lost`.
        count: i64,
        /// Numbers between them that went with a database which was restored.
        lost: Vec<LostNumbers>,
    }

    /// Both are lost too.
    LostNumbers as ZLostNumbers {
        from: i64,
        to: i64,
    }

    /// What a register took in all its life, to the drawer before and to this one.
    RunningTotal as ZRunningTotal {
        before: Money,
        /// `before + totalAmount`.
        after: Money,
    }

    /// The last entry of the register's chain of documents.
    ChainHead as ZChainHead {
        chain_id: Uuid,
        number: i64,
        hash: String,
        /// As the chain counts it, from its own beginning.
        running_total: Money,
    }

    /// The figures of one drawer. Those of a voided document are in none but `voidCount`, `voidAmount` and `receipts`. Amounts are
    /// minor units; those of refunds are below zero.
    ZReport as ZReport {
        /// 2; 1 (or none) has the fields from `saleCount` to `lastReceiptNumber` and nothing else.
        version: i32 = "first_version",
        sale_count: i64,
        refund_count: i64,
        void_count: i64,
        settlements: Settlements,
        net_amount: Money,
        tax_amount: Money,
        /// `netAmount + taxAmount`.
        total_amount: Money,
        /// What payments in cash came to more than their documents.
        cash_rounding: Money,
        opening_float: Money,
        expected_cash: Money,
        /// Together `totalAmount + cashRounding`.
        tenders: Vec<TenderTotal>,
        /// Together `taxAmount`.
        taxes: Vec<TaxTotal>,
        first_receipt_number: Option<String>,
        last_receipt_number: Option<String>,
        header: Header,
        /// Quantities sold less those given back: together those of `departments`.
        item_count: Qty,
        /// What voided documents came to.
        void_amount: Money,
        amounts: Amounts,
        /// Together `netAmount`.
        departments: Vec<Department>,
        cash: Cash,
        controls: Controls,
        receipts: Vec<Receipts>,
        running_total: RunningTotal,
        /// Null where no document is chained.
        chain: Option<ChainHead>,
        /// What is to be looked at, such as `does_not_add_up`.
        flags: Vec<String>,
    }
}

const fn first_version() -> i32 {
    1
}

/// What a session keeps beside its totals; rows of earlier releases have it there alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stored {
    /// To this close.
    pub running_total: Option<Money>,
    pub counted_cash: Option<Money>,
    pub cash_variance: Option<Money>,
}

impl ZReport {
    /// As it is written now.
    pub const VERSION: i32 = 2;

    /// The flag of a report that breaks an identity. Its drawer is closed all the same.
    pub const DOES_NOT_ADD_UP: &str = "does_not_add_up";

    /// What a close stored, of any release. Of the first version the figures of cash and the running total follow from what
    /// there is; the header is the caller's.
    ///
    /// # Errors
    /// When a field has another type than it ever had.
    pub fn read(totals: &JsonText, stored: Stored) -> Result<Self, serde_json::Error> {
        let mut report = Self::deserialize(&totals.0)?;
        if report.version < Self::VERSION {
            report.fill(stored);
        }
        Ok(report)
    }

    /// Before there were movements, what was expected is the float and the payments.
    fn fill(&mut self, stored: Stored) {
        self.cash = Cash {
            opening_float: self.opening_float,
            payments: self.paid_in_cash(),
            expected: self.expected_cash,
            counted: stored.counted_cash,
            variance: stored.cash_variance,
            ..Cash::default()
        };
        if let Some(after) = stored.running_total {
            let before = Money::from_wide(i128::from(after.0) - i128::from(self.total_amount.0));
            self.running_total = RunningTotal { before, after };
        }
    }

    /// What the tenders say was paid in cash.
    #[must_use]
    pub fn paid_in_cash(&self) -> Money {
        let cash = self.tenders.iter().filter(|tender| tender.tender_kind == TenderKind::Cash);
        Money::from_wide(cash.map(|tender| i128::from(tender.amount.0)).sum())
    }
}
