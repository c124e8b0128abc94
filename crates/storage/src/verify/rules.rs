//! Checks of one database that are one statement each: every row it yields is a finding.

use sea_orm::DbErr;
use tillkeep_model::pricing::TenderKind;
use tillkeep_model::state::{PaymentStatus, SaleStatus};
use tillkeep_model::{Instant, fields};

use super::finding::{Found, Options};
use super::rule::{ANY, HQ, Rule, STORE, all, by, name_of};
use super::source::Source;
use super::{apart, movements, refunded, sums};
use crate::db::query;
use crate::document::{customer, sale, session};
use crate::registry::{self, Scope};
use crate::sync_log::nothing_taken;
use crate::{Side, settings};

const COPY: &str = "a price that follows the product is not the product's";
const COPIES: &str = "SELECT d.store_id AS store, d.product_id AS id, p.price AS wanted, d.price AS found \
     FROM store_product_dynamic d JOIN products p ON p.id = d.product_id \
     WHERE d.has_price_override = FALSE AND d.deleted_at IS NULL AND d.price <> p.price";

/// A payment that does not count on an account, by the state of its sale and its own, and the kind of one that does.
const ON_ACCOUNT: &[&str] = &[SaleStatus::Voided.word(), PaymentStatus::Voided.word(), TenderKind::OnAccount.word()];

/// What headquarters has applied of numbered entries: how often each.
macro_rules! applied {
    () => {
        concat!(
            "SELECT store_id AS store, COALESCE(node_epoch, '') AS node_epoch, seq AS number, \
             COALESCE(said_at, envelope_at) AS envelope_at, 1 AS applied FROM sync_log WHERE (status = 'success' OR (status = 'skipped' AND note LIKE '",
            nothing_taken!(),
            "%')) AND direction = 'push' AND seq IS NOT NULL UNION ALL SELECT n.store_id, n.node_epoch, k.seq, \
             COALESCE(k.said_at, k.envelope_at), k.applied FROM sync_log_nodes n JOIN sync_log_kept k ON k.node = n.id \
             WHERE k.seq > 0 AND k.applied > 0"
        )
    };
}

static RULES: &[Rule] = &[
    Rule {
        invariant: "I4",
        entity: fields::store_price::BOOK.table,
        text: "the level is not the sum of the movements",
        sql: "SELECT store, product AS id, CAST(SUM(moved) AS BIGINT) AS wanted, CAST(SUM(level) AS BIGINT) AS found \
              FROM (SELECT store_id AS store, product_id AS product, quantity_change AS moved, 0 AS level \
                    FROM stock_movements \
                    UNION ALL SELECT store_id, product_id, 0, quantity FROM store_product_dynamic) both_sides \
              GROUP BY store, product HAVING SUM(moved) <> SUM(level)",
        ..ANY
    },
    Rule {
        invariant: "I5",
        entity: session::TYPE,
        text: "the difference of the cash is not what was counted less what was expected",
        // What a store says is any number, and no whole number holds the difference of two of them.
        sql: "SELECT store_id AS store, id, cash_variance AS found FROM register_sessions \
              WHERE counted_cash <> CAST(expected_cash AS NUMERIC) + cash_variance",
        ..ANY
    },
    Rule {
        invariant: "I5",
        entity: customer::TYPE,
        text: "the balance of the account is not what was sold on it",
        sql: "WITH RECURSIVE payer(id, root, hops) AS (SELECT id, id, 0 FROM customers WHERE merged_into_id IS NULL \
              UNION ALL SELECT c.id, p.root, p.hops + 1 FROM customers c JOIN payer p ON c.merged_into_id = p.id \
              WHERE p.hops < 5) \
              SELECT id, CAST(SUM(owed) AS BIGINT) AS wanted, CAST(SUM(balance) AS BIGINT) AS found \
              FROM (SELECT y.root AS id, p.amount AS owed, 0 AS balance FROM sales s \
                    JOIN sale_payments p ON p.sale_id = s.id JOIN payer y ON y.id = s.customer_id \
                    WHERE s.status <> $1 AND p.status <> $2 AND p.tender_kind = $3 \
                    UNION ALL SELECT y.root, u.on_account, 0 FROM unapplied_documents u \
                    JOIN payer y ON y.id = u.customer_id \
                    UNION ALL SELECT id, 0, account_balance FROM customers) both_sides \
              GROUP BY id HAVING SUM(owed) <> SUM(balance)",
        words: ON_ACCOUNT,
        ..HQ
    },
    Rule {
        invariant: "I5",
        entity: "account_charges",
        text: "a sale on account waits to be sent, and is not reckoned with here",
        sql: "SELECT s.id FROM sales s WHERE s.customer_id IS NOT NULL AND s.status <> $1 \
              AND EXISTS (SELECT 1 FROM sale_payments p WHERE p.sale_id = s.id AND p.tender_kind = $3 \
                          AND p.status <> $2) \
              AND EXISTS (SELECT 1 FROM sync_outbox o WHERE o.entity_type = 'sales' AND o.entity_id = s.id \
                          AND o.action <> 'update') \
              AND NOT EXISTS (SELECT 1 FROM account_charges a WHERE a.sale_id = s.id)",
        words: ON_ACCOUNT,
        ..STORE
    },
    // Headquarters takes a sale before its drawer, and flags it: `flags`.
    Rule {
        invariant: "I5",
        entity: sale::TYPE,
        text: "was made here, and the drawer that it names is not there",
        sql: "SELECT s.id FROM sales s WHERE s.id IN (SELECT entity_id FROM sync_outbox WHERE action = 'create' \
              UNION SELECT entity_id FROM sync_outbox_sent WHERE action = 'create') \
              AND NOT EXISTS (SELECT 1 FROM register_sessions d WHERE d.id = s.register_session_id)",
        ..STORE
    },
    Rule {
        invariant: "I5",
        entity: fields::tender::BOOK.table,
        text: "is active, and nothing keeps the values of its kind: every till refuses it; switch it off",
        sql: "SELECT id FROM tenders WHERE is_active = TRUE AND deleted_at IS NULL \
              AND kind IN ($1, $2)",
        words: &[TenderKind::GiftCard.word(), TenderKind::StoreCredit.word()],
        ..HQ
    },
    // One snapshot of headquarters always shows it; a store pulls the two types one after the other.
    Rule { invariant: "I7", entity: fields::store_price::BOOK.table, text: COPY, sql: COPIES, ..HQ },
    Rule { invariant: "I7", entity: fields::store_price::BOOK.table, text: COPY, sql: COPIES, settled: true, ..STORE },
    Rule {
        invariant: "I9",
        entity: "sync_outbox",
        text: "an entry waits and is sent",
        sql: "SELECT o.seq AS number FROM sync_outbox o JOIN sync_outbox_sent s ON s.seq = o.seq",
        ..STORE
    },
    Rule {
        invariant: "I9",
        entity: "sync_outbox",
        text: "the timestamp does not rise with the number (rule U8)",
        sql: "SELECT seq AS number FROM (SELECT seq, timestamp AS at, LAG(timestamp) OVER (ORDER BY seq) AS before_it \
              FROM (SELECT seq, timestamp FROM sync_outbox UNION ALL SELECT seq, timestamp FROM sync_outbox_sent) e) t \
              WHERE at <= before_it",
        ..STORE
    },
    Rule {
        invariant: "I9",
        entity: "sync_outbox",
        text: "ten refusals and a dead letter are one thing",
        sql: "SELECT seq AS number FROM sync_outbox WHERE (attempts >= 10) <> (dead_lettered_at IS NOT NULL)",
        ..STORE
    },
    Rule {
        invariant: "I10",
        settled: true,
        entity: "sync_outbox",
        text: "not everything was sent",
        sql: "SELECT seq AS number FROM sync_outbox",
        ..STORE
    },
    Rule {
        invariant: "I10",
        settled: true,
        entity: "sync_log",
        text: "an entry was refused and no user has settled it",
        sql: "SELECT store_id AS store, id FROM sync_log WHERE status = 'failed' AND seq IS NOT NULL",
        ..HQ
    },
    Rule {
        invariant: "I2",
        entity: "sync_log",
        text: "one entry was applied more than once",
        // A store that goes on from an older copy gives numbers again, to other entries (rule D8). In one database the times of
        // entries rise with their numbers (rule U8), so that the time tells them apart.
        sql: concat!(
            "SELECT store, number, CAST(SUM(applied) AS BIGINT) AS found FROM (",
            applied!(),
            ") AS entries GROUP BY store, node_epoch, number, envelope_at HAVING SUM(applied) > 1"
        ),
        ..HQ
    },
    Rule {
        invariant: "I2",
        settled: true,
        entity: "sync_log",
        text: "this number was given to several entries, and the store was never found to be restored: so many",
        sql: concat!(
            "SELECT store, number, COUNT(*) AS found FROM (SELECT DISTINCT store, node_epoch, number, envelope_at \
             FROM (",
            applied!(),
            ") AS entries) AS given WHERE NOT EXISTS (SELECT 1 FROM store_nodes n WHERE n.store_id = given.store \
             AND n.other_installation_at IS NOT NULL) GROUP BY store, node_epoch, number HAVING COUNT(*) > 1"
        ),
        ..HQ
    },
];

pub(super) async fn fixed(source: &Source, options: &Options, found: &mut Found) -> Result<(), DbErr> {
    let all = [RULES, sums::AT_HQ, sums::AT_STORE, movements::RULES, refunded::RULES, apart::RULES];
    for rule in all.into_iter().flatten() {
        if rule.side.is_none_or(|side| side == source.side) && (options.settled || !rule.settled) {
            found.invariant = rule.invariant;
            by(source, rule, found).await?;
        }
    }
    Ok(())
}

/// Versions: given once each and none above its counter at headquarters, none above the cursor at a store (rule D1, D2).
pub(super) async fn versions(source: &Source, found: &mut Found) -> Result<(), DbErr> {
    for entity in registry::pulled().filter(|entity| !entity.replace_all) {
        let table = entity.name;
        if source.side == Side::Store {
            let sql = format!(
                "SELECT d.id, c.last_version AS wanted, d.sync_version AS found FROM {table} d \
                 JOIN sequences c ON c.entity_type = '{table}' WHERE d.sync_version > c.last_version AND NOT c.reloading"
            );
            all(source, table, "a row is newer than the cursor", &sql, found).await?;
            continue;
        }
        let scope = if entity.scope == Scope::Store { "c.scope = d.store_id" } else { "c.scope IS NOT NULL" };
        let sql = format!(
            "SELECT d.id, c.value AS wanted, d.sync_version AS found FROM {table} d LEFT JOIN sync_counters c \
             ON c.entity_type = '{table}' AND {scope} WHERE c.value IS NULL OR d.sync_version > c.value \
             OR d.sync_version <= 0"
        );
        all(source, table, "a version was not given by the counter", &sql, found).await?;
        let scope = if entity.scope == Scope::Store { "store_id AS store," } else { "" };
        let group = if entity.scope == Scope::Store { "store_id," } else { "" };
        let sql = format!(
            "SELECT {scope} sync_version AS number, COUNT(*) AS found FROM {table} \
             GROUP BY {group} sync_version HAVING COUNT(*) > 1"
        );
        all(source, table, "a version was given more than once", &sql, found).await?;
    }
    Ok(())
}

/// At a store: a row is `synced` when nothing of it waits, and a document never lacks its entry (rules D6 and U1).
pub(super) async fn flags(source: &Source, found: &mut Found) -> Result<(), DbErr> {
    if source.side != Side::Store {
        return Ok(());
    }
    // `yes` while documents of this store are to be fetched from headquarters, then the moment at which they were here.
    let back = settings::get(&source.conn, "own_documents_due").await?.unwrap_or_default();
    for entity in registry::ALL.iter().filter(|entity| entity.is_pushed()) {
        let table = entity.name;
        let waits =
            format!("EXISTS (SELECT 1 FROM sync_outbox e WHERE e.entity_type = '{table}' AND e.entity_id = d.id)");
        let sql = format!("SELECT id FROM {table} d WHERE d.synced = FALSE AND NOT {waits}");
        all(source, table, "is marked as unsent, and no entry of it waits", &sql, found).await?;
        let sql = format!("SELECT id FROM {table} d WHERE d.synced = TRUE AND {waits}");
        all(source, table, "is marked as sent, and an entry of it waits", &sql, found).await?;
        if !entity.is_pulled() && back != "yes" {
            // What is older than the oldest entry may have been sent and forgotten. What came from headquarters never was
            // in this outbox; what was made since was.
            let sql = format!(
                "SELECT id FROM {table} d WHERE NOT {waits} AND NOT EXISTS (SELECT 1 FROM sync_outbox_sent e \
                 WHERE e.entity_type = '{table}' AND e.entity_id = d.id) AND d.created_at >= \
                 COALESCE((SELECT MIN(created_at) FROM (SELECT created_at FROM sync_outbox \
                 UNION ALL SELECT created_at FROM sync_outbox_sent) e), d.created_at) AND d.created_at >= $1"
            );
            let since = Instant::parse(&back).unwrap_or_default();
            for row in query(&source.conn, &sql, [since.into()]).await? {
                found.add(source.store, table, name_of(&row), "has no entry in the outbox and was never sent");
            }
        }
    }
    Ok(())
}
