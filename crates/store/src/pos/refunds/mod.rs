//! Money that is given back: of a sale that was made here or elsewhere in the chain, or without a receipt. `docs/domain.md`,
//! "Refunds".
//!
//! The sale is looked up ([`original`]), what of it may still come back is shown ([`refundable`]); a refund ([`linked`], or
//! [`unlinked`]) makes rows of the stored lines ([`lines`], [`document`]), is settled ([`payments`]), judged ([`needs`]) and booked
//! ([`booking`]). With a sale it is one half of an exchange ([`exchange`]). Claims that nothing came of are given up ([`forsaken`]).

pub(crate) mod booking;
pub(crate) mod document;
pub(crate) mod exchange;
mod exchanged;
pub(crate) mod forsaken;
mod hash;
pub(crate) mod lines;
pub(crate) mod linked;
pub(crate) mod needs;
pub(crate) mod original;
pub(crate) mod payments;
pub(crate) mod refundable;
mod replay;
pub(crate) mod shown;
pub(crate) mod typed;
pub(crate) mod unlinked;

use tillkeep_model::ErrorCode;

use crate::state::Routes;

pub(super) fn routes(routes: Routes) -> Routes {
    use ErrorCode::{
        ApprovalRequired, DocumentTooLarge, HqUnreachable, IdReused, NotRefundable, NotReturnable, OverRefund,
        ProductInactive, RefundAmountMismatch, RefundWindowPassed, SaleNotFound, SaleVoided, SessionClosed,
        SessionTooOld, StoreNotReady, TenderNotRefundable, TenderRule, UnlinkedRefundDisabled, WrongTerminal,
    };
    routes
        .get("/pos/sales/{id}/refundable", refundable::refundable)
        .about("What of a sale may still be given back, by line and by tender.")
        .fails(&[SaleNotFound, SaleVoided, NotRefundable, HqUnreachable, StoreNotReady])
        .post("/pos/sales/{id}/refunds", linked::create)
        .about("Give money back for lines of a sale.")
        .fails(&[
            SaleNotFound,
            SaleVoided,
            NotRefundable,
            OverRefund,
            RefundWindowPassed,
            NotReturnable,
            TenderNotRefundable,
            TenderRule,
            RefundAmountMismatch,
            ApprovalRequired,
            HqUnreachable,
            SessionClosed,
            SessionTooOld,
            IdReused,
            DocumentTooLarge,
            StoreNotReady,
            WrongTerminal,
        ])
        .post("/pos/refunds", unlinked::create)
        .about("Give money back without a receipt, where the store allows it.")
        .fails(&[
            UnlinkedRefundDisabled,
            ApprovalRequired,
            NotReturnable,
            ProductInactive,
            TenderNotRefundable,
            TenderRule,
            RefundAmountMismatch,
            SessionClosed,
            SessionTooOld,
            IdReused,
            DocumentTooLarge,
            StoreNotReady,
            WrongTerminal,
        ])
}

/// The route of exchanges, which may be refused as a refund and as a sale.
pub(super) fn exchanging(routes: Routes) -> Routes {
    use ErrorCode::{
        ApprovalRequired, BadCheckDigit, Conflict, CreditLimitExceeded, DiscountLimitExceeded, DocumentTooLarge,
        HqUnreachable, IdReused, InsufficientStock, NoExchangeTender, NotRefundable, NotReturnable, OverRefund,
        ProductInactive, RefundAmountMismatch, RefundWindowPassed, SaleNotFound, SaleVoided, SessionClosed,
        SessionTooOld, StoreNotReady, TenderNotRefundable, TenderRule, TotalMismatch, Underpaid, WrongTerminal,
    };
    routes
        .post("/pos/exchanges", exchange::create)
        .about("Give goods back and sell others, with one difference.")
        .fails(&[
            ApprovalRequired,
            BadCheckDigit,
            Conflict,
            CreditLimitExceeded,
            DiscountLimitExceeded,
            DocumentTooLarge,
            HqUnreachable,
            IdReused,
            InsufficientStock,
            NoExchangeTender,
            NotRefundable,
            NotReturnable,
            OverRefund,
            ProductInactive,
            RefundAmountMismatch,
            RefundWindowPassed,
            SaleNotFound,
            SaleVoided,
            SessionClosed,
            SessionTooOld,
            StoreNotReady,
            TenderNotRefundable,
            TenderRule,
            TotalMismatch,
            Underpaid,
            WrongTerminal,
        ])
}
