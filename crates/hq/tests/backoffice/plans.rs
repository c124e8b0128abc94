//! How the databases read the lists of headquarters that grow without end: along an index, in its order.

use tillkeep_hq::backoffice::plain::Rules;
use tillkeep_hq::backoffice::sales;
use tillkeep_hq::testing::Databases as _;
use tillkeep_http::resource::{self, ListSpec, Query};
use tillkeep_storage::entity::{product, sale};
use tillkeep_storage::raw;
use tillkeep_storage::raw::sea_orm::{ConnectionTrait, DbBackend, EntityTrait, QuerySelect, QueryTrait, Select};
use uuid::Uuid;

use super::kit::Kit;

/// How this page is read, in the words of the database.
async fn plan<E: EntityTrait>(kit: &Kit, spec: &ListSpec, query: &Query, base: Select<E>) -> String {
    let (select, paging) = resource::selected(spec, query, base).expect("a list");
    let page = select.limit(paging.size).offset(paging.offset());
    let conn = kit.hq.db().snapshot().await.expect("a snapshot");
    let backend = conn.get_database_backend();
    let statement = page.build(backend);
    let explain = match backend {
        DbBackend::Postgres => {
            // In an empty table everything is as quick as anything else.
            for setting in ["enable_seqscan", "enable_sort", "enable_bitmapscan"] {
                raw::execute(&conn, &format!("SET LOCAL {setting} = off"), []).await.expect("a setting");
            }
            "EXPLAIN"
        }
        _ => "EXPLAIN QUERY PLAN",
    };
    let values = statement.values.map(|values| values.0).unwrap_or_default();
    let rows = raw::query(&conn, &format!("{explain} {}", statement.sql), values).await.expect("a plan");
    let column = if backend == DbBackend::Postgres { "QUERY PLAN" } else { "detail" };
    let lines: Vec<String> = rows.iter().map(|row| row.try_get("", column).expect("a line")).collect();
    lines.join("\n")
}

fn asked(pairs: &[(&str, &str)]) -> Query {
    pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
}

#[tokio::test]
async fn each_long_list_is_read_in_the_order_of_an_index() {
    let kit = Kit::new().await;
    let products = <product::Entity as Rules>::LIST;
    for (sort, page) in [("name", "1"), ("name", "900"), ("-name", "1")] {
        let plan = plan(&kit, &products, &asked(&[("sort", sort), ("page", page)]), product::Entity::find()).await;
        assert!(plan.contains("ix_products_name_id_deleted_at"), "{sort} {page}: {plan}");
        assert!(!plan.contains("ORDER BY") && !plan.contains("Sort"), "{sort} {page}: {plan}");
    }
    let store = Uuid::now_v7().to_string();
    for (pairs, index) in [
        (vec![], "ix_sales_completed_at_id"),
        (vec![("page", "2000")], "ix_sales_completed_at_id"),
        (vec![("sort", "completedAt")], "ix_sales_completed_at_id"),
        (vec![("storeId", store.as_str())], "ix_sales_store_id_completed_at_id"),
        (vec![("flagged", "true")], "ix_sales_completed_at_id_flags"),
    ] {
        let mut query = asked(&pairs);
        let select = sales::narrowed(&mut query, sale::Entity::find()).expect("a list");
        let plan = plan(&kit, &sales::LIST, &query, select).await;
        let named = plan.split_whitespace().any(|word| word.trim_matches('"') == index);
        assert!(named, "{pairs:?}: {plan}");
        assert!(!plan.contains("ORDER BY") && !plan.contains("Sort"), "{pairs:?}: {plan}");
    }
}
