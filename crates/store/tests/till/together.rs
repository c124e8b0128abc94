//! Taxes become visible together, as headquarters had them at one moment. `docs/sync.md`, rule D2.

use std::sync::Arc;

use serde_json::json;
use tillkeep_model::{Bps, Money};
use tillkeep_storage::entity::{product, product_special, staged_row, tax_group, tax_group_rate, tax_rate};
use tillkeep_storage::raw::sea_orm::{ConnectionTrait, EntityTrait, PaginatorTrait};
use tillkeep_storage::{apply, registry};
use tillkeep_store::headquarters::Transport;
use tillkeep_store::sync::Cycle;
use uuid::Uuid;

use crate::kit::taxes::{Data, Hq, Rates, of_local, rates};
use crate::kit::{Person, Shop, id, line, rows};

/// A rate of the group LOCAL in this store.
fn here(rate: &str, sequence: i32) -> tax_group_rate::Model {
    rows::link("LOCAL", rate, sequence, false, Some(id("S01")))
}

fn gone(mut link: tax_group_rate::Model) -> tax_group_rate::Model {
    link.deleted_at = Some(rows::made());
    link
}

fn before() -> Rates {
    rates(&[("GST", 50_000)])
}

/// Other rates of LOCAL here and everywhere, as one commit: of three pages, the first takes the rate of this store away.
fn other_rates(data: &mut Data, tag: Uuid) {
    data.put("tax_rates", rows::rate("NEW", 20_000), tag);
    data.put("tax_group_rates", gone(here("GST", 1)), tag);
    data.put("tax_group_rates", rows::link("LOCAL", "QST", 2, false, None), tag);
    data.put("tax_group_rates", here("QSTC", 1), tag);
    data.put("tax_group_rates", here("NEW", 2), tag);
    data.put("tax_group_rates", gone(rows::link("LOCAL", "NY", 1, false, None)), tag);
}

fn after() -> Rates {
    rates(&[("QSTC", 95_000), ("NEW", 20_000)])
}

/// A store that has what its headquarters has; up to where it has rates of groups.
async fn settled() -> (Arc<Hq>, Shop, Person, i64) {
    let hq = Arc::new(Hq::new());
    let shop = Shop::with_line(hq.clone()).await;
    let person = shop.selling().await;
    step(&shop).await;
    assert_eq!((of_local(&shop.store).await, aside(&shop).await), (before(), 0));
    hq.take_asked();
    let had = hq.head("tax_group_rates");
    assert_eq!(visible(&shop, "tax_group_rates").await, had);
    (hq, shop, person, had)
}

async fn step(shop: &Shop) {
    Cycle::default().step(&shop.store).await;
}

/// What a product of the group costs in taxes.
async fn tax(person: &Person) -> i64 {
    person.sell(json!([line("LOCAL", 1)])).await.ok(201)["taxAmount"].as_i64().expect("an amount")
}

async fn aside(shop: &Shop) -> u64 {
    staged_row::Entity::find().count(shop.store.test_db().reader()).await.expect("a count")
}

async fn visible(shop: &Shop, name: &str) -> i64 {
    let cursors = apply::cursors(shop.store.test_db().reader()).await.expect("cursors");
    cursors.get(name).copied().unwrap_or_default().version
}

#[tokio::test]
async fn a_line_that_breaks_between_two_pages_of_the_rates_of_a_group_leaves_its_tax_as_it_was() {
    let (hq, shop, person, had) = settled().await;
    hq.commit(other_rates);
    hq.breaks_at(&format!("tax_group_rates {} ", had + 2));
    step(&shop).await;
    assert_eq!((of_local(&shop.store).await, tax(&person).await), (before(), 500));
    assert_eq!((visible(&shop, "tax_group_rates").await, aside(&shop).await), (had, 3), "it lies aside");
    // What people have is what headquarters knows.
    let asked = hq.take_asked();
    assert!(asked.contains(&format!("tax_group_rates {} has {had}", had + 2)), "{asked:?}");
    step(&shop).await;
    assert_eq!((of_local(&shop.store).await, tax(&person).await), (after(), 1150));
    assert_eq!((visible(&shop, "tax_group_rates").await, aside(&shop).await), (had + 5, 0));
    let asked = hq.take_asked();
    assert!(asked.iter().all(|asked| !asked.starts_with(&format!("tax_group_rates {had} "))), "it goes on: {asked:?}");
}

fn off(code: &str, bps: i32, is_active: bool) -> product_special::Model {
    product_special::Model {
        id: id(code),
        code: code.into(),
        name: code.into(),
        product_id: Some(id("LOCAL")),
        kind: "percent_off".into(),
        percent_bps: Some(Bps(bps)),
        days_of_week: 127,
        is_active,
        created_at: rows::made(),
        updated_at: rows::made(),
        ..product_special::Model::default()
    }
}

/// What the specials take off a product of the group.
async fn saved(person: &Person) -> i64 {
    person.sell(json!([line("LOCAL", 1)])).await.ok(201)["specialDiscount"].as_i64().expect("an amount")
}

#[tokio::test]
async fn a_line_that_breaks_between_a_special_and_the_end_of_the_one_before_it_leaves_both_as_they_were() {
    let (hq, shop, person, _) = settled().await;
    hq.commit(|data, tag| data.put("product_specials", off("OLD", 3000, true), tag));
    step(&shop).await;
    assert_eq!(saved(&person).await, 3000);
    let had = hq.head("product_specials");
    // Of two pages the first has the end of the one without its successor.
    hq.commit(|data, tag| {
        data.put("product_specials", off("OTHER", 100, true), tag);
        data.put("product_specials", off("OLD", 3000, false), tag);
        data.put("product_specials", off("NEW", 1000, true), tag);
    });
    hq.breaks_at(&format!("product_specials {} ", had + 2));
    step(&shop).await;
    assert_eq!((saved(&person).await, visible(&shop, "product_specials").await), (3000, had));
    step(&shop).await;
    assert_eq!((saved(&person).await, aside(&shop).await), (1000, 0));
    assert_eq!(visible(&shop, "product_specials").await, had + 3);
}

#[tokio::test]
async fn what_lies_aside_outlives_a_restart() {
    let (hq, shop, _, had) = settled().await;
    hq.commit(other_rates);
    hq.breaks_at(&format!("tax_group_rates {} ", had + 4));
    step(&shop).await;
    assert_eq!(aside(&shop).await, 5);
    hq.take_asked();
    let line: Arc<dyn Transport> = hq.clone();
    let shop = shop.again(Some(line), |_| ()).await;
    assert_eq!(of_local(&shop.store).await, before());
    step(&shop).await;
    assert_eq!((of_local(&shop.store).await, aside(&shop).await), (after(), 0));
    let asked = hq.take_asked();
    let first = asked.iter().find(|asked| asked.starts_with("tax_group_rates"));
    assert_eq!(first, Some(&format!("tax_group_rates {} has {had}", had + 4)), "{asked:?}");
}

#[tokio::test]
async fn taxes_that_change_while_they_come_are_those_of_one_moment() {
    let (hq, shop, _, _) = settled().await;
    assert!(hq.watched.set(shop.store.clone()).is_ok());
    hq.commit(|data, tag| data.put("tax_rates", rows::rate("GST", 60_000), tag));
    // The page of the rates has come, and then a commit changes one of them and what the group has.
    hq.after("tax_rates", false, |hq| {
        hq.commit(|data, tag| {
            data.put("tax_rates", rows::rate("GST", 70_000), tag);
            data.put("tax_rates", rows::rate("NEW", 20_000), tag);
            data.put("tax_group_rates", here("NEW", 2), tag);
        });
    });
    for _ in 0..2 {
        step(&shop).await;
    }
    let ends = rates(&[("GST", 70_000), ("NEW", 20_000)]);
    assert_eq!(of_local(&shop.store).await, ends);
    let seen = hq.seen.lock().expect("not poisoned").clone();
    let had = [before(), rates(&[("GST", 60_000)]), ends];
    assert!(seen.len() > 5 && seen.iter().all(|seen| had.contains(seen)), "headquarters never had one of {seen:?}");
}

#[tokio::test]
async fn a_store_that_has_no_taxes_yet_sells_nothing_until_all_of_them_are_here() {
    let (hq, shop, person, _) = settled().await;
    let tx = shop.store.test_db().begin().await.expect("a transaction");
    for name in registry::together("tax_rates") {
        tx.execute_unprepared(&format!("DELETE FROM {name}")).await.expect("nothing is left");
        tx.execute_unprepared(&format!("DELETE FROM sequences WHERE entity_type = '{name}'")).await.expect("nothing");
    }
    tx.commit().await.expect("a commit");
    hq.breaks_at("tax_group_rates 2 ");
    step(&shop).await;
    person.sell(json!([line("LOCAL", 1)])).await.refused(503, "store_not_ready");
    step(&shop).await;
    assert_eq!((of_local(&shop.store).await, tax(&person).await), (before(), 500));
}

#[tokio::test]
async fn taxes_that_never_rest_stay_as_they_were_take_little_room_and_hold_up_nothing() {
    let (hq, shop, person, _) = settled().await;
    hq.commit(|data, tag| {
        data.put("tax_rates", rows::rate("GST", 60_000), tag);
        data.put("products", product::Model { price: Money(777), ..rows::product("TEA", 1, "EXCLUSIVE") }, tag);
    });
    hq.after("/versions", true, |hq| {
        let ppm = 60_000 + i32::try_from(hq.head("tax_rates")).expect("few");
        hq.commit(|data, tag| data.put("tax_rates", rows::rate("GST", ppm), tag));
    });
    for _ in 0..3 {
        step(&shop).await;
        assert_eq!((of_local(&shop.store).await, tax(&person).await), (before(), 500));
        assert_eq!(aside(&shop).await, 1, "a row that changes again takes the place of the one before");
        let asked = hq.take_asked();
        assert!(asked.len() < 30, "{asked:?}");
    }
    // What comes after the taxes came all the same.
    let sold = person.sell(json!([line("TEA", 1)])).await.ok(201);
    assert_eq!(sold["saleItems"][0]["unitPrice"], 777);
    hq.rest();
    step(&shop).await;
    let newest = 60_000 + i32::try_from(hq.head("tax_rates")).expect("few") - 1;
    assert_eq!((of_local(&shop.store).await, aside(&shop).await), (rates(&[("GST", newest)]), 0));
}

#[tokio::test]
async fn one_type_that_is_loaded_again_while_others_lie_aside_takes_nothing_from_them() {
    let (hq, shop, _, had) = settled().await;
    hq.commit(other_rates);
    hq.breaks_at(&format!("tax_group_rates {} ", had + 2));
    step(&shop).await;
    // Headquarters has a group no more, and no version tells of it.
    hq.forget("tax_groups", id("FREE"));
    let tx = shop.store.test_db().begin().await.expect("a transaction");
    apply::begin_reload(&tx, registry::find("tax_groups").expect("a type")).await.expect("a reload");
    tx.commit().await.expect("a commit");
    hq.take_asked();
    step(&shop).await;
    let asked = hq.take_asked();
    for question in ["tax_groups 0 has 0".to_owned(), format!("tax_group_rates {} has {had}", had + 2)] {
        assert!(asked.contains(&question), "{question}: {asked:?}");
    }
    assert_eq!((of_local(&shop.store).await, aside(&shop).await), (after(), 0));
    let free = tax_group::Entity::find_by_id(id("FREE")).one(shop.store.test_db().reader()).await.expect("a read");
    assert_eq!(free, None);
}

#[tokio::test]
async fn what_lies_aside_of_commits_that_headquarters_lost_is_never_shown() {
    let (hq, shop, _, had) = settled().await;
    let copy = hq.data().clone();
    hq.commit(other_rates);
    hq.breaks_at(&format!("tax_group_rates {} ", had + 4));
    step(&shop).await;
    assert_eq!(aside(&shop).await, 5);
    // It loses that commit, and gives the same versions once more: of the rates as many, of those of groups one more.
    *hq.data() = copy;
    hq.commit(|data, tag| {
        data.put("tax_rates", rows::rate("GST", 80_000), tag);
        (1..=5).for_each(|sequence| data.put("tax_group_rates", here("GST", sequence), tag));
    });
    step(&shop).await;
    assert_eq!((of_local(&shop.store).await, aside(&shop).await), (rates(&[("GST", 80_000)]), 0));
    let new = tax_rate::Entity::find_by_id(id("NEW")).one(shop.store.test_db().reader()).await.expect("a read");
    assert_eq!(new, None);
}

#[tokio::test]
async fn a_product_without_its_group_waits_for_its_new_one() {
    let (hq, shop, person, _) = settled().await;
    hq.commit(|data, tag| data.put("products", rows::product("LOCAL", 10_000, "QUEBEC"), tag));
    hq.commit(|data, tag| {
        data.put("tax_group_rates", gone(here("GST", 1)), tag);
        data.put("tax_group_rates", gone(rows::link("LOCAL", "NY", 1, false, None)), tag);
        let group = rows::group("LOCAL", "store_default");
        data.put("tax_groups", tax_group::Model { deleted_at: Some(rows::made()), ..group }, tag);
    });
    hq.breaks_at("products");
    step(&shop).await;
    // With the rates that are left of it, it would cost no tax at all.
    person.sell(json!([line("LOCAL", 1)])).await.refused(503, "store_not_ready");
    step(&shop).await;
    assert_eq!(tax(&person).await, 1498);
}
