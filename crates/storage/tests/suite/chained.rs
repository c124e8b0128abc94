//! The chains of documents: at headquarters in whatever order they come, at a store from its first entry on. `docs/chain.md`.

use serde_json::{Value as Json, json};
use tillkeep_model::wire::{Applied, ChainHead};
use tillkeep_model::words::{ChainKind, SignatureState};
use tillkeep_model::{Money, ids};
use tillkeep_storage::entity::{chain_entry, chain_signature, register, sale, sale_chain};
use tillkeep_storage::fiscal::period::{self, Entries, Hashed};
use tillkeep_storage::fiscal::signatures::{self, Outcome};
use tillkeep_storage::fiscal::{self, Fault, Register, heads};
use tillkeep_storage::sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder};
use tillkeep_storage::verify::{self, Options, Source};
use tillkeep_storage::{Side, settings};
use uuid::Uuid;

use crate::kit::chain::{Chain, id};
use crate::kit::envelopes::{Document, create_sale, push, take, void_sale};
use crate::kit::till::{Till, with};
use crate::kit::{Hq, Shop, at, both};

async fn is_flagged(hq: &Hq, sale: Uuid) -> bool {
    let row = hq.row::<sale::Entity>(sale).await.expect("the sale");
    row.flags.0.as_array().expect("flags").contains(&json!(fiscal::CHAIN_BROKEN))
}

async fn head(hq: &Hq, chain: Uuid) -> (i64, String) {
    let row =
        sale_chain::Entity::find_by_id(chain).one(hq.db.reader()).await.expect("a read").expect("the newest entry");
    (row.number, row.hash)
}

/// What the checker says of the chains of a database.
async fn found(hq: &Hq) -> Vec<String> {
    let source = Source::new(hq.db.reader(), Side::Hq).await.expect("a source");
    let findings = verify::run(Some(&source), &[], &Options::default()).await.expect("a verdict");
    findings.into_iter().filter(|finding| finding.invariant == "I15").map(|finding| finding.to_string()).collect()
}

/// What an auditor gets of the day, from whom nothing is left out: numbers and hashes.
async fn exported(hq: &Hq) -> Vec<(i64, String)> {
    let snapshot = hq.db.snapshot().await.expect("a snapshot");
    let mut all = Vec::new();
    for chain in period::chains(&snapshot, "2026-11-20", "2026-11-20").await.expect("the chains") {
        let mut entries = Entries::begin(&snapshot, &chain).await.expect("its entries");
        loop {
            let page = entries.page().await.expect("a page");
            if page.is_empty() {
                break;
            }
            for Hashed { number, hash, line, .. } in page {
                assert_eq!(line.as_deref().map(fiscal::hash), Some(hash.clone()), "number {number}");
                all.push((number, hash));
            }
        }
    }
    all
}

#[tokio::test]
async fn entries_come_in_any_order_and_their_gaps_close() {
    for hq in both().await {
        let chain = Chain::found(&hq).await;
        for (turn, order) in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]].into_iter().enumerate()
        {
            let mut till = Till::new(&chain.first, &format!("chain {turn}"));
            let sales: Vec<Json> = (0..3).map(|number| till.sell(&chain, &format!("{turn} {number}"), 1)).collect();
            for place in order {
                take(&hq, &chain.first, &sales[place]).await;
                assert_eq!(found(&hq).await, Vec::<String>::new(), "a gap is no break: {order:?}");
            }
            for number in 0..3 {
                assert!(!is_flagged(&hq, id(&format!("{turn} {number}"))).await, "{order:?}");
            }
            assert_eq!(head(&hq, till.chain).await, (3, till.last.hash.clone()), "{order:?}");
        }
        // All of a chain in one request, the last one first.
        let mut till = Till::new(&chain.first, "at once");
        let mut sales: Vec<Json> = (0..3).map(|number| till.sell(&chain, &format!("at once {number}"), 1)).collect();
        sales.reverse();
        push(&hq, &chain.first, &sales).await;
        assert_eq!(head(&hq, till.chain).await, (3, till.last.hash.clone()));
        assert_eq!(found(&hq).await, Vec::<String>::new());
    }
}

#[tokio::test]
async fn a_void_brings_the_second_entry_of_its_sale_and_nothing_else_changes_the_first() {
    for hq in both().await {
        let chain = Chain::found(&hq).await;
        let mut till = Till::new(&chain.first, "chain");
        let sold = till.sell(&chain, "voided", 2);
        let first = till.last.clone();
        take(&hq, &chain.first, &sold).await;
        let mut void = void_sale(&chain.first, id("voided"), &[(chain.tea, 2)]);
        with(&mut void, &first);
        till.next(&mut void, ChainKind::Void);
        assert_eq!(take(&hq, &chain.first, &void).await, Applied::Updated);
        let kept = chain_entry::Entity::find().filter(chain_entry::Column::SaleId.eq(id("voided")));
        let kept = kept.order_by_asc(chain_entry::Column::Number).all(hq.db.reader()).await.expect("the entries");
        assert_eq!(kept, [first, till.last.clone()]);
        assert_eq!(till.last.running_total, Money::ZERO);
        assert!(!is_flagged(&hq, id("voided")).await);
        assert_eq!(take(&hq, &chain.first, &void).await, Applied::Duplicate);
        assert_eq!(found(&hq).await, Vec::<String>::new());
    }
}

#[tokio::test]
async fn a_document_that_came_before_headquarters_knew_of_chains_is_whole_when_its_entries_come() {
    for hq in both().await {
        let chain = Chain::found(&hq).await;
        let mut till = Till::new(&chain.first, "chain");
        let mut ahead = create_sale(&chain.first, id("ahead"), &[(chain.tea, 2)]);
        ahead["data"]["prepaid"] = json!(true);
        let first = till.next(&mut ahead, ChainKind::Sale);
        // What a headquarters of the release before took of it.
        let data = ahead["data"].as_object_mut().expect("data");
        data.retain(|key, _| !["prepaid", "chainEntries"].contains(&key.as_str()));
        take(&hq, &chain.first, &ahead).await;
        let mut void = void_sale(&chain.first, id("ahead"), &[(chain.tea, 2)]);
        void["data"]["prepaid"] = json!(true);
        with(&mut void, &first);
        till.next(&mut void, ChainKind::Void);
        assert_eq!(take(&hq, &chain.first, &void).await, Applied::Updated);
        assert!(!is_flagged(&hq, id("ahead")).await);
        assert_eq!(found(&hq).await, Vec::<String>::new());
    }
}

#[tokio::test]
async fn a_document_that_is_not_what_was_hashed_is_taken_and_flagged() {
    for hq in both().await {
        let chain = Chain::found(&hq).await;
        let mut till = Till::new(&chain.first, "chain");
        let before = till.sell(&chain, "before", 1);
        let mut changed = till.sell(&chain, "changed", 1);
        let after = till.sell(&chain, "after", 1);
        changed["data"]["saleItems"][0]["sku"] = "ANOTHER".into();
        let pushed = push(&hq, &chain.first, &[before, changed, after]).await;
        assert!(pushed.results.iter().all(|result| result.applied == Some(Applied::Inserted)));
        assert!(is_flagged(&hq, id("changed")).await);
        for fine in ["before", "after"] {
            assert!(!is_flagged(&hq, id(fine)).await, "{fine}: the hashes follow from each other");
        }
        let warning = hq.log().await.into_iter().find(|row| row.entity_id == id("changed").to_string());
        assert_eq!(warning.and_then(|row| row.warning).as_deref(), Some(fiscal::CHAIN_BROKEN));
        assert_eq!(found(&hq).await, Vec::<String>::new(), "what is flagged is known");
        let snapshot = hq.db.snapshot().await.expect("a snapshot");
        let breaks = fiscal::check(&snapshot).await.expect("a verdict").breaks;
        let breaks: Vec<_> = breaks.into_iter().map(|broken| (broken.number, broken.fault)).collect();
        assert_eq!(breaks, [(2, Fault::Hash)]);
    }
}

#[tokio::test]
async fn two_entries_under_one_number_and_one_that_follows_from_another_one_are_flagged_with_their_neighbours() {
    for hq in both().await {
        let chain = Chain::found(&hq).await;
        let mut till = Till::new(&chain.first, "chain");
        take(&hq, &chain.first, &till.sell(&chain, "first", 1)).await;
        let fork = till.last.clone();
        take(&hq, &chain.first, &till.sell(&chain, "second", 1)).await;
        let newest = till.last.hash.clone();
        // The chain is written anew from its first entry on.
        till.last = fork;
        let again = till.sell(&chain, "again", 2);
        let follows = till.sell(&chain, "follows", 1);
        take(&hq, &chain.first, &again).await;
        assert!(!is_flagged(&hq, id("first")).await, "both follow from it");
        for twice in ["second", "again"] {
            assert!(is_flagged(&hq, id(twice)).await, "{twice}");
        }
        assert_eq!(head(&hq, till.chain).await, (2, newest), "what came first is kept");
        take(&hq, &chain.first, &follows).await;
        assert!(!is_flagged(&hq, id("follows")).await, "it follows from one of the two");
        assert_eq!(found(&hq).await, Vec::<String>::new());

        let mut other = Till::new(&chain.first, "another chain");
        take(&hq, &chain.first, &other.sell(&chain, "begin", 1)).await;
        other.last.hash = "0".repeat(64);
        take(&hq, &chain.first, &other.sell(&chain, "stranger", 1)).await;
        for concerned in ["begin", "stranger"] {
            assert!(is_flagged(&hq, id(concerned)).await, "{concerned}");
        }
        assert_eq!(found(&hq).await, Vec::<String>::new());
    }
}

#[tokio::test]
async fn a_chain_begins_with_number_1_and_nothing_before_it() {
    for hq in both().await {
        let chain = Chain::found(&hq).await;
        let mut till = Till::new(&chain.first, "with something before");
        till.last.hash = "0".repeat(64);
        take(&hq, &chain.first, &till.sell(&chain, "with something before", 1)).await;
        let mut till = Till::new(&chain.first, "below");
        till.last.number = -1;
        take(&hq, &chain.first, &till.sell(&chain, "below", 1)).await;
        for concerned in ["with something before", "below"] {
            assert!(is_flagged(&hq, id(concerned)).await, "{concerned}");
        }
        assert_eq!(found(&hq).await, Vec::<String>::new());
    }
}

#[tokio::test]
async fn of_what_was_cut_off_the_hash_says_nothing() {
    for hq in both().await {
        let chain = Chain::found(&hq).await;
        let mut sold = create_sale(&chain.first, id("long"), &[(chain.tea, 1)]);
        sold["data"]["saleItems"][0]["productName"] = json!("n".repeat(501));
        Till::new(&chain.first, "chain").next(&mut sold, ChainKind::Sale);
        take(&hq, &chain.first, &sold).await;
        let kept = hq.row::<sale::Entity>(id("long")).await.expect("the sale");
        assert_eq!(kept.flags.0, json!(["cut:saleItems.productName"]));
        assert_eq!(found(&hq).await, Vec::<String>::new());
    }
}

#[tokio::test]
async fn a_chain_of_more_entries_than_are_read_at_once_is_checked_and_exported_to_its_end() {
    for hq in both().await {
        let chain = Chain::found(&hq).await;
        let sales = ["sold", "again"].map(|name| create_sale(&chain.first, id(name), &[(chain.tea, 1)]));
        push(&hq, &chain.first, &sales).await;
        let mut long = Till { chain: Uuid::from_u128(1), ..Till::new(&chain.first, "long") };
        let mut entries = long.many(&sales[0], 499);
        // Two of number 500: as many are read at once, and the second one is the first of those behind.
        let fork = long.last.clone();
        entries.extend(long.many(&sales[0], 1));
        long.last = fork;
        entries.extend(long.many(&sales[1], 101));
        let mut other = Till { chain: Uuid::from_u128(2), ..Till::new(&chain.first, "other") };
        entries.extend(other.many(&sales[0], 200));
        let wanted: Vec<i64> = (1..=500).chain(500..=600).chain(1..=200).collect();
        hq.insert::<chain_entry::Entity>(entries).await;
        let newest = [&long, &other].map(|till| sale_chain::Model {
            chain_id: till.chain,
            store_id: chain.first.store_id,
            number: till.last.number,
            hash: till.last.hash.clone(),
            ..sale_chain::Model::default()
        });
        hq.insert::<sale_chain::Entity>(newest).await;
        let snapshot = hq.db.snapshot().await.expect("a snapshot");
        let checked = fiscal::check(&snapshot).await.expect("a verdict");
        assert_eq!((checked.chains, checked.entries), (2, 801));
        let breaks: Vec<_> = checked.breaks.iter().map(|broken| (broken.number, broken.fault)).collect();
        assert_eq!(breaks, [(500, Fault::Twice), (500, Fault::Twice)]);
        let numbers: Vec<i64> = exported(&hq).await.into_iter().map(|(number, _)| number).collect();
        assert_eq!(numbers, wanted);
    }
}

#[tokio::test]
async fn entries_of_a_form_that_is_not_known_are_kept_and_not_judged() {
    for hq in both().await {
        let chain = Chain::found(&hq).await;
        let mut till = Till::new(&chain.first, "chain");
        let mut newer = create_sale(&chain.first, id("newer"), &[(chain.tea, 1)]);
        let mut entry = till.next(&mut newer, ChainKind::Sale);
        (entry.version, entry.hash) = (9, "of another form".into());
        newer["data"]["chainEntries"] = json!([entry]);
        till.last = entry.clone();
        take(&hq, &chain.first, &newer).await;
        take(&hq, &chain.first, &till.sell(&chain, "known", 1)).await;
        for name in ["newer", "known"] {
            assert!(!is_flagged(&hq, id(name)).await, "{name}");
        }
        assert_eq!(hq.row::<chain_entry::Entity>(entry.id).await, Some(entry));
        let snapshot = hq.db.snapshot().await.expect("a snapshot");
        let checked = fiscal::check(&snapshot).await.expect("a verdict");
        assert_eq!((checked.entries, checked.unknown, checked.breaks), (2, 1, Vec::new()));
    }
}

#[tokio::test]
async fn what_is_kept_under_another_id_is_judged_by_the_ids_that_its_store_gave() {
    for hq in both().await {
        let chain = Chain::found(&hq).await;
        take(&hq, &chain.second, &create_sale(&chain.second, id("used"), &[(chain.tea, 1)])).await;
        let mut till = Till::new(&chain.first, "chain");
        let sold = till.sell(&chain, "used", 2);
        let first = till.last.clone();
        take(&hq, &chain.first, &sold).await;
        let kept = ids::elsewhere(chain.first.store_id, id("used"));
        assert!(!is_flagged(&hq, kept).await);
        let mut void = void_sale(&chain.first, id("used"), &[(chain.tea, 2)]);
        with(&mut void, &first);
        till.next(&mut void, ChainKind::Void);
        take(&hq, &chain.first, &void).await;
        assert!(!is_flagged(&hq, kept).await);
        assert_eq!(found(&hq).await, Vec::<String>::new());
        assert_eq!(exported(&hq).await, [(1, first.hash), (2, till.last.hash.clone())]);
    }
}

#[tokio::test]
async fn documents_without_an_entry_are_counted_and_not_blamed() {
    for hq in both().await {
        let chain = Chain::found(&hq).await;
        take(&hq, &chain.first, &create_sale(&chain.first, id("of before"), &[(chain.tea, 1)])).await;
        take(&hq, &chain.first, &Till::new(&chain.first, "chain").sell(&chain, "of now", 1)).await;
        let snapshot = hq.db.snapshot().await.expect("a snapshot");
        let checked = fiscal::check(&snapshot).await.expect("a verdict");
        assert_eq!((checked.chains, checked.entries, checked.without_entry), (1, 1, 1));
        assert_eq!(checked.breaks, []);
    }
}

/// A store with a register that sells.
async fn selling(chain: &Chain) -> Shop {
    let shop = Shop::open(chain.first.store_id).await;
    let register = register::Model { id: id("register"), code: "01".into(), is_active: true, ..Default::default() };
    shop.insert::<register::Entity>(register).await;
    let tx = shop.begin().await;
    settings::set(&tx, "store_id", &shop.id.to_string()).await.expect("a setting");
    settings::set(&tx, settings::EPOCH, "one database").await.expect("a setting");
    tx.commit().await.expect("a commit");
    shop
}

/// The entry that a sale of the store gets.
async fn next(shop: &Shop, chain: &Chain, name: &str, letter: &str) -> chain_entry::Model {
    let document = Document::read(&create_sale(&chain.first, id(name), &[(chain.tea, 1)])["data"]);
    let of = Register { store_id: shop.id, register_id: id("register"), register_code: "01", letter };
    let tx = shop.begin().await;
    let entry = fiscal::next(&tx, &of, ChainKind::Sale, at(0), &document.rows()).await.expect("an entry");
    sale::Entity::insert_many([sale_row(&document)]).exec_without_returning(&tx).await.expect("a sale");
    let row: chain_entry::ActiveModel = entry.clone().into();
    chain_entry::Entity::insert_many([row]).exec_without_returning(&tx).await.expect("a row");
    tx.commit().await.expect("a commit");
    entry
}

fn sale_row(document: &Document) -> sale::ActiveModel {
    document.rows().sale.clone().into()
}

async fn compare(shop: &Shop, at_hq: &[ChainHead]) -> Vec<String> {
    let tx = shop.begin().await;
    let rewritten = heads::compare(&tx, shop.id, at_hq).await.expect("a comparison");
    tx.commit().await.expect("a commit");
    rewritten.into_iter().collect()
}

fn said(entry: &chain_entry::Model) -> ChainHead {
    ChainHead {
        chain_id: entry.chain_id,
        register_code: entry.register_code.clone(),
        number: entry.number,
        hash: entry.hash.clone(),
        running_total: entry.running_total,
        at: entry.at,
    }
}

#[tokio::test]
async fn each_letter_and_each_database_begins_a_chain_that_names_the_last_hash_of_the_one_before() {
    let hq = Hq::sqlite().await;
    let chain = Chain::found(&hq).await;
    let shop = selling(&chain).await;
    let first = next(&shop, &chain, "first", "").await;
    let second = next(&shop, &chain, "second", "").await;
    assert_eq!((first.number, first.follows.clone(), first.previous_hash.as_str()), (1, None, ""));
    assert_eq!((second.number, second.follows.clone(), &second.previous_hash), (2, None, &first.hash));
    assert_eq!(second.running_total, Money(2 * 1999));
    let lettered = next(&shop, &chain, "lettered", "A").await;
    assert_eq!((lettered.number, lettered.follows.as_ref()), (1, Some(&second.hash)));
    assert_ne!(lettered.chain_id, second.chain_id);
    assert_eq!(next(&shop, &chain, "named once", "A").await.follows, None);

    // The database is put back, and headquarters has more of the chain than came with it; there is no line at first.
    shop.execute("UPDATE sync_state SET value = 'another database' WHERE key = 'epoch'", []).await;
    let restored = next(&shop, &chain, "restored", "").await;
    assert_eq!(restored.number, 1);
    assert!(restored.follows.is_some(), "what is known here");
    let mut lost = said(&second);
    (lost.number, lost.hash, lost.at) = (40, "f".repeat(64), at(3600));
    assert_eq!(compare(&shop, &[lost.clone(), said(&restored)]).await, Vec::<String>::new(), "it is another chain's");
    let named = next(&shop, &chain, "named later", "").await;
    assert_eq!((named.number, named.follows), (2, Some(lost.hash)));
    assert_eq!(next(&shop, &chain, "named once more", "").await.follows, None);
}

#[tokio::test]
async fn a_chain_that_was_written_anew_at_its_store_is_seen_in_the_handshake() {
    let hq = Hq::sqlite().await;
    let chain = Chain::found(&hq).await;
    let shop = selling(&chain).await;
    let first = next(&shop, &chain, "first", "").await;
    let second = next(&shop, &chain, "second", "").await;
    for known in [&first, &second] {
        assert_eq!(compare(&shop, &[said(known)]).await, Vec::<String>::new(), "headquarters may have less");
    }
    let other = ChainHead { hash: "0".repeat(64), ..said(&second) };
    assert_eq!(compare(&shop, &[other]).await, ["01"]);
    let further = ChainHead { number: 3, ..said(&second) };
    assert_eq!(compare(&shop, &[further]).await, ["01"], "its end was cut off");
    // What headquarters says of a chain of this database is kept nowhere.
    let kept = sale_chain::Entity::find_by_id(second.chain_id).one(shop.db.reader()).await.expect("a read");
    assert_eq!(kept.map(|kept| (kept.number, kept.hash)), Some((2, second.hash)));
}

#[tokio::test]
async fn what_the_device_did_not_sign_is_found_again_and_what_it_signed_stays() {
    let hq = Hq::sqlite().await;
    let chain = Chain::found(&hq).await;
    let shop = selling(&chain).await;
    next(&shop, &chain, "before the device", "").await;
    let collect = async || {
        let tx = shop.begin().await;
        signatures::collect(&tx, shop.id, at(0)).await.expect("the new ones");
        tx.commit().await.expect("a commit");
        let waiting = signatures::unsigned(shop.db.reader(), SignatureState::Waiting).await.expect("what waits");
        waiting.into_iter().map(|unsigned| unsigned.entry_id).collect::<Vec<_>>()
    };
    assert_eq!(collect().await, Vec::<Uuid>::new());
    let first = next(&shop, &chain, "first", "").await;
    let lettered = next(&shop, &chain, "lettered", "A").await;
    let mut waiting = collect().await;
    waiting.sort_unstable();
    let mut both = [first.id, lettered.id];
    both.sort_unstable();
    assert_eq!(waiting, both);
    let keep = async |entry_id, said: Result<String, String>| {
        let tx = shop.begin().await;
        let outcome = Outcome { entry_id, said };
        signatures::keep(&tx, "device", &outcome, at(5)).await.expect("kept");
        tx.commit().await.expect("a commit");
    };
    keep(first.id, Err("its battery is empty".into())).await;
    let again =
        signatures::unsigned(shop.db.reader(), SignatureState::CouldNotSign).await.expect("what it did not sign");
    assert!(matches!(&again[..], [unsigned] if unsigned.hash == first.hash));
    let open = signatures::open(shop.db.reader()).await.expect("a count");
    assert_eq!((open.waiting, open.could_not_sign), (1, 1));
    keep(first.id, Ok("signed".into())).await;
    keep(first.id, Err("too late".into())).await;
    let rows = signatures::of_sale(shop.db.reader(), first.sale_id).await.expect("the signatures");
    let wanted = chain_signature::Model {
        entry_id: first.id,
        created_at: at(0),
        state: "signed".into(),
        signer: Some("device".into()),
        signature: Some("signed".into()),
        error: None,
        signed_at: Some(at(5)),
        attempts: 2,
    };
    assert_eq!(rows, [wanted]);
    assert_eq!(collect().await, [lettered.id]);
}
