//! What a till asks of its store server. Everything is answered from the store's own database: no line is needed.
//!
//! A cart ([`cart`]) is priced ([`pricing`]) with what the replica knows ([`catalog`]), shown ([`quote`]) or booked
//! ([`sale`]) as one document ([`document`]).

pub mod account;
pub mod bootstrap;
pub mod cart;
pub mod catalog;
pub mod document;
pub mod draft;
pub mod label;
pub mod lookup;
pub mod pricing;
pub mod products;
pub mod quote;
pub mod replay;
pub mod sale;
pub mod sales;
pub mod specials;
pub mod taxes;
pub mod tenders;
