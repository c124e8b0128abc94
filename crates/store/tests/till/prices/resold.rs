//! What a customer is quoted is what the sale of it is, line by line.

use std::collections::BTreeMap;

use super::market::{self, Dice, cart_by_chance};
use super::{int, list, sold};
use crate::kit::{Shop, as_read};

#[tokio::test]
async fn each_of_two_hundred_quotes_sold_again_equals_itself_and_adds_up() {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let mut note = |what: &str, is: bool| *seen.entry(what.to_owned()).or_default() += usize::from(is);
    for (seed, rounding) in [(29, "line"), (30, "invoice")] {
        let shop = Shop::open_with(|own| own.tax_rounding = rounding.into()).await;
        market::fill(&shop).await;
        let person = shop.selling().await;
        let dice = Dice::of(seed);
        for _ in 0..100 {
            let cart = cart_by_chance(&dice, &person).await;
            let (_, sale) = sold(&person, cart.clone()).await;
            let path = format!("/pos/sales/{}", sale["id"].as_str().expect("an id"));
            assert_eq!(person.get(&path).await.ok(200), as_read(&sale), "it is stored as it was answered");
            note("cartDiscount", int(&sale, "cartDiscount") > 0);
            note("customer", sale["customerId"].is_string());
            note("exempt", sale["taxExempt"] == true);
            for item in list(&sale, "saleItems") {
                for saving in list(item, "specialDetails") {
                    note(saving["code"].as_str().expect("a code"), true);
                }
                note(item["priceSource"].as_str().expect("a source"), true);
                note("lineDiscount", int(item, "lineDiscount") > 0);
                note("charge", item["chargeOf"].is_string());
                note("pack", item["scannedCode"].as_str().is_some_and(|code| code.starts_with("CASE")));
            }
        }
    }
    // Each of them was really tried.
    for what in [
        "PERCENT",
        "AMOUNT",
        "FIXED",
        "FREE",
        "THREE-4",
        "THREE-5",
        "THREE-9",
        "HALF-5",
        "HALF-6",
        "FIRST",
        "BAKERY",
        "ALL",
        "CLUB",
        "HERE",
        "RIPE",
        "default",
        "store",
        "override",
        "open",
        "label",
        "lineDiscount",
        "cartDiscount",
        "charge",
        "pack",
        "customer",
        "exempt",
    ] {
        assert!(seen.get(what).is_some_and(|times| *times > 2), "{what}: {seen:?}");
    }
    for never in ["ABOVE", "THERE", "PLUMS", "ENDED", "OFF"] {
        assert!(!seen.contains_key(never), "{never}: {seen:?}");
    }
}
