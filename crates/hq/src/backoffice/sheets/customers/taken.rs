//! `POST /customers/import`: what is taken of a file of customers.

use std::collections::HashMap;

use serde::Deserialize;
use serde_json::{Map, Value as Json};
use tillkeep_http::error::{Error, Result};
use tillkeep_http::table::Table;
use tillkeep_http::{Answer, Caller, Params, resource};
use tillkeep_model::permission::code::{CustomersCreate, CustomersEdit};
use tillkeep_model::{Instant, fields};
use tillkeep_storage::ahead::Ahead;
use tillkeep_storage::entity::customer::{Column, Entity, Model};
use tillkeep_storage::sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect, Select};
use tillkeep_storage::{Tx, duplicates};
use utoipa::ToSchema;
use uuid::Uuid;

use super::{COLUMNS, cells_of};
use crate::backoffice::plain::Rules;
use crate::backoffice::sheets::file::{Row, Sheet};
use crate::backoffice::sheets::report::Import;
use crate::backoffice::sheets::taking::{self, Intake};
use crate::backoffice::sheets::{Lines, Report, all_right, cells, twice, wrong};
use crate::backoffice::{chain, customers, rows};
use crate::customer_numbers;

/// How a file of customers is taken.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = CustomerImportQuery)]
pub(crate) struct Asked {
    /// `true`: everything is checked and told, and nothing is written.
    #[serde(default)]
    dry_run: bool,
    /// `true`: new customers with a telephone number or mail address that another one has are other people.
    #[serde(default)]
    allow_duplicate: bool,
}

/// `POST /customers/import`: all of the file, or nothing of it.
pub(crate) async fn import(
    caller: Caller<CustomersCreate>,
    Params(Asked { dry_run, allow_duplicate }): Params<Asked>,
    table: Table,
) -> Result<Answer<Report>> {
    let sheet = Sheet::open(&table.file, &COLUMNS, &[])?;
    let (caller, sheet) = (&caller, &sheet);
    taking::unbroken(|| Box::pin(once(caller, sheet, (dry_run, allow_duplicate)))).await
}

async fn once(
    caller: &Caller<CustomersCreate>,
    sheet: &Sheet<'_>,
    (dry_run, allow_duplicate): (bool, bool),
) -> Result<Answer<Report>> {
    let mut act = caller.begin().await?;
    let mut taken = Taken {
        currency: chain::of_prices(&*act).await?,
        now: caller.now(),
        allow_duplicate,
        numbers: Lines::default(),
        contacts: Lines::default(),
        report: Report::default(),
    };
    taking::take_all(sheet, &mut act, &mut taken).await?;
    let import = Import {
        dry_run,
        action: "customers.import",
        entity_type: Entity::KIND.name(),
        to_change: Some(CustomersEdit::CODE),
    };
    taken.report.finish(caller, act, &import).await
}

/// A customer whom the file makes or changes.
struct Draft {
    line: u64,
    old: Option<Model>,
    new: Model,
    /// What the audit log is to say of it.
    details: Json,
}

/// What was taken of a file so far.
struct Taken {
    now: Instant,
    currency: (String, i16),
    allow_duplicate: bool,
    numbers: Lines,
    /// Telephone numbers and mail addresses of new customers, as they are compared.
    contacts: Lines,
    report: Report,
}

/// Each field is called like its column.
fn column_of(field: &str) -> &str {
    field
}

/// What a new customer may share with another one, with the column that it stands in.
fn contacts(row: &Model) -> impl Iterator<Item = (&'static str, &str)> {
    let all = [("phone", row.phone_digits.as_deref()), ("email", row.email_folded.as_deref())];
    all.into_iter().filter_map(|(column, text)| Some((column, text.filter(|text| !text.is_empty())?)))
}

impl Intake for Taken {
    fn report(&mut self) -> &mut Report {
        &mut self.report
    }

    async fn foresee(&mut self, tx: &Tx, rows: &[Row], ahead: &mut Ahead) -> Result<()> {
        let numbers: Vec<&str> = rows.iter().filter_map(number_of).collect();
        ahead.makes_customers |= numbers.len() < rows.len();
        if !numbers.is_empty() {
            let ids = living(numbers.into_iter().map(str::to_owned).collect()).select_only().column(Column::Id);
            ahead.customers.extend(ids.into_tuple::<Uuid>().all(tx).await?);
        }
        Ok(())
    }

    async fn take(&mut self, tx: &mut Tx, found: Vec<Row>) -> Result<()> {
        let found = self.keyed(found)?;
        let numbers = found.iter().filter_map(number_of).map(str::to_owned).collect();
        let stored = stored(tx, numbers).await?;
        let mut drafts = Vec::new();
        for row in &found {
            let old = number_of(row).and_then(|number| stored.get(number));
            match self.draft(row, old) {
                Ok(Some((new, details))) => drafts.push(Draft { line: row.line, old: old.cloned(), new, details }),
                Ok(None) => self.report.same(),
                Err(error) => self.report.refuse(row.line, error, column_of)?,
            }
        }
        let drafts = self.checked(tx, drafts).await?;
        self.write(tx, drafts).await
    }
}

impl Taken {
    /// The rows of which no other has the number.
    fn keyed(&mut self, found: Vec<Row>) -> Result<Vec<Row>> {
        let mut keyed = Vec::new();
        for row in found {
            self.report.read();
            match number_of(&row).and_then(|number| self.numbers.keep(number.to_owned(), row.line)) {
                Some(before) => self.report.refuse(row.line, twice("customerNumber", before), column_of)?,
                None => keyed.push(row),
            }
        }
        Ok(keyed)
    }

    /// The customer as the file has them, and what the audit log is to say of that; nothing, when it is what is there.
    fn draft(&self, row: &Row, old: Option<&Model>) -> Result<Option<(Model, Json)>> {
        let known = old.map(|old| cells_of(old, &self.currency));
        let (mut body, mut faults) = (Map::new(), Vec::new());
        if old.is_none() && number_of(row).is_some() {
            let text = "is the number of no customer; leave it empty for somebody new, who is given one";
            faults.push(wrong("customerNumber", text));
        }
        if row.cell("currencyCode").is_some_and(|code| !code.is_empty() && code.trim() != self.currency.0) {
            let text = format!("must be {}: amounts are in it, and nothing is converted", self.currency.0);
            faults.push(wrong("currencyCode", text));
        }
        let said = row.differing(known.as_ref().map(|known| &known[..]));
        cells::read::<Entity>(said, &fields::customer::BOOK, self.currency.1, (&mut body, &mut faults));
        all_right(faults)?;
        let mut new = match old {
            Some(_) if body.is_empty() => return Ok(None),
            Some(old) => resource::changed(Entity::KIND.fields(), old, &body, self.now)?,
            None => resource::draft(Entity::KIND.fields(), body.clone(), self.now)?,
        };
        customers::complete(old, &mut new)?;
        let details = match old {
            Some(old) if *old == new => return Ok(None),
            Some(old) => rows::difference(&Entity::KIND, old, &new)?,
            None => body.into(),
        };
        Ok(Some((new, details)))
    }

    /// Those who most likely are nobody else.
    async fn checked(&mut self, tx: &Tx, drafts: Vec<Draft>) -> Result<Vec<Draft>> {
        if self.allow_duplicate {
            return Ok(drafts);
        }
        let made = || drafts.iter().filter(|draft| draft.old.is_none()).map(|draft| &draft.new);
        let phones = made().filter_map(|row| row.phone_digits.clone()).collect();
        let emails = made().filter_map(|row| row.email_folded.clone()).collect();
        let known = duplicates::contacts(tx, phones, emails).await?;
        let mut good = Vec::with_capacity(drafts.len());
        for draft in drafts {
            match self.alone(&draft, &known) {
                Ok(()) => good.push(draft),
                Err(error) => self.report.refuse(draft.line, error, column_of)?,
            }
        }
        Ok(good)
    }

    fn alone(&mut self, Draft { line, old, new, .. }: &Draft, known: &HashMap<String, String>) -> Result<()> {
        if old.is_some() {
            return Ok(());
        }
        for (column, contact) in contacts(new) {
            let before = self.contacts.elsewhere(contact, *line).map(|line| format!("the customer of line {line}"));
            let other = known.get(contact).map(|number| format!("customer {number}"));
            if let Some(who) = before.or(other) {
                let text = format!(
                    "{who} has it too: leave the row out, give the customerNumber of who is meant, or send \
                     allowDuplicate=true if this is somebody else"
                );
                return Err(Error::field(column, text));
            }
        }
        for (_, contact) in contacts(new) {
            self.contacts.keep(contact.to_owned(), *line);
        }
        Ok(())
    }

    async fn write(&mut self, tx: &mut Tx, drafts: Vec<Draft>) -> Result<()> {
        let (mut made, mut changed) = (Vec::new(), Vec::new());
        for Draft { old, mut new, details, .. } in drafts {
            self.report.note(if old.is_none() { "create" } else { "edit" }, new.id, &details);
            rows::stamp::<Entity>(&mut new, self.now, old.is_none())?;
            if old.is_none() { made.push(new) } else { changed.push(new) }
        }
        self.report.made(made.len());
        self.report.changed(changed.len());
        // No store can have sold to somebody new on account: the id was drawn here.
        let numbers = customer_numbers::next_numbers(tx, made.len()).await?;
        for (row, number) in made.iter_mut().zip(numbers) {
            row.customer_number = number;
        }
        tx.insert_all::<Entity>(made).await.map_err(|error| rows::clash(&Entity::KIND, error))?;
        tx.write_all::<Entity>(changed).await.map_err(|error| rows::clash(&Entity::KIND, error))?;
        Ok(())
    }
}

/// The number that a row names somebody by.
fn number_of(row: &Row) -> Option<&str> {
    row.cell("customerNumber").map(str::trim).filter(|number| !number.is_empty())
}

/// The living customers with these numbers; no other request changes them before the transaction ends.
async fn stored(tx: &Tx, numbers: Vec<String>) -> Result<HashMap<String, Model>> {
    if numbers.is_empty() {
        return Ok(HashMap::new());
    }
    let found = living(numbers).order_by_asc(Column::Id).lock_exclusive().all(tx).await?;
    Ok(found.into_iter().map(|row| (row.customer_number.clone(), row)).collect())
}

fn living(numbers: Vec<String>) -> Select<Entity> {
    Entity::find().filter(Column::CustomerNumber.is_in(numbers)).filter(Column::DeletedAt.is_null())
}

#[cfg(test)]
mod tests {
    use tillkeep_model::fields::Side;

    use super::*;

    #[test]
    fn what_people_write_of_a_customer_has_a_column() {
        for field in fields::customer::BOOK.writable(Side::Hq) {
            assert!(COLUMNS.iter().any(|column| column.name == field.name), "{}", field.name);
        }
    }
}
