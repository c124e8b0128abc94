//! The papers of a sale, refund or payment on an account: [`of_sale`] makes one of [`rows`] that are stored, [`show`] answers it as
//! JSON, text, a page or the bytes of a printer. Showing one changes and counts nothing. [`prints`] are those that come out, and
//! [`worker`] is who sends them to printers.

mod buyer;
mod device;
mod escpos;
mod form;
mod letters;
mod of_sale;
mod prints;
pub(crate) mod report;
mod rounded;
mod rows;
mod shop;
mod show;
mod taxes;
pub(crate) mod worker;

pub(crate) use form::{Form, Paper};
pub(crate) use prints::PrintJob;

use tillkeep_model::ErrorCode;

use crate::state::Routes;

/// The routes of papers.
pub(crate) fn routes(routes: Routes) -> Routes {
    use ErrorCode::{IdReused, PrinterUnknown, SaleNotFound, StoreNotReady, WrongTerminal};
    routes
        .get("/pos/sales/{id}/receipt", show::show)
        .about("A paper of a sale: the receipt, a copy, a gift receipt or an invoice; as JSON, text, page or for a printer.")
        .fails(&[SaleNotFound, StoreNotReady])
        .post("/pos/sales/{id}/buyer", buyer::name)
        .about("Whom the invoice of a sale names, where that is no customer of the chain.")
        .fails(&[SaleNotFound])
        .post("/pos/sales/{id}/prints", prints::ask)
        .about("Print a paper of a sale; each but the first is marked as a copy and counted.")
        .fails(&[SaleNotFound, IdReused, PrinterUnknown, StoreNotReady, WrongTerminal])
        .get("/pos/prints", prints::list)
        .about("List papers and how far they are; those of the own till unless another one is named.")
        .post("/pos/prints/{id}/again", prints::again)
        .about("Print again as a copy what came out, or may have; what waits is tried now.")
        .fails(&[PrinterUnknown])
}
