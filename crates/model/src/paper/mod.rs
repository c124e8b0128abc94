//! The papers of a sale and of a drawer: what stands on them, and their text and page in the words of the store.
//!
//! A [`Receipt`] has amounts and names and no layout. [`blocks`] says what stands on the paper, from top to bottom, in words;
//! [`text`], [`html`] and a printer write the same blocks, each in its way.

mod amounts;
mod barcode;
mod blocks;
mod html;
mod receipt;
pub mod report;
mod text;
mod width;
mod words;

pub use blocks::{Block, Weight, blocks};
pub use html::{html, style};
pub use receipt::{
    Approved, Buyer, Line, Other, Price, Receipt, Reference, Saving, Shop, Signature, Tax, Tender, Totals, Voided,
};
pub use report::{MovementSlip, ReportBody, ReportPaper, ZzPaper};
pub use text::{lines, text};
pub use width::width;
pub use words::{approved, discount, is_english, special};
