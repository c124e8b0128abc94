//! How the databases read the lists of headquarters that grow without end: along an index, in its order.

use tillkeep_hq::backoffice::plain::Rules;
use tillkeep_hq::backoffice::sales;
use tillkeep_hq::testing::Databases as _;
use tillkeep_http::cursor;
use tillkeep_http::resource::{self, ListSpec, Query};
use tillkeep_storage::entity::{customer, product, sale};
use tillkeep_storage::raw::sea_orm::sea_query::{Expr, SelectStatement};
use tillkeep_storage::raw::sea_orm::{
    ConnectionTrait, DbBackend, EntityTrait, Order, QueryFilter, QuerySelect, QueryTrait, Select,
};
use tillkeep_storage::reports::listed;
use tillkeep_storage::{raw, sought};
use uuid::Uuid;

use super::kit::Kit;

/// How this page is found, in the words of the database.
async fn plan<E: EntityTrait>(kit: &Kit, spec: &ListSpec, query: &Query, base: Select<E>) -> String {
    let narrowed = resource::narrowed(spec, query, base).expect("a list");
    explained(kit, &resource::page_keys(spec, query, narrowed).expect("a page").0).await
}

async fn explained(kit: &Kit, select: &SelectStatement) -> String {
    let conn = kit.hq.db().snapshot().await.expect("a snapshot");
    let backend = conn.get_database_backend();
    let statement = backend.build(select);
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
        assert!(plan.contains("ix_products_name_id"), "{sort} {page}: {plan}");
        assert!(!plan.contains("ORDER BY") && !plan.contains("Sort"), "{sort} {page}: {plan}");
    }
}

#[tokio::test]
async fn products_and_customers_are_looked_for_in_an_index_of_what_they_are_looked_for_by() {
    async fn looked_for<E: Rules>(kit: &Kit, index: &str) {
        let table = E::default();
        let sought = sought::of(table.table_name()).expect("looked for");
        let select = resource::narrowed(&E::LIST, &Query::new(), E::find()).expect("a list");
        let select = select.filter(sought.contains("\u{d6}l"));
        let page =
            explained(kit, &resource::page_keys(&E::LIST, &Query::new(), select.clone()).expect("a page").0).await;
        let counted = explained(kit, &select.select_only().expr(Expr::cust("COUNT(*)")).into_query()).await;
        for plan in [&page, &counted] {
            // Of an empty table PostgreSQL may take any index.
            assert!(plan.contains("Index") || plan.contains(index) && plan.contains("COVERING INDEX"), "{plan}");
            assert!(plan.contains("Index") || !plan.contains("ORDER BY"), "{plan}");
        }
        for column in sought.columns {
            assert!(E::LIST.search.iter().any(|name| snake(name) == *column), "{column} is not what the list names");
        }
        assert_eq!(E::LIST.search.len(), sought.columns.len());
    }
    let kit = Kit::new().await;
    looked_for::<product::Entity>(&kit, "ix_products_name_id_deleted_at_is_active_search_text").await;
    looked_for::<customer::Entity>(&kit, "ix_customers_customer_number_id_deleted_at_is_active_tax_exempt").await;
}

fn snake(name: &str) -> String {
    name.chars()
        .map(
            |letter| {
                if letter.is_ascii_uppercase() {
                    format!("_{}", letter.to_ascii_lowercase())
                } else {
                    letter.to_string()
                }
            },
        )
        .collect()
}

#[tokio::test]
async fn sales_of_a_rare_tender_are_found_by_it_and_those_of_another_in_their_order() {
    let kit = Kit::new().await;
    let newest = asked(&[("sort", "-completedAt")]);
    for is_rare in [true, false] {
        let select = listed::paid_with(sale::Entity::find(), "CARD", is_rare);
        let page = plan(&kit, &sales::LIST, &newest, select).await;
        assert!(page.contains("ix_sale_payments_"), "{page}");
        // Of an empty table PostgreSQL takes either for the other.
        if page.contains("USING") && !page.contains("Scan") {
            assert_eq!(page.contains("ix_sales_completed_at_id_business_date_status_sale_type"), !is_rare, "{page}");
            assert_eq!(page.contains("ORDER BY"), is_rare, "{page}");
            assert!(!is_rare || page.contains("ix_sale_payments_tender_code_sale_id"), "{page}");
        }
    }
}

/// One page each of whatever a list of sales can be narrowed to and sorted by.
#[tokio::test]
async fn sales_are_found_in_an_index_that_has_all_of_what_is_asked_about_them() {
    let kit = Kit::new().await;
    let snapshot = kit.hq.db().snapshot().await.expect("a snapshot");
    let is_postgres = snapshot.get_database_backend() == DbBackend::Postgres;
    drop(snapshot);
    let store = Uuid::now_v7().to_string();
    let of_store = "ix_sales_store_id_completed_at_id_business_date_status";
    let newest = "ix_sales_completed_at_id_business_date_status_sale_type";
    let of_day = "ix_sales_business_date_store_id_completed_at_id";
    let newest_first = [sale::Column::CompletedAt, sale::Column::Id].map(|column| (column, Order::Desc)).to_vec();
    let far_back = cursor::after(&sale::Model::default(), "-completedAt", 2000, &newest_first);
    // Those with one number, or of a day, are few enough to be read and sorted.
    for (pairs, index, are_few) in [
        (vec![], newest, false),
        (vec![("page", "2000")], newest, false),
        (vec![("cursor", far_back.as_str())], newest, false),
        (vec![("cursor", far_back.as_str()), ("status", "completed")], newest, false),
        (vec![("cursor", far_back.as_str()), ("storeId", store.as_str())], of_store, false),
        (vec![("sort", "completedAt")], newest, false),
        (vec![("status", "completed")], newest, false),
        (vec![("saleType", "sale")], newest, false),
        (vec![("flagged", "true")], "ix_sales_completed_at_id_flags", false),
        (vec![("storeId", store.as_str())], of_store, false),
        (vec![("storeId", store.as_str()), ("status", "completed")], of_store, false),
        (vec![("storeId", store.as_str()), ("saleType", "refund")], of_store, false),
        (vec![("storeId", store.as_str()), ("registerCode", "02")], of_store, false),
        (vec![("status", "voided")], "ix_sales_status_completed_at_id", false),
        (vec![("saleType", "refund")], "ix_sales_sale_type_completed_at_id", false),
        (vec![("receiptNumber", "S01-02-00000007")], "ix_sales_receipt_number_id", true),
        (vec![("receiptNumber", "S01-02-00000007"), ("status", "voided")], "ix_sales_receipt_number_id", true),
        (vec![("sort", "-receiptNumber")], "ix_sales_receipt_number_id", false),
        (vec![("sort", "-totalAmount")], "ix_sales_total_amount_id", false),
        (vec![("cashierUserId", store.as_str())], "ix_sales_cashier_user_id_completed_at_id", false),
        (vec![("businessDateFrom", "2026-11-20"), ("businessDateTo", "2026-11-20")], of_day, true),
        (
            vec![("businessDateFrom", "2026-11-14"), ("businessDateTo", "2026-11-20"), ("status", "completed")],
            of_day,
            true,
        ),
        (vec![("customerId", &store), ("status", "completed")], "ix_sales_customer_id", true),
        (vec![("storeId", &store), ("businessDateFrom", "2026-11-20"), ("businessDateTo", "2026-11-20")], of_day, true),
    ] {
        let mut query = asked(&pairs);
        let select = sales::narrowed(&mut query, sale::Entity::find()).expect("a list");
        let page = plan(&kit, &sales::LIST, &query, select.clone()).await;
        let named = page.split_whitespace().any(|word| word.trim_matches('"') == index);
        // Of an empty table PostgreSQL may take the index of either filter, and sorts nothing here.
        assert!(named || is_postgres && (are_few || pairs.len() > 1), "{pairs:?}: {page}");
        if are_few || !named {
            continue;
        }
        assert!(!page.contains("ORDER BY") && !page.contains("Sort"), "{pairs:?}: {page}");
        let only_index = if is_postgres { "Index Only Scan" } else { "COVERING INDEX" };
        assert!(page.contains(only_index), "{pairs:?}: {page}");
        // Those before it are passed over in the index, and not read.
        let begins_there = page.contains("completed_at<?") || page.contains("completed_at <=");
        assert!(pairs.iter().all(|(key, _)| *key != "cursor") || begins_there, "{pairs:?}: {page}");
        let all = resource::narrowed(&sales::LIST, &query, select).expect("a list");
        let counted = all.select_only().expr(Expr::cust("COUNT(*)")).into_query();
        let counted = explained(&kit, &counted).await;
        assert!(counted.contains(only_index), "{pairs:?}: {counted}");
    }
}
