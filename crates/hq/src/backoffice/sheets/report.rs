//! What came of a file, or would come of it.

use serde::Serialize;
use serde_json::{Value as Json, json};
use tillkeep_http::auth::AuditedTx;
use tillkeep_http::error::{Error, FieldError, Result};
use tillkeep_http::{Answer, Caller};
use tillkeep_model::permission::Requirement;
use tillkeep_storage::audit;
use utoipa::ToSchema;
use uuid::Uuid;

use super::CHUNK;
use crate::backoffice::rows;

/// Faults that are told one by one at the most.
const TOLD: usize = 100;

/// What is wrong in one place of a file.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ImportFault)]
struct Fault {
    /// In which the row begins, from 1: the first one has the names of the columns.
    line: u64,
    /// Null for what concerns the whole row.
    column: Option<String>,
    /// What is wrong, and what to do about it.
    message: String,
}

/// What came of a file, or would come of it.
#[derive(Debug, Default, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Imported)]
pub(crate) struct Report {
    /// Nothing was written.
    dry_run: bool,
    /// Rows of the file.
    rows: u64,
    created: u64,
    updated: u64,
    /// Rows that say what is there already.
    unchanged: u64,
    /// What is wrong with the file, by line; the first 100 faults. With one of them nothing is written.
    errors: Vec<Fault>,
    /// How many there are in all.
    error_count: u64,
    /// For the audit log: what became of each row.
    #[serde(skip)]
    lines: Vec<Line>,
}

/// What the audit log is to say of a row, with the details as text: a file may have many rows.
#[derive(Debug)]
struct Line {
    action: &'static str,
    id: Uuid,
    details: String,
}

impl Line {
    fn entry<P: Requirement>(&self, caller: &Caller<P>, entity_type: &'static str) -> Result<audit::Entry> {
        Ok(rows::entry(caller, self.action, entity_type, self.id, serde_json::from_str(&self.details)?))
    }
}

/// What an import is called, and what it needs.
pub(super) struct Import {
    pub dry_run: bool,
    pub action: &'static str,
    pub entity_type: &'static str,
    /// The permission to change what is there, where that of the route is another one.
    pub to_change: Option<&'static str>,
}

impl Report {
    /// A row more.
    pub(super) fn read(&mut self) {
        self.rows += 1;
    }

    pub(super) fn same(&mut self) {
        self.unchanged += 1;
    }

    pub(super) fn made(&mut self, rows: usize) {
        self.created += rows as u64;
    }

    pub(super) fn changed(&mut self, rows: usize) {
        self.updated += rows as u64;
    }

    /// Keeps what the audit log is to say of a row, as it does of one that is written by itself.
    pub(super) fn note(&mut self, action: &'static str, id: Uuid, details: &Json) {
        self.lines.push(Line { action, id, details: details.to_string() });
    }

    pub(super) fn fault(&mut self, line: u64, column: Option<&str>, message: &str) {
        self.error_count += 1;
        if self.errors.len() < TOLD {
            self.errors.push(Fault { line, column: column.map(str::to_owned), message: message.to_owned() });
        }
    }

    /// Keeps what is wrong with the row of `line`, with the columns that its fields stand in; what is no fault of the row goes on.
    pub(super) fn refuse(&mut self, line: u64, error: Error, column: fn(&str) -> &str) -> Result<()> {
        if error.code().status() >= 500 {
            return Err(error);
        }
        if error.details().is_empty() {
            self.fault(line, None, error.text());
        }
        for FieldError { field, message } in error.details() {
            // `barcodes[2]` and `packs[0].code` stand in one cell.
            let field = field.split(['[', '.']).next().unwrap_or_default();
            self.fault(line, Some(column(field)), message);
        }
        Ok(())
    }

    /// Ends an import: all of the file is written, or nothing.
    pub(super) async fn finish<P: Requirement>(
        mut self,
        caller: &Caller<P>,
        act: AuditedTx,
        of: &Import,
    ) -> Result<Answer<Self>> {
        let lacks = |code: &&str| caller.access.stores(&[*code], caller.store_id).is_some();
        if let Some(code) = of.to_change.filter(|_| self.updated > 0).filter(lacks) {
            return Err(Error::forbidden(&[code]));
        }
        self.errors.sort_by_key(|fault| fault.line);
        self.dry_run = of.dry_run;
        if of.dry_run {
            return Ok(Answer(self));
        }
        if self.error_count > 0 {
            return Err(self.refusal());
        }
        if self.created + self.updated == 0 {
            return Ok(Answer(self));
        }
        let details = json!({
            "rows": self.rows, "created": self.created, "updated": self.updated, "unchanged": self.unchanged,
        });
        let entry = audit::Entry { entity_type: Some(of.entity_type), details, ..caller.audit(of.action) };
        // All who write lines of the audit log wait from the first of these to the commit.
        act.write_texts().await?;
        for lines in std::mem::take(&mut self.lines).chunks(CHUNK) {
            let entries = lines.iter().map(|line| line.entry(caller, of.entity_type));
            act.note(entries.collect::<Result<_>>()?).await?;
        }
        act.done(entry).await?;
        Ok(Answer(self))
    }

    fn refusal(&self) -> Error {
        let place = |fault: &Fault| match &fault.column {
            Some(column) => format!("line {}, {column}", fault.line),
            None => format!("line {}", fault.line),
        };
        let field = |fault: &Fault| FieldError { field: place(fault), message: fault.message.clone() };
        let refusal = Error::fields(self.errors.iter().map(field).collect());
        refusal.with("errors", &self.errors).with("errorCount", self.error_count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hundred_faults_are_told_and_all_of_them_counted() {
        let mut report = Report::default();
        for line in 2..252 {
            let error = Error::field("departmentId", "is no department");
            report.refuse(line, error, |_| "departmentCode").expect("a fault of the file");
        }
        assert_eq!((report.errors.len(), report.error_count), (TOLD, 250));
        let refusal = report.refusal();
        assert_eq!(refusal.details()[0].field, "line 2, departmentCode");
        let passing = Error::new(tillkeep_model::ErrorCode::Unavailable, "busy");
        assert!(report.refuse(2, passing, |_| "").is_err(), "no fault of the file");
    }
}
