use std::collections::BTreeSet;
use std::str::FromStr;

use chrono::NaiveDate;
use tillkeep_model::fields::shape::exponent;
use tillkeep_model::fields::{self, Book, Field};
use tillkeep_model::pricing::TenderKind;
use tillkeep_model::{Instant, Money, Qty};
use tillkeep_storage::entity::{
    customer, department, product, product_barcode, product_special, store_product, tender, user,
};
use tillkeep_storage::sea_orm::{EntityTrait, ModelTrait};
use tillkeep_storage::{Db, Side, barcodes, registry, seed, series, versions};

use super::users::is_weak;
use super::whole::MAX_STORES;
use super::*;

fn anchor() -> NaiveDate {
    NaiveDate::from_ymd_opt(2026, 11, 15).expect("date")
}

fn demo(stores: usize) -> Chain {
    chain(20_260_101, anchor(), stores)
}

/// Fails when a value comes twice; the number of values.
fn unique<T: Ord + std::fmt::Debug>(values: impl IntoIterator<Item = T>) -> usize {
    let mut seen = BTreeSet::new();
    for value in values {
        if let Some(twice) = seen.replace(value) {
            panic!("{twice:?} comes twice");
        }
    }
    seen.len()
}

#[test]
fn the_same_arguments_give_the_same_chain() {
    assert!(demo(3) == demo(3));
    let pins = |chain: Chain| chain.users.into_iter().map(|user| user.pin).collect::<Vec<_>>();
    let other = pins(chain(20_260_102, anchor(), 3));
    assert!(pins(demo(3)).iter().zip(&other).all(|(one, other)| one != other), "another seed, other PINs");
    assert_eq!(demo(3).stores[0].created_at.to_string(), "2026-10-16T09:00:00.000Z");
    assert_eq!(demo(3).stores[0].id.to_string(), "f53ea0bd-27d0-5f7d-a892-f7d89659248e", "vector G01");
}

#[test]
fn more_stores_leave_the_others_as_they_are() {
    let (small, large) = (demo(3), demo(MAX_STORES));
    assert_eq!((large.stores.len(), demo(0).stores.len(), demo(51).stores.len()), (50, 1, 50));
    assert!(small.products == large.products && small.specials == large.specials);
    assert!(small.customers == large.customers && small.sales_reps == large.sales_reps);
    assert!(large.stores.starts_with(&small.stores) && large.users.starts_with(&small.users));
    assert!(large.store_products.starts_with(&small.store_products));
    assert!(large.tax_group_rates.starts_with(&small.tax_group_rates));
    assert_eq!(opening_stock(&small, "S02"), opening_stock(&large, "S02"));
    assert_ne!(opening_stock(&small, "S01"), opening_stock(&small, "S02"));
    assert_eq!(unique(large.stores.iter().map(|store| &store.name)), 50);
}

/// Fails when a row is not as people may write it.
fn keeps<M: ModelTrait>(book: &Book, rows: &[M]) {
    let now = Instant::parse("2026-11-15T12:00:00Z").expect("an instant");
    let column = |field: &Field| <M::Entity as EntityTrait>::Column::from_str(field.name).ok();
    for row in rows {
        let problems = book.problems(|field| Some(row.get(column(field)?)), now);
        assert_eq!(problems, vec![], "{row:?}");
    }
}

#[test]
fn the_rows_of_the_demo_keep_the_rules_that_people_keep() {
    let chain = demo(MAX_STORES);
    keeps(&fields::store::BOOK, &chain.stores);
    keeps(&fields::department::BOOK, &chain.departments);
    keeps(&fields::tax::RATE, &chain.tax_rates);
    keeps(&fields::tax::GROUP, &chain.tax_groups);
    keeps(&fields::tax::GROUP_RATE, &chain.tax_group_rates);
    keeps(&fields::tender::BOOK, &chain.tenders);
    keeps(&fields::product::BOOK, &chain.products);
    keeps(&fields::store_price::BOOK, &chain.store_products);
    keeps(&fields::customer::BOOK, &chain.customers);
    keeps(&fields::special::BOOK, &chain.specials);
    assert!(chain.products.iter().all(|product| !product.is_weighed || product.quantity_decimals > 0));
    assert!(chain.stores.iter().all(|store| exponent(&store.currency_code) == Some(store.currency_exponent)));
    assert!(chain.tenders.iter().all(|tender| tender.kind != TenderKind::Cash || tender.allows_change));
}

#[test]
fn ten_departments_sell_twenty_products_each() {
    let chain = demo(3);
    assert_eq!((chain.departments.len(), chain.products.len()), (10, 202));
    let supplied = || chain.products.iter().filter(|product| product.default_supplier_id.is_some());
    for department in &chain.departments {
        let sold = supplied().filter(|product| product.department_id == department.id).count();
        assert_eq!(sold, 20, "{}", department.code);
    }
    assert_eq!(unique(chain.products.iter().map(|product| &product.sku)), 202);
    assert_eq!(unique(chain.products.iter().map(|product| product.id)), 202);
    assert_eq!(unique(chain.products.iter().map(|product| &product.name)), 202);
    assert_eq!(unique(chain.product_suppliers.iter().map(|row| row.product_id)), 200, "each has a supplier");
    let plus: Vec<_> = chain.products.iter().filter_map(|product| product.plu.as_deref()).collect();
    assert_eq!((unique(&plus), plus[0], plus[19]), (20, "04001", "04020"));
    assert!(chain.products.iter().all(|product| product.is_weighed == product.plu.is_some()));
}

#[test]
fn every_price_ends_in_nine_cents_and_covers_the_cost() {
    let chain = demo(MAX_STORES);
    let default = |row: &store_product::Model| {
        chain.products.iter().find(|product| product.id == row.product_id).expect("product").price
    };
    let closed = chain.products.iter().filter(|product| !product.is_open_price);
    let prices = closed.map(|row| (row.price, row.cost.0, &row.sku));
    for (price, cost, sku) in prices {
        assert!(price.0 % 10 == 9 && cost <= price && cost > Money::ZERO, "{sku} {price:?} {cost:?}");
    }
    for row in &chain.store_products {
        assert!(row.price.0 % 10 == 9 && row.cost.0 <= row.price && row.has_price_override, "{row:?}");
    }
    let of = |code: &str| {
        let rows = chain.store_products.iter().filter(|row| row.store_id == stores::id(code));
        let dearer = rows.clone().filter(|row| row.price > default(row)).count();
        let cheaper = rows.filter(|row| row.price < default(row)).count();
        (dearer, cheaper)
    };
    assert_eq!([of("S01"), of("S02"), of("S03")], [(12, 0), (0, 0), (0, 5)]);
    assert_eq!(unique(chain.store_products.iter().map(|row| row.id)), chain.store_products.len());
}

#[test]
fn a_pack_a_deposit_and_a_product_that_is_named_at_the_till_are_there() {
    let chain = demo(3);
    let of = |sku: &str| chain.products.iter().find(|product| product.sku == sku).expect("a product");
    let deposit = of("BEV-DEPOSIT");
    assert_eq!((deposit.product_type.as_str(), deposit.allow_discount, deposit.price), ("deposit", false, Money(29)));
    let charged: Vec<_> = chain.products.iter().filter(|product| product.charge_product_id.is_some()).collect();
    assert_eq!(charged.len(), 4);
    assert!(
        charged.iter().all(|product| product.charge_product_id == Some(deposit.id) && product.name.ends_with("Bottle"))
    );
    let packs = of("BEV-0101").packs.0.as_array().expect("packs");
    assert_eq!((packs[0]["quantity"].as_i64(), packs[0]["price"].as_i64()), (Some(6), Some(699)));
    let sundries = of("HOME-SUNDRIES");
    assert!(sundries.named_at_till && sundries.is_open_price && !sundries.track_stock);
}

#[test]
fn every_barcode_is_an_ean_13_of_its_own() {
    let chain = demo(3);
    let codes: Vec<_> = chain.products.iter().map(|product| product.barcode.clone().expect("barcode")).collect();
    assert_eq!(unique(&codes), 202);
    for code in &codes {
        let digits: Vec<u32> = code.chars().map(|digit| digit.to_digit(10).expect("digit")).collect();
        let sum: u32 = digits.iter().zip([1, 3].iter().cycle()).map(|(digit, weight)| digit * weight).sum();
        assert!(digits.len() == 13 && sum.is_multiple_of(10) && code.starts_with("299"), "{code}");
    }
    assert!(codes[0].starts_with("299010101000"), "{}", codes[0]);
}

#[test]
fn each_store_has_a_manager_and_a_cashier_for_each_till() {
    for stores in [1, 3, MAX_STORES] {
        let chain = demo(stores);
        assert_eq!((chain.users.len(), chain.user_store_roles.len()), (1 + 3 * stores, 1 + 3 * stores));
        for code in stores::CODES.iter().take(stores) {
            let role =
                |role| chain.users.iter().filter(move |user| (user.role_code, user.store_code) == (role, Some(*code)));
            assert_eq!((role("store_manager").count(), role("cashier").count()), (1, 2), "{code}");
        }
        assert_eq!(unique(chain.users.iter().map(|user| &user.pin)), chain.users.len());
        assert_eq!(unique(chain.users.iter().map(|user| &user.model.username_folded)), chain.users.len());
        assert_eq!(unique(chain.users.iter().map(|user| &user.model.display_name)), chain.users.len());
        let secret = |user: &DemoUser| user.model.pin_hash.is_none() && !format!("{user:?}").contains(&user.pin);
        assert!(chain.users.iter().all(secret));
    }
    let staff: Vec<String> = demo(3).users.into_iter().map(|user| user.model.username).collect();
    assert_eq!(staff[..5], ["admin", "manager1", "cashier1", "cashier2", "manager2"]);
    assert_eq!(staff[9], "cashier6");
}

#[test]
fn no_pin_is_a_repeat_a_run_or_a_year() {
    for weak in ["111111", "123456", "654321", "121212", "482482", "198745", "742026", "912345", "447778"] {
        assert!(is_weak(weak), "{weak}");
    }
    assert!(!is_weak("739154"));
    for user in demo(MAX_STORES).users {
        assert!(user.pin.len() == 6 && user.pin.bytes().all(|digit| digit.is_ascii_digit()) && !is_weak(&user.pin));
    }
}

#[test]
fn each_store_starts_with_stock_of_everything_it_keeps() {
    let chain = demo(3);
    let stock = opening_stock(&chain, "S01");
    assert_eq!(stock.len(), 180, "a cafe keeps no stock of what it makes");
    let product = |id| chain.products.iter().find(|product| product.id == id).expect("product");
    for (id, quantity, cost) in &stock {
        assert!((Qty::pieces(20)..=Qty::pieces(200)).contains(quantity) && *cost == product(*id).cost.0);
        assert!(quantity.fits_decimals(product(*id).quantity_decimals));
    }
    let short = stock.iter().filter(|(id, quantity, _)| *quantity < product(*id).reorder_point).count();
    assert_eq!(short, 3, "three products are below their reorder point from the beginning");
}

#[test]
fn specials_customers_and_reps_are_as_planned() {
    let chain = demo(3);
    for special in &chain.specials {
        assert_ne!(special.product_id.is_some(), special.department_id.is_some(), "{}", special.code);
        let product = chain.products.iter().find(|product| Some(product.id) == special.product_id);
        assert_eq!(special.product_id.is_some(), product.is_some(), "{}", special.code);
        if let (Some(fixed), Some(product)) = (special.fixed_price, product) {
            assert!(fixed < product.price && fixed >= product.cost.0, "{}", special.code);
        }
        if let (Some(bundle), Some(product)) = (special.bundle_price, product) {
            assert!(bundle < product.price.times(Qty::pieces(3)), "{}", special.code);
        }
    }
    let kinds: BTreeSet<_> = chain.specials.iter().map(|special| special.kind.as_str()).collect();
    let all = BTreeSet::from(["amount_off", "buy_x_get_y", "fixed_price", "multi_buy", "percent_off"]);
    assert_eq!((&kinds, unique(chain.specials.iter().map(|special| &special.code))), (&all, 12));
    let today = anchor().to_string();
    assert_eq!(chain.specials.iter().filter(|row| row.end_date.as_ref().is_some_and(|end| *end < today)).count(), 1);
    assert_eq!(chain.specials.iter().filter(|row| row.start_date.as_ref().is_some_and(|at| *at > today)).count(), 1);
    let always = |row: &&product_special::Model| {
        row.is_active && row.end_date.is_none() && row.start_date.as_ref().is_none_or(|start| *start <= today)
    };
    let in_force: Vec<_> = chain.specials.iter().filter(always).collect();
    assert_eq!(in_force.iter().map(|row| row.kind.as_str()).collect::<BTreeSet<_>>(), all, "each type is in force");
    assert_eq!(in_force.iter().filter(|row| row.start_time.as_deref() == Some("16:00")).count(), 1, "a happy hour");
    let mixed: Vec<_> = in_force.iter().filter(|row| row.mix_group.is_some()).collect();
    assert_eq!((mixed.len(), unique(mixed.iter().map(|row| row.product_id))), (4, 4));
    assert!(in_force.iter().any(|row| (row.bundle_quantity, row.bundle_price) == (Some(3), Some(Money(1000)))));
    let customers = |test: fn(&customer::Model) -> bool| chain.customers.iter().filter(|row| test(row)).count();
    assert_eq!(customers(|_| true), 30);
    assert_eq!((customers(|row| row.tax_exempt), customers(|row| row.merged_into_id.is_some())), (2, 1));
    assert_eq!(customers(|row| row.phone_digits.as_ref().is_some_and(|phone| phone.contains("55501"))), 30);
    let merged = chain.customers.iter().find_map(|row| row.merged_into_id).expect("a merged one");
    assert!(chain.customers.iter().any(|row| row.id == merged && row.merged_into_id.is_none()));
    assert_eq!(chain.sales_reps.iter().filter(|rep| rep.commission_basis == "profit").count(), 1);
    assert_eq!((chain.sales_reps.len(), chain.suppliers.len(), chain.tenders.len()), (4, 6, 4));
    let idle: Vec<&str> = chain.tenders.iter().filter(|row| !row.is_active).map(|row| row.code.as_str()).collect();
    assert_eq!(idle, ["GIFT"], "nothing keeps what is left on a gift card");
}

#[tokio::test]
async fn a_written_chain_has_versions_and_is_written_once() {
    let dir = tempfile::tempdir().expect("dir");
    let db = Db::open_file(&dir.path().join("hq.db"), Side::Hq).await.expect("database");
    let now = Instant::from_millis(1_790_000_000_000);
    seed::ensure(&db, now).await.expect("seed");
    let chain = demo(MAX_STORES);
    for round in 0..2 {
        let mut tx = db.begin().await.expect("begin");
        let secrets = |user: &DemoUser| (format!("hash of {}", user.model.username), format!("key {}", user.pin));
        write(&mut tx, &chain, secrets).await.expect("write");
        let changes = tx.commit().await.expect("commit");
        assert_eq!(changes.is_empty(), round == 1, "the second time does nothing");
    }

    let products = product::Entity::find().all(db.reader()).await.expect("products");
    let stamped: BTreeSet<i64> = products.iter().map(|row| row.sync_version).collect();
    assert_eq!(stamped, (1..=202).collect());
    let own_prices = store_product::Entity::find().all(db.reader()).await.expect("prices");
    assert!(own_prices.iter().all(|row| row.sync_version > versions::UNSTAMPED));
    assert_eq!(own_prices.len(), chain.store_products.len());
    let users = user::Entity::find().all(db.reader()).await.expect("users");
    assert!(users.iter().all(|row| row.pin_hash == Some(format!("hash of {}", row.username))));
    assert!(users.iter().all(|row| row.username_folded == registry::fold(&row.username) && row.pin_lookup.is_some()));
    let codes = product_barcode::Entity::find().all(db.reader()).await.expect("barcodes");
    assert_eq!(codes.len(), 204, "with those of two packs");
    let first = &chain.products[0];
    let codes = barcodes::codes(first.barcode.as_deref(), &first.barcodes.0, &first.packs.0);
    let forms = codes.iter().map(|code| barcodes::normal(code));
    let owners = barcodes::owners(db.reader(), forms).await.expect("codes");
    assert!(owners.len() == codes.len() && owners.values().all(|owner| *owner == first.id), "{owners:?}");

    let heads = versions::heads(db.reader()).await.expect("heads");
    for (entity_type, rows) in [
        ("stores", chain.stores.len()),
        ("tax_rates", chain.tax_rates.len()),
        ("tax_groups", chain.tax_groups.len() + 1),
        ("tax_group_rates", chain.tax_group_rates.len()),
        ("tenders", chain.tenders.len() + 2),
        ("departments", chain.departments.len() + 1),
        ("suppliers", chain.suppliers.len()),
        ("products", chain.products.len()),
        ("product_suppliers", chain.product_suppliers.len()),
        ("users", chain.users.len()),
        ("user_store_roles", chain.user_store_roles.len()),
        ("customers", chain.customers.len()),
        ("product_specials", chain.specials.len()),
        ("sales_reps", chain.sales_reps.len()),
    ] {
        let head = heads.get(&(entity_type.to_owned(), uuid::Uuid::nil()));
        assert_eq!(head.copied(), i64::try_from(rows).ok(), "{entity_type}");
    }
    assert_eq!(heads.get(&("store_product_dynamic".to_owned(), stores::id("S01"))), Some(&12));
    assert_eq!(series::all(db.reader()).await.expect("series").get("customer"), Some(&30));
    assert_eq!(department::Entity::find().all(db.reader()).await.expect("departments").len(), 11);
    assert_eq!(tender::Entity::find().all(db.reader()).await.expect("tenders").len(), 6);
    db.close().await.expect("close");
}
