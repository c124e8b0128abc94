//! What a till asks of its store server. Everything is answered from the store's own database: no line is needed.
//!
//! A cart ([`cart`]) is priced ([`pricing`]) with what the replica knows ([`catalog`]), shown ([`quote`]) or booked
//! ([`sale`]) as one document ([`sale_document`]), or put aside ([`parked`]). What a customer owes is paid by one as well ([`settlement`]), and one of the
//! open drawer is undone ([`void`]).

pub(crate) mod account;
pub(crate) mod bootstrap;
pub(crate) mod cart;
mod cart_hash;
pub(crate) mod catalog;
mod discounts;
pub(crate) mod draft;
pub(crate) mod events;
mod grant;
pub(crate) mod keeping;
pub(crate) mod label;
pub(crate) mod lookup;
pub(crate) mod opened;
mod parked;
mod pictures;
pub(crate) mod pricing;
pub(crate) mod printed;
pub(crate) mod products;
pub(crate) mod quote;
mod refunds;
mod removed;
pub(crate) mod replay;
pub(crate) mod sale;
pub(crate) mod sale_document;
pub(crate) mod sales;
mod scanned;
mod settlement;
pub(crate) mod sold;
pub(crate) mod tenders;
#[cfg(test)]
mod tests;
mod typed;
pub(crate) mod void;

pub(crate) use crate::reasons;
use crate::state::Routes;
use tillkeep_model::ErrorCode;

/// The routes of a till; all of them work without a line.
pub(crate) fn routes(routes: Routes) -> Routes {
    routes
        .with(looking_up)
        .with(approving)
        .with(selling)
        .with(parked::routes)
        .with(undoing)
        .with(refunds::routes)
        .with(refunds::exchanging)
}

fn looking_up(routes: Routes) -> Routes {
    use ErrorCode::{BadCheckDigit, ProductInactive, ProductNotFound, RegisterUnknown, StoreNotReady};
    routes
        .get("/pos/bootstrap", bootstrap::bootstrap)
        .about("What a till must know before it can sell.")
        .fails(&[RegisterUnknown, StoreNotReady])
        .get("/pos/products", products::list)
        .about("List what can be sold, with prices and levels here.")
        .get("/pos/catalogue", keeping::catalogue)
        .about("What a till keeps of the products to scan while this server is away: all of them, or what changed.")
        .get("/pos/pictures/{hash}", pictures::picture)
        .about("The picture of a product, fetched from headquarters when a till asks for it first.")
        .get("/pos/events", events::events)
        .about("How drawers, printers, parked carts and the line are, then what changes, as server-sent events.")
        .get("/pos/lookup/{code}", lookup::lookup)
        .about("The product that a scanned or typed code means.")
        .fails(&[ProductNotFound, ProductInactive, BadCheckDigit, StoreNotReady])
}

fn approving(routes: Routes) -> Routes {
    use ErrorCode::{
        ApproverLacksPermission, Conflict, PinLocked, StoreNotReady, TooManyRequests, WrongPin, WrongTerminal,
    };
    routes
        .post("/pos/approvals", grant::grant)
        .about("A second person says yes with a PIN: a token for one action at this terminal.")
        .fails(&[WrongPin, PinLocked, TooManyRequests, ApproverLacksPermission, Conflict, StoreNotReady, WrongTerminal])
}

fn selling(routes: Routes) -> Routes {
    use ErrorCode::{
        ApprovalRequired, BadCheckDigit, Conflict, CreditLimitExceeded, DiscountLimitExceeded, DocumentTooLarge,
        HqUnreachable, IdReused, InsufficientStock, NotOwed, ProductInactive, SaleNotFound, SessionClosed,
        SessionTooOld, StoreNotReady, TenderRule, TotalMismatch, Underpaid, WrongTerminal,
    };
    routes
        .post("/pos/quote", quote::quote)
        .about("What a cart costs, without selling it.")
        .fails(&[BadCheckDigit, ProductInactive, TenderRule, Underpaid, StoreNotReady, WrongTerminal])
        .post("/pos/discounts/validate", discounts::validate)
        .about("What a cart takes off, beside what may be taken off without asking.")
        .fails(&[BadCheckDigit, ProductInactive, StoreNotReady])
        .post("/pos/sales", sold::create)
        .about("Sell a cart, or take what a customer pays of what is owed.")
        .fails(&[
            DocumentTooLarge,
            BadCheckDigit,
            ApprovalRequired,
            Conflict,
            DiscountLimitExceeded,
            CreditLimitExceeded,
            ProductInactive,
            TenderRule,
            Underpaid,
            TotalMismatch,
            SessionClosed,
            SessionTooOld,
            InsufficientStock,
            NotOwed,
            IdReused,
            StoreNotReady,
            WrongTerminal,
        ])
        .get("/pos/sales", sales::list)
        .about("List sales; without reports.view_local those of the own open drawers.")
        .get("/pos/sales/{id}", sales::get)
        .about("One sale with its lines, its payments and its refunds.")
        .fails(&[SaleNotFound])
        .get("/pos/sales/by-receipt/{receiptNumber}", sales::by_receipt)
        .about("The sale with a receipt number, of another store as headquarters has it.")
        .fails(&[SaleNotFound, HqUnreachable])
}

fn undoing(routes: Routes) -> Routes {
    use ErrorCode::{
        AlreadyVoided, ApprovalRequired, DocumentTooLarge, HasRefunds, NotRefundable, PartOfExchange, SaleNotFound,
        SaleVoided, SessionClosed, StoreNotReady, TenderNotVoidable, WrongTerminal,
    };
    routes.post("/pos/sales/{id}/void", void::void).about("Undo a sale in the drawer that made it.").fails(&[
        AlreadyVoided,
        ApprovalRequired,
        DocumentTooLarge,
        HasRefunds,
        NotRefundable,
        PartOfExchange,
        SaleNotFound,
        SaleVoided,
        SessionClosed,
        StoreNotReady,
        TenderNotVoidable,
        WrongTerminal,
    ])
}
