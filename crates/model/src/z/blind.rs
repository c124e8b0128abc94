//! What is said of a drawer to somebody who may not know what should be in it.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use super::report::{Header, Receipts, TenderTotal, ZReport, figures};
use crate::{Instant, Money, Qty};

figures! {
    /// How much was sold of one department by whoever asks, less what was given back.
    BlindDepartment as XBlindDepartment {
        department_id: Option<Uuid>,
        name: String,
        quantity: Qty,
    }

    /// How often a tender was taken or given back.
    BlindTender as XBlindTender {
        tender_id: Option<Uuid>,
        tender_code: String,
        tender_kind: String,
        count: i64,
    }

    /// The last entry of the register's chain of documents, without its running total.
    BlindChain as XBlindChain {
        chain_id: Uuid,
        number: i64,
        hash: String,
    }

    /// A movement that whoever asks has entered.
    OwnMovement as XOwnMovement {
        id: Uuid,
        /// `paid_in`, `paid_out`, `drop`, `float_add` or `no_sale`.
        r#type: String,
        amount: Money,
        reason: String,
        at: Option<Instant>,
    }

    /// What a manager looks at, without amounts.
    BlindControls as XBlindControls {
        price_overrides: i64,
        manual_discounts: i64,
        no_sale_count: i64,
        parked_abandoned: i64,
        parked_open: i64,
        approvals: i64,
        removed: i64,
    }

    /// An X without everything that says how much cash there should be.
    XReport as BlindXReport {
        version: i32,
        /// Always true: an X that says all is a `ZReport`.
        blind: bool,
        header: Header,
        sale_count: i64,
        refund_count: i64,
        void_count: i64,
        settlement_count: i64,
        /// What the drawer was opened with.
        opening_float: Money,
        /// What was sold by whoever asks.
        departments: Vec<BlindDepartment>,
        tenders: Vec<BlindTender>,
        movements: Vec<OwnMovement>,
        controls: BlindControls,
        receipts: Vec<Receipts>,
        chain: Option<BlindChain>,
    }
}

/// What whoever asks has done in this drawer: the caller reads it by that user.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Own {
    pub departments: Vec<BlindDepartment>,
    pub movements: Vec<OwnMovement>,
}

/// `report` as somebody sees it who may not know what there should be in the drawer. Expected cash is the float, the payments in
/// cash and the movements; the float is known to whoever opened the drawer, so that no other part may be left, nor anything of which
/// one is the sum or the difference. Field by field:
///
/// - `netAmount`, `taxAmount`, `totalAmount`, `cashRounding`, `taxes`, `amounts`: on a day of cash alone they are its sum; on any
///   other one they are with the amounts on the slips of the card terminal.
/// - `tenders`: counts, no amounts. That of cash is a part, and those of the others are what the total is more than it.
/// - `departments`: quantities of whoever asks, no amounts. Net amounts of a department that has no tax, or one rate of it, are
///   the sum of what was paid for it, and of cash where that was all.
/// - `itemCount`: the quantities of others, from which nothing is lost by whoever asks; left out with them.
/// - `voidAmount`, `settlements.amount`: sums of what was paid; their counts are left.
/// - `cash`, `expectedCash`: the float alone. Movements are those of whoever asks, one by one and not added up: sums and those of
///   others would be parts. Denominations and the count are the other side of the variance.
/// - `controls`: counts, no amounts, which with those of lines are what lines cost. `paidOutBeyondCash` says that there is less
///   than nothing.
/// - `receipts`, `firstReceiptNumber`: how many documents; their numbers have no amounts. The series says both.
/// - `runningTotal`: both ends of a total; that of `chain` likewise. The chain's hash is left: what is hashed has a running total,
///   but of all documents and all tenders, which lists of sales say too.
/// - `flags`: what does not add up is said of figures that are not there.
#[must_use]
pub fn blind(report: &ZReport, own: Own) -> XReport {
    let controls = &report.controls;
    XReport {
        version: report.version,
        blind: true,
        header: report.header.clone(),
        sale_count: report.sale_count,
        refund_count: report.refund_count,
        void_count: report.void_count,
        settlement_count: report.settlements.count,
        opening_float: report.opening_float,
        departments: own.departments,
        tenders: report.tenders.iter().map(BlindTender::of).collect(),
        movements: own.movements,
        controls: BlindControls {
            price_overrides: controls.price_overrides.count,
            manual_discounts: controls.manual_discounts.count,
            no_sale_count: controls.no_sale_count,
            parked_abandoned: controls.parked_abandoned,
            parked_open: controls.parked_open,
            approvals: controls.approvals,
            removed: controls.removed.count,
        },
        receipts: report.receipts.clone(),
        chain: report.chain.as_ref().map(|head| BlindChain {
            chain_id: head.chain_id,
            number: head.number,
            hash: head.hash.clone(),
        }),
    }
}

impl BlindTender {
    fn of(tender: &TenderTotal) -> Self {
        Self {
            tender_id: tender.tender_id,
            tender_code: tender.tender_code.clone(),
            tender_kind: tender.tender_kind.clone(),
            count: tender.count,
        }
    }
}
