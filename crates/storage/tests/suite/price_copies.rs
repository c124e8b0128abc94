//! Copies of the default price in the rows of stores: what the checker says of a wrong one. That none comes about is in
//! `crates/hq/tests/backoffice/price_copies.rs`.

use tillkeep_model::Money;
use tillkeep_storage::entity::store_product;
use tillkeep_storage::verify::{self, Options, Source};
use tillkeep_storage::{Db, Side, settings};

use crate::kit::chain::{Chain, id};
use crate::kit::envelopes::{create_sale, push};
use crate::kit::{Shop, both};

/// What the checker says of the price copies of one server, by product.
async fn wrong_copies(source: Source, settled: bool) -> Vec<String> {
    let hq = Some(&source).filter(|source| source.store().is_nil());
    let stores = if hq.is_none() { std::slice::from_ref(&source) } else { &[] };
    let options = Options { settled, ..Options::default() };
    let findings = verify::run(hq, stores, &options).await.expect("a verdict");
    let copies = findings.into_iter().filter(|finding| finding.text.contains("a price that follows the product"));
    copies.map(|finding| format!("{} {} {}", finding.invariant, finding.id, finding.text)).collect()
}

#[tokio::test]
async fn a_copy_that_is_not_the_price_of_its_product_is_found_at_headquarters_and_in_the_store() {
    for hq in both().await {
        let chain = Chain::found(&hq).await;
        let sale = create_sale(&chain.first, id("sale"), &[(chain.tea, 1), (chain.rice, 1)]);
        push(&hq, &chain.first, &[sale]).await;
        let shop = Shop::open(chain.first.store_id).await;
        shop.pull_everything(&hq, 100).await;
        let tx = shop.begin().await;
        settings::set(&tx, "store_id", &shop.id.to_string()).await.expect("a setting");
        tx.commit().await.expect("a commit");
        let no_findings: Vec<String> = Vec::new();
        let source = async |db: &Db, side| Source::new(db.reader(), side).await.expect("a source");
        assert_eq!(wrong_copies(source(&hq.db, Side::Hq).await, false).await, no_findings);
        assert_eq!(wrong_copies(source(&shop.db, Side::Store).await, true).await, no_findings);

        let row = hq.stock(chain.first.store_id, chain.tea).await.expect("a row");
        hq.edit::<store_product::Entity>(row.id, |row| row.price += Money(1)).await;
        let own = hq.stock(chain.first.store_id, chain.rice).await.expect("a row");
        hq.edit::<store_product::Entity>(own.id, |row| (row.price, row.has_price_override) = (Money(1), true)).await;
        shop.pull_everything(&hq, 100).await;
        let found = format!("I7 {} a price that follows the product is not the product's: 2000, not 1999", chain.tea);
        let found = vec![found];
        assert_eq!(wrong_copies(source(&hq.db, Side::Hq).await, false).await, found);
        assert_eq!(wrong_copies(source(&shop.db, Side::Store).await, true).await, found);
    }
}
