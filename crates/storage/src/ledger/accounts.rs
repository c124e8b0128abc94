//! What customers owe. Headquarters keeps the balance: each sale on account that is pushed moves it once, in the
//! transaction that stores the sale. A store reckons with the balance that it pulled and what it has sold on account
//! since, its charges. `docs/sync.md`, rule U15.

use std::collections::{BTreeMap, HashMap, HashSet};

use sea_orm::{
    ColumnTrait, ConnectionTrait, DbErr, EntityTrait, PaginatorTrait, QueryFilter, QueryOrder, QuerySelect, Value,
};
use tillkeep_model::pricing::TenderKind;
use tillkeep_model::state::{PaymentStatus, SaleStatus};
use tillkeep_model::{Instant, Money};
use uuid::Uuid;

use crate::db::{Turn, execute, placeholders, query, take_turn};
use crate::entity::customer::{Column, Entity};
use crate::many::{execute_in, find_in};
use crate::registry::{Doing, Waiting};
use crate::{Connection, Tx, versions};

/// Merges of merges that are followed.
const HOPS: usize = 5;
/// Customers of one statement.
const CHUNK: usize = 500;
/// What moving a balance beyond what a number holds answers.
const OUT_OF_BOUNDS: &str = "the balance of an account is out of bounds";

/// Whether `error` is a balance beyond what can be counted: the fault of the document, which would fail again.
pub fn is_out_of_bounds(error: &DbErr) -> bool {
    matches!(error, DbErr::Custom(text) if text == OUT_OF_BOUNDS)
}

/// What the sales of these customers, stored or resolved without that, have put on their accounts, for customers that come after their sales. A sale
/// that comes at the same time waits for its turn, or is waited for: it sees the customer, or is seen here.
pub async fn of_stored_sales(tx: &Tx, customers: &[Uuid]) -> Result<Vec<(Uuid, i128)>, DbErr> {
    let mut found = Vec::new();
    if customers.is_empty() {
        return Ok(found);
    }
    take_turn(tx, Turn::Account).await?;
    let sql = format!(
        "SELECT customer, CAST(SUM(amount) AS BIGINT) AS owed FROM (SELECT s.customer_id AS customer, p.amount AS amount \
         FROM sales s JOIN sale_payments p ON p.sale_id = s.id WHERE s.customer_id IN ($list) AND {ON_ACCOUNT} \
         UNION ALL SELECT customer_id, on_account FROM unapplied_documents WHERE customer_id IN ($list)) AS sold \
         GROUP BY customer"
    );
    for row in find_in(tx, &sql, &on_account(), customers.iter().copied()).await? {
        found.push((row.try_get("", "customer")?, i128::from(row.try_get::<i64>("", "owed")?)));
    }
    Ok(found)
}

/// A payment `p` of a sale `s` that counts on an account; [`on_account`] are its values.
const ON_ACCOUNT: &str = "s.status <> $1 AND p.status <> $2 AND p.tender_kind = $3";

fn on_account() -> [Value; 3] {
    [SaleStatus::Voided.word(), PaymentStatus::Voided.word(), TenderKind::OnAccount.word()].map(Value::from)
}

/// Moves the balances at headquarters; stores that pull learn of it. Of a customer who is not here nothing is moved: the
/// balance is made up when that one comes.
pub(crate) async fn raise(tx: &mut Tx, changes: Vec<(Uuid, i128)>, now: Instant) -> Result<(), DbErr> {
    let mut sums: HashMap<Uuid, i128> = HashMap::new();
    for (customer, amount) in changes {
        *sums.entry(customer).or_default() += amount;
    }
    sums.retain(|_, amount| *amount != 0);
    if sums.is_empty() {
        return Ok(());
    }
    let customers: Vec<Uuid> = sums.keys().copied().collect();
    let here = Entity::find().filter(Column::Id.is_in(customers.iter().copied())).count(tx).await?;
    if here < customers.len() as u64 {
        // Another transaction may be storing the one who is missing just now.
        take_turn(tx, Turn::Account).await?;
    }
    let mut by_payer: BTreeMap<Uuid, i128> = BTreeMap::new();
    for (customer, payer) in payers(&**tx, customers).await? {
        *by_payer.entry(payer).or_default() += sums.get(&customer).copied().unwrap_or_default();
    }
    let ids: Vec<Uuid> = by_payer.keys().copied().collect();
    for chunk in ids.chunks(CHUNK) {
        // Locked in one order and read then: another store may be selling to the same customer.
        let accounts: Vec<(Uuid, Money)> = Entity::find()
            .select_only()
            .columns([Column::Id, Column::AccountBalance])
            .filter(Column::Id.is_in(chunk.iter().copied()))
            .order_by_asc(Column::Id)
            .lock_exclusive()
            .into_tuple()
            .all(tx)
            .await?;
        if accounts.is_empty() {
            continue;
        }
        let (mut cases, mut values): (Vec<String>, Vec<Value>) = (Vec::new(), vec![now.into()]);
        for (id, balance) in &accounts {
            let sum = i128::from(balance.0) + by_payer.get(id).copied().unwrap_or_default();
            let sum = i64::try_from(sum).map_err(|_| DbErr::Custom(OUT_OF_BOUNDS.to_owned()))?;
            cases.push(format!("WHEN ${} THEN ${}", values.len() + 1, values.len() + 2));
            values.extend([(*id).into(), sum.into()]);
        }
        let sql = format!(
            "UPDATE customers SET account_balance = CAST(CASE id {} END AS BIGINT), updated_at = $1, \
             sync_version = {} WHERE id IN ({})",
            cases.join(" "),
            versions::UNSTAMPED,
            placeholders(values.len() + 1, accounts.len())
        );
        values.extend(accounts.iter().map(|(id, _)| Value::from(*id)));
        execute(tx, &sql, values).await?;
        tx.wrote::<Entity>()?;
    }
    Ok(())
}

/// Those of these customers whose account, or that of the one they were merged into, is below zero.
pub(crate) async fn overpaid(tx: &Tx, customers: Vec<Uuid>) -> Result<HashSet<Uuid>, DbErr> {
    let payers = payers(tx, customers).await?;
    let mut below: HashSet<Uuid> = HashSet::new();
    let sql = "SELECT id FROM customers WHERE account_balance < 0 AND id IN ($list)";
    for row in find_in(tx, sql, &[], payers.values().copied()).await? {
        below.insert(row.try_get("", "id")?);
    }
    Ok(payers.into_iter().filter(|(_, payer)| below.contains(payer)).map(|(customer, _)| customer).collect())
}

/// The customer on whose account each of these customers buys: a duplicate's is the one it was merged into.
async fn payers(conn: &impl ConnectionTrait, customers: Vec<Uuid>) -> Result<HashMap<Uuid, Uuid>, DbErr> {
    let mut payers: HashMap<Uuid, Uuid> = customers.into_iter().map(|id| (id, id)).collect();
    for _ in 0..HOPS {
        let asked: Vec<Uuid> = payers.values().copied().collect();
        let mut merged: HashMap<Uuid, Uuid> = HashMap::new();
        let sql =
            "SELECT id, merged_into_id AS payer FROM customers WHERE merged_into_id IS NOT NULL AND id IN ($list)";
        for row in find_in(conn, sql, &[], asked).await? {
            merged.insert(row.try_get("", "id")?, row.try_get("", "payer")?);
        }
        if merged.is_empty() {
            break;
        }
        for payer in payers.values_mut() {
            *payer = merged.get(payer).copied().unwrap_or(*payer);
        }
    }
    Ok(payers)
}

/// An account as a store sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Account {
    pub limit: Money,
    /// The balance that was pulled, and what was sold here since.
    pub used: Money,
}

impl Account {
    /// Whether `amount` more is beyond the limit.
    pub fn is_passed_by(&self, amount: Money) -> bool {
        i128::from(self.used.0) + i128::from(amount.0) > i128::from(self.limit.0)
    }

    /// What may still go on it.
    pub fn available(&self) -> Money {
        Money(self.limit.0.saturating_sub(self.used.0).max(0))
    }
}

/// The account of `customer` at this store, read in one statement: a pull that takes a charge into the balance is seen
/// wholly or not at all.
pub async fn at_store(conn: &impl ConnectionTrait, customer: Uuid) -> Result<Option<Account>, DbErr> {
    let sql = "SELECT c.credit_limit, c.account_balance, (SELECT CAST(COALESCE(SUM(a.amount), 0) AS BIGINT) \
               FROM account_charges a WHERE a.customer_id = c.id \
               OR a.customer_id IN (SELECT m.id FROM customers m WHERE m.merged_into_id = c.id)) AS charged \
               FROM customers c WHERE c.id = $1";
    let rows = query(conn, sql, [customer.into()]).await?;
    let Some(row) = rows.first() else { return Ok(None) };
    let figure = |name: &str| row.try_get::<i64>("", name);
    let used = figure("account_balance")?.saturating_add(figure("charged")?);
    Ok(Some(Account { limit: Money(figure("credit_limit")?), used: Money(used) }))
}

/// Notes that `sale` put `amount` on the account of `customer`, in the transaction of the sale.
pub async fn charge(tx: &Tx, sale: Uuid, customer: Uuid, amount: Money) -> Result<(), DbErr> {
    let sql = "INSERT INTO account_charges (sale_id, customer_id, amount) VALUES ($1, $2, $3)";
    execute(tx, sql, [sale.into(), customer.into(), amount.into()]).await?;
    Ok(())
}

/// Takes back what `sale`, which is voided, put on the account of `customer`, in the transaction of the void: a charge that
/// still waits is none any more, and what the pulled balance contains already is taken off it.
pub async fn void_charge(tx: &Tx, sale: Uuid, customer: Uuid, amount: Money) -> Result<(), DbErr> {
    let sql = "INSERT INTO account_charges (sale_id, customer_id, amount) VALUES ($1, $2, $3) \
               ON CONFLICT (sale_id) DO UPDATE SET amount = 0";
    execute(tx, sql, [sale.into(), customer.into(), Money(-amount.0).into()]).await?;
    Ok(())
}

/// A charge that a pull of the customers to the end brings: it does not stay here, and no work of this store on the customer
/// keeps the pulled row away (rule D6).
macro_rules! pulled {
    () => {
        "NOT account_charges.stays \
         AND NOT EXISTS (SELECT 1 FROM customers c WHERE NOT c.synced AND (c.id = account_charges.customer_id \
         OR c.id IN (SELECT m.merged_into_id FROM customers m WHERE m.id = account_charges.customer_id)))"
    };
}

/// The entries of its sale that wait, of which more may be asked. An update of it, such as what came back, moves no account.
macro_rules! waiting {
    () => {
        "SELECT 1 FROM sync_outbox o WHERE o.entity_type = 'sales' AND o.entity_id = account_charges.sale_id"
    };
}

/// A charge that is in the balance as soon as the customers are pulled to the end: its sale was confirmed, and so was its void.
const CONFIRMED: &str = concat!(pulled!(), " AND NOT EXISTS (", waiting!(), " AND o.action <> 'update')");

/// A charge of a sale that headquarters has, and of the void of it that headquarters does not have yet.
const VOID_WAITS: &str = concat!(
    pulled!(),
    " AND EXISTS (",
    waiting!(),
    " AND o.action = 'void') AND NOT EXISTS (",
    waiting!(),
    " AND o.action = 'create')"
);

/// Forgets the charges that the balances contain now. Called with the last page of the customers: nothing is on its way
/// to headquarters while that page is asked for, so it contains whatever was confirmed. A sale that was voided between is in
/// them until its void is.
pub(crate) async fn counted(tx: &Tx) -> Result<(), DbErr> {
    execute(tx, &format!("DELETE FROM account_charges WHERE {CONFIRMED}"), []).await?;
    let sql = format!(
        "UPDATE account_charges SET amount = (SELECT CAST(COALESCE(SUM(-p.amount), 0) AS BIGINT) FROM sale_payments p \
         WHERE p.sale_id = account_charges.sale_id AND p.tender_kind = $1) WHERE {VOID_WAITS}"
    );
    execute(tx, &sql, [TenderKind::OnAccount.word().into()]).await?;
    Ok(())
}

impl Waiting for Connection {
    /// Whether there are charges that a pull of the customers would take into the balance, also when no customer has moved:
    /// headquarters may have had the sale for long, and only the answer was lost.
    fn has_open_charges(&self) -> Doing<'_, bool> {
        Box::pin(async move {
            let sql = format!("SELECT sale_id FROM account_charges WHERE {CONFIRMED} LIMIT 1");
            Ok(!query(self, &sql, []).await?.is_empty())
        })
    }
}

/// Charges the sales that go out again: headquarters has lost them, and its balances with them.
pub(crate) async fn charge_again(tx: &Tx) -> Result<(), DbErr> {
    let waiting = "s.id IN (SELECT o.entity_id FROM sync_outbox o WHERE o.entity_type = 'sales' \
                   AND o.action <> 'update')";
    execute(tx, &charges_of(waiting, "DO NOTHING"), on_account()).await?;
    // A sale that goes out again and is voided behind it was taken off balances that do not contain it any more.
    let sql = concat!(
        "UPDATE account_charges SET amount = 0 WHERE NOT stays AND EXISTS (",
        waiting!(),
        " AND o.action = 'void') AND EXISTS (",
        waiting!(),
        " AND o.action = 'create')"
    );
    execute(tx, sql, []).await?;
    Ok(())
}

/// Charges for good the sales `ids` that headquarters will never have, and that are not in its balances.
pub(crate) async fn keep(tx: &Tx, ids: &[Uuid]) -> Result<(), DbErr> {
    let sql = charges_of("s.id IN ($list)", "DO NOTHING");
    execute_in(tx, &sql, &on_account(), ids.iter().copied()).await?;
    // One that was not there was made as any other.
    let sql = "UPDATE account_charges SET stays = TRUE WHERE sale_id IN ($list)";
    execute_in(tx, sql, &[], ids.iter().copied()).await?;
    Ok(())
}

/// Headquarters has these sales after all: its balances contain them.
pub(crate) async fn taken(tx: &Tx, ids: &[Uuid]) -> Result<(), DbErr> {
    let sql = "UPDATE account_charges SET stays = FALSE WHERE stays AND sale_id IN ($list)";
    execute_in(tx, sql, &[], ids.iter().copied()).await?;
    Ok(())
}

/// Makes the charges of sales that are `which`, with the values [`on_account`]; what becomes of one that is there.
fn charges_of(which: &str, conflict: &str) -> String {
    format!(
        "INSERT INTO account_charges (sale_id, customer_id, amount) \
         SELECT s.id, COALESCE(c.merged_into_id, s.customer_id), SUM(p.amount) FROM sales s \
         JOIN sale_payments p ON p.sale_id = s.id LEFT JOIN customers c ON c.id = s.customer_id \
         WHERE s.customer_id IS NOT NULL AND {ON_ACCOUNT} \
         AND {which} GROUP BY s.id, s.customer_id, c.merged_into_id ON CONFLICT (sale_id) {conflict}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_passed_by_one_minor_unit_and_by_no_number_however_large() {
        let account = Account { limit: Money(1000), used: Money(400) };
        assert!(!account.is_passed_by(Money(600)) && account.is_passed_by(Money(601)));
        assert!(account.is_passed_by(Money(i64::MAX)));
        assert_eq!(account.available(), Money(600));
        let beyond = Account { limit: Money(0), used: Money(i64::MAX) };
        assert!(beyond.is_passed_by(Money(1)) && beyond.available() == Money::ZERO);
    }
}
