//! Rows as a store sends them: the columns in the order of its table, then the lists of lines. Headquarters reads them quickest so,
//! and an object of `serde_json` has its keys by the alphabet.

use anyhow::{Context as _, Result};
use serde_json::Value;
use tillkeep_model::wire::camel;
use tillkeep_storage::registry;
use tillkeep_storage::rows::SyncTable;

/// The order of the members of a type.
pub(super) struct Order {
    columns: Vec<String>,
    /// The keys of its lists with the orders of their lines.
    lists: Vec<(&'static str, Self)>,
}

impl Order {
    /// That of a type, by its name on the wire.
    pub(super) fn of(name: &str) -> Result<Self> {
        let entity = registry::find(name).with_context(|| format!("{name} is not a type of the registry"))?;
        let lists = entity.children.iter().map(|child| (child.key, Self::of_table(child.table)));
        Ok(Self { lists: lists.collect(), ..Self::of_table(entity.table) })
    }

    fn of_table(table: &dyn SyncTable) -> Self {
        Self { columns: table.columns().into_iter().map(camel).collect(), lists: Vec::new() }
    }

    /// `row` as a store sends it.
    pub(super) fn text(&self, row: &Value) -> String {
        let columns = self.columns.iter().filter_map(|key| Some(format!("\"{key}\":{}", row.get(key)?)));
        let lists = self.lists.iter().filter_map(|(key, order)| {
            let lines: Vec<String> = row.get(key)?.as_array()?.iter().map(|line| order.text(line)).collect();
            Some(format!("\"{key}\":[{}]", lines.join(",")))
        });
        let members: Vec<String> = columns.chain(lists).collect();
        format!("{{{}}}", members.join(","))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_row_is_sent_in_the_order_of_its_columns_and_then_its_lines() {
        let payment = json!({"amount": 1, "saleId": "s", "id": "p"});
        let row = json!({"salePayments": [payment], "status": "completed", "note": null, "id": "s"});
        let text = Order::of("sales").expect("a type").text(&row);
        let sent = r#"{"id":"s","status":"completed","note":null,"salePayments":[{"id":"p","saleId":"s","amount":1}]}"#;
        assert_eq!(text, sent);
    }
}
