//! Customers: any store makes them, and any store may change any of them.

use std::sync::LazyLock;

use tillkeep_model::fields::customer::BOOK;

use super::columns::ByBook;
use super::{Beyond, Clash, Form, Maker, Numbering, Pushed, UsedId, WriteContext};
use crate::entity::customer::Entity;
use crate::rows::{Of, Row};

pub const TYPE: &str = "customers";

static NUMBER: Numbering = Numbering {
    kind: "customer",
    table: TYPE,
    column: "customer_number",
    store: "origin_store_id",
    register: None,
    form: Form::Text { infix: "-" },
    clash: Clash::Refused,
};

pub static CUSTOMER: Pushed = Pushed {
    owned,
    beyond: Beyond::Refuse,
    used_id: UsedId::Theirs,
    states: None,
    parent: None,
    may_be_deleted: None,
    append_only_lists: &[],
    kept: None,
    number: Some(&NUMBER),
    printed: &[],
    times: &[],
    day: None,
    complete: Some(complete),
    movements: None,
    charged: None,
    has_account: true,
    checks: None,
    awaited: &[],
    flags: None,
    reckoned: &[],
    restored: None,
    exported: None,
    acts: &[],
};

/// A store cannot grant a tax exemption or credit.
fn owned(context: WriteContext<'_>) -> &'static [&'static str] {
    static COLUMNS: LazyLock<ByBook> = LazyLock::new(|| ByBook::new(&BOOK, &Of::<Entity>::NEW));
    COLUMNS.columns(context)
}

fn complete(row: &mut dyn Row, maker: &Maker<'_>) {
    row.set("is_active", true.into());
    row.set("origin_store_id", Some(maker.store_id).into());
    if row.text(NUMBER.column).is_none_or(|number| number.is_empty())
        && let Some(id) = row.uuid("id")
    {
        row.set(NUMBER.column, format!("{}-{id}", maker.store_code).into());
    }
}
