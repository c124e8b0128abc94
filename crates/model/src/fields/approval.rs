//! A second person's approval, as it is asked for.

use super::{Field, Rule, json, label, text};

/// Tokens of approvals that come along with an act.
pub const TOKENS: Field = Field::new("approvals", Rule::Texts { most: 10, each: &TOKEN });

const TOKEN: Rule = text("token", 100).rule;

pub static REQUEST: [Field; 4] = [
    text("permission", 200),
    text("pin", 200),
    label("reason", 200),
    // The handler says what of it is missing.
    json("context", 8 << 10),
];
