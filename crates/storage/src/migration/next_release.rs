//! The newer release of the tests, with the feature `next-release` alone: a column of a type that travels both ways, and
//! a type that stores pull. No release has it.

use sea_orm::sea_query::{Alias, Expr, ExprTrait, Query};

use super::step::Change;
use super::table::{Key, NewTable, On};

pub(super) const CHANGES: &[Change] = &[
    Change::CreateTable(NewTable {
        name: "loyalty_tiers",
        on: On::Both,
        columns: "id uuid!, created_at ts, updated_at ts, deleted_at ts?, sync_version big, code text, name text, \
            earn_bps bps",
        natural_keys: &["code"],
        ..NewTable::EMPTY
    }),
    Change::AddColumns("customers", "loyalty_tier text=standard"),
    Change::AddIndex("customers", Key::Plain("loyalty_tier")),
    Change::Fill("customers", || {
        let mut update = Query::update();
        update.table(Alias::new("customers")).value(Alias::new("loyalty_tier"), "gold");
        update.and_where(Expr::col(Alias::new("credit_limit")).gt(0)).to_owned()
    }),
];
