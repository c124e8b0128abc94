//! What the statements of a list do about large tables, in the words of the database.

use serde_json::Value as Json;
use tillkeep_storage::raw::sea_orm::Statement;
use tillkeep_storage::{Db, count, raw};

use super::large::Words;

/// So many rows may be read or put in order for an answer.
const FEW: u64 = 2_500;
/// What grows without end.
const LARGE: [&str; 11] = [
    "products",
    "customers",
    "store_product_dynamic",
    "sales",
    "sale_items",
    "sale_payments",
    "register_sessions",
    "inventory_adjustments",
    "audit_log",
    "sync_log",
    "alerts",
];
/// Indexes with few rows in them: to go through all of such a one is to look them up.
const OF_FEW: [&str; 3] = ["ix_products_id", "ix_customers_id", "ix_sync_log_store_id_last_seen_at"];

/// Something that a list is asked for.
pub struct Asked<'a> {
    /// What is added to the path of the list.
    pub query: &'a str,
    /// What it is about: a filter, or `sort=` and what it is sorted by.
    pub about: &'a str,
}

/// What a list may do all the same.
pub struct Anyway {
    pub list: &'static str,
    /// As in [`Asked::about`], `*` for everything.
    pub about: &'static str,
    /// Whether only its total is meant.
    pub total_alone: bool,
    pub reason: &'static str,
}

/// What the statements that were heard since do about large tables that costs more the larger they are. `total` is how many rows the
/// list has that was asked for.
pub async fn faults(db: &Db, list: &str, asked: &Asked<'_>, total: u64, anyway: &[Anyway]) -> Vec<String> {
    let heard = count::heard();
    // Nothing but a sort or deleted rows: what a list leaves out is next to nothing.
    let is_whole = asked.about.starts_with("sort=") || asked.about == "includeDeleted";
    let mut faults = Vec::new();
    for statement in heard {
        let sql = statement.sql.clone();
        let is_total = sql.contains("COUNT(");
        let is_meant = |one: &&Anyway| one.list == list && (one.about == "*" || one.about == asked.about);
        let is_excused = anyway.iter().filter(is_meant).any(|one| !one.total_alone || is_total);
        if is_excused
            || !sql.starts_with("SELECT")
            || !LARGE.iter().any(|name| sql.contains(&format!("FROM \"{name}\"")))
        {
            continue;
        }
        let (plan, found) = if Words::of(db).is_postgres {
            let plan =
                explained(db, "EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF)", "QUERY PLAN", statement).await;
            let found = of_postgres(&plan);
            (plan, found)
        } else {
            let plan = explained(db, "EXPLAIN QUERY PLAN", "detail", statement).await;
            let found = of_sqlite(&plan, &sql, is_whole, total);
            (plan, found)
        };
        if !found.is_empty() {
            faults.push(format!("{list}{}: {found:#?}\n  {sql}\n  {}", asked.query, plan.join("\n  ")));
        }
    }
    faults
}

async fn explained(db: &Db, explain: &str, column: &str, statement: Statement) -> Vec<String> {
    let conn = db.snapshot().await.expect("a snapshot");
    if Words::of(db).is_postgres {
        // A table that is asked for half of its rows is read best from its begin to its end: what is asked here is whether it must be.
        for setting in ["enable_seqscan = off", "max_parallel_workers_per_gather = 0", "jit = off"] {
            raw::execute(&conn, &format!("SET LOCAL {setting}"), []).await.expect("a setting");
        }
    }
    let values = statement.values.map(|values| values.0).unwrap_or_default();
    let rows = raw::query(&conn, &format!("{explain} {}", statement.sql), values).await.expect("a plan");
    rows.iter().map(|row| row.try_get("", column).expect("a line")).collect()
}

/// `SQLite` plans without figures, so that its plan is that of any size.
fn of_sqlite(plan: &[String], sql: &str, is_whole: bool, total: u64) -> Vec<String> {
    const SORTED: &str = "USE TEMP B-TREE FOR ORDER BY";
    let (is_total, has_limit) = (sql.contains("COUNT("), sql.contains(" LIMIT "));
    // The rows of a page, which was found before, are put in order once more.
    let is_of_page = sql.rfind(") ORDER BY") > sql.rfind(" LIMIT ") && has_limit;
    let plan = match plan.split_last() {
        Some((last, before)) if is_of_page && last == SORTED => before,
        _ => plan,
    };
    let is_sorted = plan.iter().any(|line| line == SORTED);
    let is_fault = |line: &&String| {
        if *line == SORTED {
            return total > FEW;
        }
        let mut words = line.split_whitespace();
        let (way, table) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        if !LARGE.contains(&table) || line.contains("COVERING INDEX") {
            return false;
        }
        let is_key = line.contains("sqlite_autoindex") || line.contains("INTEGER PRIMARY KEY");
        match way {
            // In its order, and no further than to the end of the page.
            "SCAN" if is_whole && has_limit && !is_sorted => false,
            "SCAN" => !words.any(|word| OF_FEW.contains(&word)),
            "SEARCH" => is_total && !is_key && total > FEW,
            _ => false,
        }
    };
    plan.iter().filter(is_fault).cloned().collect()
}

/// A step of a plan of `PostgreSQL`, as it went.
struct Step {
    name: String,
    rows: u64,
    loops: u64,
    left_out: u64,
}

/// What was read, and put in order.
fn of_postgres(plan: &[String]) -> Vec<String> {
    let mut steps: Vec<Step> = Vec::new();
    for line in plan {
        let line = line.trim().trim_start_matches("->").trim();
        let number = |after: &str| {
            let rest = line.split_once(after).map_or("", |(_, rest)| rest);
            let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
            digits.parse::<u64>().unwrap_or_default()
        };
        if let Some((name, _)) = line.split_once(" (actual") {
            steps.push(Step { name: name.to_owned(), rows: number("rows="), loops: number("loops="), left_out: 0 });
        } else if line.ends_with("(never executed)") {
            steps.push(Step { name: line.to_owned(), rows: 0, loops: 0, left_out: 0 });
        } else if line.starts_with("Rows Removed by Filter: ")
            && let Some(step) = steps.last_mut()
        {
            step.left_out = number("Filter: ");
        }
    }
    let mut faults = Vec::new();
    for (place, step) in steps.iter().enumerate() {
        let reads =
            ["Seq Scan on ", "Index Scan ", "Bitmap Heap Scan on "].iter().any(|way| step.name.starts_with(way));
        let read = (step.rows + step.left_out) * step.loops;
        let table = step.name.split_once(" on ").and_then(|(_, rest)| rest.split_whitespace().next());
        if reads && read > FEW && table.is_some_and(|table| LARGE.contains(&table)) {
            faults.push(format!("{read} rows are read: {}", step.name));
        }
        let sorted = steps.get(place + 1).map_or(0, |below| below.rows * below.loops);
        if step.name == "Sort" && sorted > FEW {
            faults.push(format!("{sorted} rows are sorted"));
        }
    }
    faults
}

/// A list, and what its filters are asked for.
pub struct List {
    pub path: &'static str,
    pub samples: &'static [(&'static str, &'static str)],
}

/// The lists of a server that are in an order, by its description.
pub fn lists(description: &Json) -> Vec<String> {
    let paths = description["paths"].as_object().expect("paths");
    let parameters = |path: &Json| path["get"]["parameters"].as_array().cloned().unwrap_or_default();
    let is_list = |path: &Json| parameters(path).iter().any(|one| one["name"] == "sort");
    let named = |name: &str| name.trim_start_matches("/api/v1").to_owned();
    paths.iter().filter(|(_, path)| is_list(path)).map(|(name, _)| named(name)).collect()
}

/// Everything that a list offers, one thing at a time, and what each is about: as it is, in each order, with each filter.
pub fn everything(list: &List, description: &Json) -> Vec<(String, String)> {
    let parameters = &description["paths"][format!("/api/v1{}", list.path)]["get"]["parameters"];
    let mut all = vec![(String::new(), "sort=".to_owned())];
    for parameter in parameters.as_array().expect(list.path).iter().filter(|one| one["in"] == "query") {
        match parameter["name"].as_str().expect("a name") {
            "page" | "pageSize" | "cursor" | "format" => {}
            "sort" => {
                let text = parameter["description"].as_str().expect("what it is sorted by");
                let (_, names) = text.split_once(": ").expect("names");
                let names = names.split('`').skip(1).step_by(2);
                all.extend(names.map(|name| (format!("?sort={name}"), format!("sort={name}"))));
            }
            filter => {
                let sample = list.samples.iter().find(|(name, _)| *name == filter);
                let (_, value) = sample.unwrap_or_else(|| panic!("{} has no sample of {filter}", list.path));
                all.push((format!("?{filter}={value}"), filter.to_owned()));
            }
        }
    }
    for (name, _) in list.samples {
        assert!(all.iter().any(|(_, about)| about == name), "{} offers no {name}", list.path);
    }
    all
}
