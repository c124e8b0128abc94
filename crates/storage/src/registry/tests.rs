use std::collections::BTreeMap;

use tillkeep_model::fields::{self, ColumnValue, Rule};

use super::*;
use crate::document::{WriteContext, adjustment, customer};
use crate::migration;
use crate::rows::owners;

#[test]
fn what_becomes_visible_together_is_of_a_kind_that_can_lie_aside_and_comes_in_the_order_of_pulling() {
    let mut in_units: Vec<_> = units().flatten().filter_map(|entity| position(entity.name)).collect();
    in_units.sort_unstable();
    assert_eq!(in_units, pulled().filter_map(|entity| position(entity.name)).collect::<Vec<_>>(), "each of them once");
    for group in TOGETHER {
        assert!(!group.is_empty());
        let places: Vec<_> = group.iter().map(|name| position(name).expect("a type")).collect();
        assert!(places.is_sorted(), "{group:?}");
        for entity in group.iter().filter_map(|name| find(name)) {
            let name = entity.name;
            // Its rows are known by their ids and are whole in themselves, and the same for every store.
            assert!(entity.is_pulled() && !entity.is_pushed() && !entity.replace_all, "{name}");
            assert!(entity.key == ["id"] && entity.children.is_empty() && entity.scope == Scope::Everyone, "{name}");
            let Arrival { before, written, reloaded, after, complete, awaited, forgets: _ } = entity.arrival;
            assert!([before, written, reloaded, after, complete].concat().is_empty() && awaited.is_none(), "{name}");
            assert!(!entity.store_may_create, "{name}");
        }
    }
}

#[test]
fn every_table_and_column_the_registry_names_exists() {
    let tables: BTreeMap<_, Vec<_>> =
        migration::tables().map(|table| (table.name, table.columns().map(|column| column.name).collect())).collect();
    for entity in ALL {
        assert_eq!(entity.table.name(), entity.name, "the name on the wire is the table's");
        let columns = &tables[entity.name];
        let derived = entity.derived.iter().flat_map(|derived| [derived.column, derived.from]);
        let named = entity
            .key
            .iter()
            .chain(entity.store_owned)
            .chain(entity.withheld)
            .chain(entity.unannounced)
            .copied()
            .chain(derived);
        let pushed = entity.push.into_iter().flat_map(named_by);
        for column in named.chain(pushed) {
            assert!(columns.contains(&column), "{}.{column} is in the registry, add it to a migration", entity.name);
        }
        for child in entity.children {
            assert!(tables[child.table.name()].contains(&child.parent), "{}.{}", child.table.name(), child.parent);
        }
        for (status, new, receives) in [
            (None, true, false),
            (Some("draft"), false, false),
            (Some("in_transit"), false, true),
            (Some("x"), false, false),
        ] {
            let context = WriteContext { status, new, receives, made_by_hq: false };
            for column in entity.push.into_iter().flat_map(|pushed| (pushed.owned)(context)) {
                let known = *column == "*"
                    || columns.contains(column)
                    || entity.children.iter().any(|child| tables[child.table.name()].contains(column));
                assert!(known, "{}.{column} is owned by a store but does not exist", entity.name);
            }
        }
    }
}

/// The columns that a pushed type names.
fn named_by(pushed: &Pushed) -> Vec<&'static str> {
    let mut named = [pushed.append_only_lists, pushed.printed, pushed.times].concat();
    named.extend(pushed.parent.as_ref().map(|parent| parent.column));
    named.extend(pushed.states.as_ref().map(|states| states.column));
    named.extend(pushed.day);
    named.extend(pushed.number.into_iter().flat_map(|number| [number.column, number.store]));
    named.extend(pushed.number.and_then(|number| number.register));
    named.extend(pushed.exported.iter().flat_map(|exported| [exported.amounts, exported.quantities].concat()));
    named
}

#[test]
fn a_pushed_type_says_what_a_store_may_write_and_stands_behind_what_it_names() {
    for (entity, pushed) in pushed() {
        let context = WriteContext { status: None, new: true, receives: false, made_by_hq: false };
        assert!(!(pushed.owned)(context).is_empty(), "{}", entity.name);
        if let Some(number) = pushed.number {
            assert_eq!(number.table, entity.name, "the number of another type");
        }
        if let Some(name) = pushed.parent.as_ref().map(|parent| parent.entity_type) {
            assert!(find(name).is_some_and(SyncType::is_pushed), "{} is of {name}, which is not pushed", entity.name);
            assert!(position(name) < position(entity.name), "{} stands before {name}, which it is of", entity.name);
        }
        for awaited in pushed.awaited {
            let named = awaited.names.table();
            let is_line = |entity: &&SyncType| entity.children.iter().any(|child| child.table.name() == named);
            let there = find(named).or_else(|| ALL.iter().find(is_line)).unwrap_or_else(|| panic!("no type {named}"));
            assert!(
                position(there.name) <= position(entity.name),
                "{} stands before {named}, which it names",
                entity.name
            );
            let table = awaited.lines.map_or(entity.name, |place| entity.children[place].table.name());
            let made = migration::tables().find(|of| of.name == table).expect("a table");
            assert!(made.columns().any(|of| of.name == awaited.column), "{table}.{}", awaited.column);
        }
    }
    assert!(ALL.iter().all(|entity| entity.is_pulled() || entity.is_pushed()), "a type that never travels");
}

#[test]
fn every_column_is_in_the_book_of_its_rows_or_named_there_as_the_servers_own() {
    for book in books() {
        let table = migration::tables().find(|table| table.name == book.table);
        let table = table.unwrap_or_else(|| panic!("{} has a book and no table", book.table));
        let columns: Vec<_> = table.columns().map(|column| column.name).collect();
        for column in &columns {
            let fields = book.fields.iter().filter(|field| field.is(column)).count();
            let own = book.server.iter().filter(|own| *own == column).count();
            assert_eq!(
                fields + own,
                1,
                "{}.{column}: name it once in crates/model/src/fields, as a field that people write or among `server`",
                book.table
            );
        }
        for field in book.fields {
            assert!(columns.iter().any(|column| field.is(column)), "{}.{} is no column", book.table, field.name);
        }
        for own in book.server {
            assert!(columns.contains(own), "{}.{own} is no column", book.table);
        }
    }
    for entity in ALL {
        assert!(entity.book.is_none_or(|book| book.table == entity.name), "{} has the book of others", entity.name);
    }
}

#[test]
fn each_field_that_a_repeated_request_is_held_against_is_a_column_of_what_was_made() {
    for (fields, table) in [
        (&fields::adjustment::REQUEST[..], fields::adjustment::BOOK.table),
        (&fields::sale::CART, fields::sale::SALE.table),
        (&fields::sale::CART_LINE, fields::sale::ITEM.table),
        (&fields::sale::CART_PAYMENT, fields::sale::PAYMENT.table),
    ] {
        let made = migration::tables().find(|of| of.name == table).expect("a table");
        for field in fields.iter().filter(|field| field.kept != ColumnValue::Otherwise) {
            let text = "is no column: `kept(ColumnValue::Otherwise)`, and its handler compares it";
            assert!(made.columns().any(|column| field.is(column.name)), "{table}.{} {text}", field.name);
        }
    }
}

#[test]
fn a_store_owns_of_a_customer_what_the_book_says() {
    let context = |new| WriteContext { status: None, new, receives: false, made_by_hq: false };
    let owned = |pushed: &Pushed, new| (pushed.owned)(context(new));
    let (new, known) = (owned(&customer::CUSTOMER, true), owned(&customer::CUSTOMER, false));
    for column in ["first_name", "phone", "address_line1", "marketing_opt_in"] {
        assert!(new.contains(&column) && known.contains(&column), "{column}");
    }
    assert!(new.contains(&"customer_number") && !known.contains(&"customer_number"));
    for column in ["tax_exempt", "credit_limit", "account_balance", "is_active", "id", "flags"] {
        assert!(!new.contains(&column) && !known.contains(&column), "{column}");
    }
    assert!(owned(&adjustment::ADJUSTMENT, true).contains(&"quantity_change"));
    assert!(owned(&adjustment::ADJUSTMENT, false).is_empty());
}

#[test]
fn every_text_and_list_of_a_pushed_type_has_a_limit() {
    let tables = || ALL.iter().filter(|entity| entity.is_pushed());
    let lines = tables().flat_map(|entity| entity.children).map(|child| (child.table.name(), Some(child.book)));
    for (name, book) in tables().map(|entity| (entity.name, entity.book)).chain(lines) {
        let book = book.unwrap_or_else(|| panic!("{name} is pushed and has no book"));
        let table = migration::tables().find(|table| table.name == name).expect("a table");
        for column in table.columns().filter(|column| matches!(column.kind, "text" | "json")) {
            let own = owners::SERVER_COLUMNS.contains(&column.name) || book.server.contains(&column.name);
            let rule = book.field(column.name).map(|field| field.rule);
            let limited = matches!(rule, Some(Rule::Text { .. } | Rule::Json { .. } | Rule::Word(_)));
            assert!(own || limited, "{name}.{}: say in crates/model/src/fields how long it may be", column.name);
        }
        for field in book.fields {
            assert!(table.columns().any(|column| field.is(column.name)), "{name}.{} is no column", field.name);
        }
    }
}

#[test]
fn a_row_that_cannot_be_read_names_its_field() {
    let products = find("products").expect("a type").table;
    assert!(products.decode("{\"sku\":\"A1\",\"price\":1000}").is_ok());
    let read = |json| products.decode(json).err().unwrap_or_default();
    let error = read("{\"sku\":\"A1\",\"price\":\"much\"}");
    assert!(error.starts_with("price: "), "{error}");
}
