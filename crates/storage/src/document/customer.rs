//! Customers: any store makes them, and any store may change any of them.

use std::sync::LazyLock;

use tillkeep_model::fields::customer::BOOK;
use tillkeep_model::state::MayFollow;

use super::columns::ByBook;
use super::sale::{self, UNKNOWN_CUSTOMER};
use super::{
    Act, Awaited, Beyond, Clash, Exported, Facts, Form, Maker, Named, Numbering, Parent, Pushed, Restored, UsedId,
    Whole, WriteContext,
};
use crate::document::movement::{Movement, Position};
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

pub struct Customer;

impl Pushed for Customer {
    fn order(&self) -> u8 {
        1
    }

    fn owned(&self, context: WriteContext<'_>) -> &'static [&'static str] {
        // A store cannot grant a tax exemption or credit.
        static COLUMNS: LazyLock<ByBook> = LazyLock::new(|| ByBook::new(&BOOK, &Of::<Entity>::NEW));
        COLUMNS.columns(context)
    }

    fn beyond(&self) -> Beyond {
        Beyond::Refuse
    }

    fn used_id(&self) -> UsedId {
        UsedId::Theirs
    }

    fn states(&self) -> Option<MayFollow> {
        None
    }

    fn is_co_written(&self) -> bool {
        false
    }

    fn sent_status(&self, _: &str, _: &dyn Row) -> Option<String> {
        None
    }

    fn next_status(&self, _: WriteContext<'_>, _: Option<&str>, _: &mut dyn Row) -> Option<String> {
        None
    }

    fn parent(&self) -> Option<Parent> {
        None
    }

    fn may_be_deleted(&self, _: Option<&dyn Row>) -> bool {
        false
    }

    fn append_only_lists(&self) -> &'static [&'static str] {
        &[]
    }

    fn number(&self) -> Option<&'static Numbering> {
        Some(&NUMBER)
    }

    fn printed(&self) -> &'static [&'static str] {
        &[]
    }

    fn times(&self) -> &'static [&'static str] {
        &[]
    }

    fn complete(&self, row: &mut dyn Row, maker: &Maker<'_>) {
        row.set("is_active", true.into());
        row.set("origin_store_id", Some(maker.store_id).into());
        if row.text(NUMBER.column).is_none_or(|number| number.is_empty())
            && let Some(id) = row.uuid("id")
        {
            row.set(NUMBER.column, format!("{}-{id}", maker.store_code).into());
        }
    }

    fn movements(&self, _: &Whole<'_>, _: Option<Position>) -> Vec<Movement> {
        Vec::new()
    }

    fn charged(&self, _: &Whole<'_>) -> i128 {
        0
    }

    fn checks(&self, _: &Whole<'_>) -> Vec<&'static str> {
        Vec::new()
    }

    fn named(&self, _: &Whole<'_>) -> Named {
        Named::default()
    }

    fn flags(&self, _: &Whole<'_>, _: &Facts) -> Vec<&'static str> {
        Vec::new()
    }

    fn awaited(&self) -> Option<Awaited> {
        Some(Awaited { by: sale::TYPE, column: "customer_id", flag: UNKNOWN_CUSTOMER, sales_charge_it: true })
    }

    fn restored(&self) -> Option<Restored> {
        None
    }

    fn exported(&self) -> Option<Exported> {
        None
    }

    fn acts(&self) -> &'static [Act] {
        &[]
    }
}
