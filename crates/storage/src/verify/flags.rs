//! I5: the flags of a document at headquarters are what is wrong with it (rule U9). A flag that nothing bears out would hide
//! what the sums are asked for; a document without one adds up and names what is there.
//!
//! Of documents without flags that is asked in SQL (here and in `rules`). Those with flags are read, and judged again
//! as headquarters judged them.

mod known;

use std::collections::{HashMap, HashSet};

use sea_orm::DbErr;
use tillkeep_model::wire::camel;
use tillkeep_model::words::SaleType;
use uuid::Uuid;

use self::known::NamedRows;
use super::finding::Found;
use super::pages::{Pages, documents};
use super::source::{Source, having};
use crate::db::query;
use crate::document::flags::FOREIGN_NUMBER;
use crate::document::{Clash, Named, Pushed, Reference, Whole, sale};
use crate::entity::sale::{CLOCK_BEHIND, Model as Sale, OF_A_LOST_SALE, OVER_REFUNDED};
use crate::envelope::limits::{CUT, Limits, flag};
use crate::fiscal::CHAIN_BROKEN;
use crate::kept_ids::{self, ID_USED_ELSEWHERE};
use crate::known_numbers::NUMBER_AHEAD;
use crate::many::find_in;
use crate::numbers::document_numbers;
use crate::push::left_out::LEFT_OUT;
use crate::push::{is_ahead, is_back, missing};
use crate::registry::awaited::{Lacks, lacks};
use crate::registry::{self, SyncType};
use crate::rows::{Row, SyncTable};
use crate::{Side, known_numbers};

const DELETED_CUSTOMER: &str = "deleted_customer";
const CLOSED_DAY: &str = "closed_day";

pub(super) async fn borne_out(source: &Source, found: &mut Found) -> Result<(), DbErr> {
    if source.side != Side::Hq {
        return Ok(());
    }
    for (entity, pushed) in registry::pushed().filter(|(entity, _)| !entity.is_pulled()) {
        flagged(source, entity, pushed, found).await?;
    }
    unflagged(source, found).await
}

/// Documents without a flag name what headquarters has.
async fn unflagged(source: &Source, found: &mut Found) -> Result<(), DbErr> {
    for (entity, pushed) in registry::pushed().filter(|(entity, _)| !entity.is_pulled()) {
        for Lacks { flag, condition, values } in pushed.awaited.iter().filter_map(|awaited| lacks(entity, awaited)) {
            let name = entity.name;
            let sql = format!("SELECT store_id AS store, id FROM {name} WHERE flags = '[]' AND {condition}");
            for row in query(&source.conn, &sql, values).await? {
                let text = format!("has no flag {flag}, and headquarters does not have it");
                found.add(row.try_get("", "store")?, name, row.try_get::<Uuid>("", "id")?, text);
            }
        }
    }
    Ok(())
}

async fn flagged(
    source: &Source,
    entity: &'static SyncType,
    pushed: &'static Pushed,
    found: &mut Found,
) -> Result<(), DbErr> {
    let sql = format!("SELECT id FROM {} WHERE flags <> '[]' AND $behind", entity.name);
    let mut pages = Pages::by_id(source, &sql, []);
    while let Some(rows) = pages.page().await? {
        let ids: Vec<Uuid> = rows.iter().map(|row| row.try_get("", "id")).collect::<Result<_, _>>()?;
        for ids in ids.chunks(documents(source)) {
            judge(source, entity, pushed, ids, found).await?;
        }
    }
    Ok(())
}

/// A page of documents with flags.
async fn judge(
    source: &Source,
    entity: &'static SyncType,
    pushed: &'static Pushed,
    ids: &[Uuid],
    found: &mut Found,
) -> Result<(), DbErr> {
    let rows = having(source, entity.table, "id", ids).await?;
    let lines = lines(source, entity, ids).await?;
    let documents: Vec<Whole<'_>> = rows.iter().map(|row| whole(&**row, &lines)).collect();
    let named: Vec<Named> = documents.iter().map(|document| pushed.named(document)).collect();
    let known = NamedRows::load(source, ids, &named).await?;
    let twice = twice(source, entity.name, pushed, ids).await?;
    let of_lines = lines.iter().flat_map(HashMap::values).flatten().filter_map(|line| line.uuid("id"));
    let ids: Vec<Uuid> = ids.iter().copied().chain(of_lines).collect();
    let kept = kept_ids::among(&source.conn, ids).await?;
    let judge = Judge { entity, pushed, known, twice, kept };
    for (document, named) in documents.iter().zip(&named) {
        judge.look(document, named, found);
    }
    Ok(())
}

/// A flag without anything that a person may have written into it.
fn named_only(flag: &str) -> &str {
    let is_word = flag.len() <= 40 && flag.bytes().all(|byte| byte.is_ascii_alphabetic() || b"_:.".contains(&byte));
    if is_word { flag } else { "no word" }
}

type Lines = Vec<HashMap<Uuid, Vec<Box<dyn Row>>>>;

/// The lines of documents by the documents, one place for each kind.
async fn lines(source: &Source, entity: &SyncType, ids: &[Uuid]) -> Result<Lines, DbErr> {
    let mut out = Lines::new();
    for child in entity.children {
        let mut by_parent: HashMap<Uuid, Vec<Box<dyn Row>>> = HashMap::new();
        for line in having(source, child.table, child.parent, ids).await? {
            by_parent.entry(line.uuid(child.parent).unwrap_or_default()).or_default().push(line);
        }
        out.push(by_parent);
    }
    Ok(out)
}

fn whole<'a>(row: &'a dyn Row, lines: &'a Lines) -> Whole<'a> {
    let id = row.uuid("id").unwrap_or_default();
    let of = |by_parent: &'a HashMap<Uuid, Vec<Box<dyn Row>>>| {
        by_parent.get(&id).into_iter().flatten().map(|line| &**line).collect()
    };
    Whole { row, lines: lines.iter().map(of).collect() }
}

/// Documents that say that another one has their number, as far as another one has.
async fn twice(source: &Source, table: &str, pushed: &Pushed, ids: &[Uuid]) -> Result<HashSet<Uuid>, DbErr> {
    let Some((column, Clash::Flagged(flag))) = pushed.number.map(|number| (number.column, number.clash)) else {
        return Ok(HashSet::new());
    };
    let sql = format!(
        "SELECT d.id FROM {table} d WHERE d.id IN ($list) AND d.flags LIKE '%\"{flag}\"%' AND EXISTS (SELECT 1 FROM {table} o \
         WHERE o.store_id = d.store_id AND o.register_code = d.register_code AND o.{column} = d.{column} AND o.id <> d.id)"
    );
    let rows = find_in(&source.conn, &sql, &[], ids.iter().copied()).await?;
    rows.iter().map(|row| row.try_get("", "id")).collect()
}

/// Whether it is a payment of what was owed.
fn is_settlement(row: &dyn Row) -> bool {
    row.typed::<Sale>().is_some_and(|sale| sale.sale_type == SaleType::Settlement && !sale.prepaid)
}

struct Judge {
    entity: &'static SyncType,
    pushed: &'static Pushed,
    known: NamedRows,
    twice: HashSet<Uuid>,
    /// Rows and lines that have another id here than at their store.
    kept: HashSet<Uuid>,
}

impl Judge {
    fn look(&self, document: &Whole<'_>, named: &Named, found: &mut Found) {
        let row = document.row;
        let id = row.uuid("id").unwrap_or_default();
        let store = row.uuid("store_id").unwrap_or_default();
        let had: Vec<String> =
            row.text("flags").and_then(|flags| serde_json::from_str(&flags).ok()).unwrap_or_default();
        let mut is = self.pushed.checks(document);
        is.extend(self.pushed.flags(document, &self.known.facts));
        is.extend(missing(self.pushed, row));
        for flag in had.iter().filter(|flag| !is.contains(&flag.as_str())) {
            if !self.may_be(flag, document, named) {
                found.add(
                    store,
                    self.entity.name,
                    id,
                    format!("has a flag that nothing bears out: {}", named_only(flag)),
                );
            }
        }
        // What became so after it came is no flag of it.
        let always = |flag: &&&str| ![DELETED_CUSTOMER, CLOSED_DAY].contains(flag);
        for flag in is.iter().filter(always).filter(|flag| !had.iter().any(|had| had == *flag)) {
            found.add(store, self.entity.name, id, format!("has no flag {flag}, and it is so"));
        }
    }

    /// Whether the document may have this flag although it would not get it now.
    fn may_be(&self, flag: &str, document: &Whole<'_>, named: &Named) -> bool {
        let row = document.row;
        let received = row.instant("received_at").unwrap_or_default();
        match flag {
            DELETED_CUSTOMER => {
                named.customer.is_some_and(|customer| self.known.facts.customers.contains_key(&customer))
            }
            // Its envelope may have been dated so, which the log says, by another id of one that is kept under another id here;
            // or its change, which is dated as of when it came then.
            "future_date" => {
                let id = row.uuid("id").unwrap_or_default();
                is_ahead(self.pushed, row, received)
                    || self.known.dated.contains(&id)
                    || self.kept.contains(&id)
                    || row.instant("updated_at") == Some(received)
            }
            "past_date" => is_back(self.pushed, row, received),
            ID_USED_ELSEWHERE => {
                let lines = document.lines.iter().flatten().copied();
                std::iter::once(row).chain(lines).any(|row| row.uuid("id").is_some_and(|id| self.kept.contains(&id)))
            }
            FOREIGN_NUMBER => self.names_another_store(row),
            NUMBER_AHEAD => self.is_far(row),
            // A push judges by the drawers of its own store.
            _ if Reference::Session.unknown() == Some(flag) => {
                let of = named.session.and_then(|id| self.known.drawers.get(&id));
                of.is_some_and(|of| Some(*of) != row.uuid("store_id"))
            }
            // Its drawer may have come again with other receipts since.
            CLOSED_DAY => named.session.is_some_and(|id| self.known.facts.sessions.contains_key(&id)),
            // How the account stood then is kept nowhere.
            sale::OVERPAID => is_settlement(row),
            // `refunded` asks of every sale whether it is so, and `chains` of every chain; of the others only the store can know.
            OVER_REFUNDED | CHAIN_BROKEN | CLOCK_BEHIND | OF_A_LOST_SALE => self.entity.name == sale::TYPE,
            _ if flag.starts_with(LEFT_OUT) => self.names_a_field(flag),
            _ if flag.starts_with(CUT) => self.may_be_cut(flag, document),
            // No other one is left than that of its number.
            _ => self.is_of_number(flag) && row.uuid("id").is_some_and(|id| self.twice.contains(&id)),
        }
    }

    /// Whether it is about a field that the document or one of its lines has.
    fn names_a_field(&self, flag: &str) -> bool {
        let field = flag.trim_start_matches(LEFT_OUT);
        let has = |table: &dyn SyncTable, name: &str| table.columns().iter().any(|column| camel(column) == name);
        match field.split_once('.') {
            None => has(self.entity.table, field),
            Some((list, field)) => {
                self.entity.children.iter().any(|child| child.key == list && has(child.table, field))
            }
        }
    }

    /// Whether it is the flag of a number that another document has too.
    fn is_of_number(&self, flag: &str) -> bool {
        self.pushed.number.is_some_and(|number| matches!(number.clash, Clash::Flagged(word) if word == flag))
    }

    /// Whether a number was printed on it that begins with a code that is not its store's.
    fn names_another_store(&self, row: &dyn Row) -> bool {
        let own = row.uuid("store_id").and_then(|store| self.known.codes.get(&store));
        let printed = self.pushed.printed.iter().filter_map(|column| row.text(column));
        printed
            .filter_map(|number| number.split_once('-').map(|(code, _)| code.to_owned()))
            .any(|code| Some(&code) != own && (code == "HQ" || self.known.codes.values().any(|other| *other == code)))
    }

    /// Whether its number is higher than any that a store begins with.
    fn is_far(&self, row: &dyn Row) -> bool {
        let code = row.uuid("store_id").and_then(|store| self.known.codes.get(&store));
        let brought = self.pushed.number.zip(code);
        let brought = brought.and_then(|(numbering, code)| document_numbers::brought(numbering, row, code));
        brought.is_some_and(|(series, number)| number > known_numbers::reach(&series))
    }

    /// Whether a column that the flag names is as full as it may be, of the document or of one of its lines.
    fn may_be_cut(&self, flag_: &str, document: &Whole<'_>) -> bool {
        let full = |limits: &Limits, list: Option<&str>, rows: &[&dyn Row]| {
            let named = |column: &&'static str| flag(list, column) == flag_;
            limits.columns().find(named).is_some_and(|column| rows.iter().any(|row| limits.is_full(column, *row)))
        };
        full(&Limits::new(self.entity.table, self.entity.book), None, &[document.row])
            || self.entity.children.iter().zip(&document.lines).any(|(child, lines)| {
                flag(None, child.key) == flag_
                    || full(&Limits::new(child.table, Some(child.book)), Some(child.key), lines)
            })
    }
}
