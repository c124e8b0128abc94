//! What carts and payments come to: by worked examples, and for whatever may be in them.

mod cart;
mod payment;
mod reference;
mod refund;
mod refund_sequences;
mod vectors;
