//! What rows are called where users read of them.

use std::collections::BTreeSet;

use tillkeep_storage::entity::customer;
use tillkeep_storage::reports::names;
use uuid::Uuid;

use crate::kit;

#[tokio::test]
async fn a_customer_is_called_by_number_person_and_company() {
    let called = [
        ("C1", Some("Ada"), Some("Byron"), Some("Engines"), "C1 Ada Byron Engines"),
        ("C2", Some("Ada"), None, None, "C2 Ada"),
        ("C3", None, None, Some("Engines"), "C3 Engines"),
        ("C4", Some(""), Some("Byron"), Some(""), "C4 Byron"),
        ("C5", None, None, None, "C5"),
    ];
    for hq in kit::both().await {
        let text = |text: Option<&str>| text.map(str::to_owned);
        let rows = called.map(|(number, first, last, company, _)| customer::Model {
            id: Uuid::now_v7(),
            customer_number: number.to_owned(),
            first_name: text(first),
            last_name: text(last),
            company_name: text(company),
            ..customer::Model::default()
        });
        hq.insert::<customer::Entity>(rows).await;
        let numbers: BTreeSet<&str> = called.iter().map(|(number, ..)| *number).collect();
        let found = names::with_numbers(hq.db.reader(), kit::entity("customers"), &numbers).await.expect("the rows");
        let labels: BTreeSet<String> = found.into_iter().map(|row| row.label).collect();
        assert_eq!(labels, called.iter().map(|(.., label)| (*label).to_owned()).collect());
    }
}
