//! Of papers: whom an invoice names, where that is no customer.

use super::{Field, label, text};

pub static BUYER: [Field; 3] = [label("name", 200).required(), text("address", 400), text("taxNumber", 50)];
