//! What headquarters does by itself while nobody asks.

pub(crate) mod pruning;
pub(crate) mod search_texts;
