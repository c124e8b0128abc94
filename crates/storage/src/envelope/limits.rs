//! How long the texts and lists of a pushed row may be, and what becomes of longer ones. `docs/sync.md`, rule U9.

use std::collections::BTreeSet;

use serde_json::{Map, Value as Json};
use tillkeep_model::Instant;
use tillkeep_model::fields::{Book, Field, Rule};
use tillkeep_model::wire::camel;

use super::columns::Had;
use super::kept_ids::ID_USED_ELSEWHERE;
use super::keys::Keys;
use super::verdict::Verdict;
use crate::registry::Child;
use crate::rows::owners::owns;
use crate::rows::{Row, SyncTable};

/// How the flag of what was cut begins; the name of the field follows.
pub(crate) const CUT: &str = "cut:";
/// The code of what is refused for its size.
pub(crate) const TOO_LARGE: &str = "too_large";

/// Letters of a word that is none of those that this version knows.
const LONGEST_WORD: usize = 100;

/// The fields of a table that have rules.
pub(crate) struct Limits(Vec<Limit>);

struct Limit {
    column: &'static str,
    /// Of the column among those of its table.
    place: usize,
    field: &'static Field,
}

impl Limits {
    pub(crate) fn new(table: &dyn SyncTable, book: Option<&Book>) -> Self {
        let limit = |(place, column)| Some(Limit { column, place, field: book?.field(column)? });
        Self(table.columns().into_iter().enumerate().filter_map(limit).collect())
    }

    /// The rule of `column`.
    pub(crate) fn rule(&self, column: &str) -> Option<Rule> {
        self.0.iter().find(|limit| limit.column == column).map(|limit| limit.field.rule)
    }

    /// The columns that have rules.
    pub(crate) fn columns(&self) -> impl Iterator<Item = &'static str> {
        self.0.iter().map(|limit| limit.column)
    }

    /// Whether `column` of `row` may be what was left when something was cut off.
    pub(crate) fn is_full(&self, column: &str, row: &dyn Row) -> bool {
        let most = match self.rule(column) {
            Some(Rule::Text { max, .. }) => max,
            Some(Rule::Word(_)) => LONGEST_WORD,
            // Of anything else nothing was left.
            _ => 0,
        };
        row.text(column).is_none_or(|text| text.chars().count() >= most)
    }

    /// What is wrong with the values of `row` that its sender wrote; the error names the field. What HQ had before (`had`)
    /// is not asked for: a row from before a rule stays editable.
    pub(crate) fn problem(
        &self,
        row: &dyn Row,
        keys: &Keys,
        owned: &[&str],
        had: Option<&Had>,
        now: Instant,
    ) -> Option<String> {
        let mut written = self.0.iter().filter(|limit| keys.has(limit.place) && owns(owned, limit.column));
        written.find_map(|Limit { column, field, .. }| {
            let value = row.get(column)?;
            if had.is_some_and(|had| had.get(column) == Some(&value)) {
                return None;
            }
            let problem = field.problems((&value).into(), now).into_iter().next()?;
            Some(format!("{}: {}", problem.field, problem.message))
        })
    }

    /// Whether `kept` is what HQ keeps of `row` when it cuts off what is too much.
    pub(crate) fn is_kept(&self, row: &Map<String, Json>, kept: &Map<String, Json>) -> bool {
        let same = |(name, value): (&String, &Json)| {
            // Also what is too long and was there before the limit.
            if kept.get(name) == Some(value) {
                return true;
            }
            let column = self.0.iter().find(|limit| limit.field.name == name).map(|limit| limit.column);
            let rule = column.and_then(|column| self.rule(column));
            match rule.map_or(Fitting::All, |rule| fitting(rule, &value.to_string())) {
                Fitting::All => false,
                Fitting::Beginning(text) => kept.get(name) == serde_json::from_str(&text).ok().as_ref(),
                Fitting::Nothing => true,
            }
        };
        row.len() == kept.len() && row.iter().all(same)
    }
}

/// What of a value is kept.
pub(crate) enum Fitting {
    All,
    /// The beginning of a text, as JSON.
    Beginning(String),
    Nothing,
}

/// What of the JSON `value` fits by a rule.
pub(crate) fn fitting(rule: Rule, value: &str) -> Fitting {
    match rule {
        Rule::Text { max, .. } => beginning(value, max),
        Rule::Word(_) => beginning(value, LONGEST_WORD),
        Rule::Json { max } if value.len() > max => Fitting::Nothing,
        _ => Fitting::All,
    }
}

/// The first `max` characters of a text, when it has more.
fn beginning(json: &str, max: usize) -> Fitting {
    if !json.starts_with('"') || json.len() <= max {
        return Fitting::All;
    }
    let Ok(text) = serde_json::from_str::<String>(json) else { return Fitting::All };
    match text.char_indices().nth(max) {
        Some((end, _)) => serde_json::to_string(&text[..end]).map_or(Fitting::Nothing, Fitting::Beginning),
        None => Fitting::All,
    }
}

/// The flag of a column of which something was cut off, of a row or of a line in `list`.
pub(crate) fn flag(list: Option<&str>, column: &str) -> String {
    let field = camel(column);
    list.map_or_else(|| format!("{CUT}{field}"), |list| format!("{CUT}{list}.{field}"))
}

/// The flags of a merged row that stay with it: of what was cut off, of what its sender wrote now, of `more`, and of what was
/// cut or renamed before and is still so.
pub(crate) fn flags(
    row: &dyn Row,
    keys: &Keys,
    owned: &[&str],
    more: impl Iterator<Item = String>,
) -> BTreeSet<String> {
    let had = row.text("flags").and_then(|flags| serde_json::from_str::<Vec<String>>(&flags).ok()).unwrap_or_default();
    let mut flags: BTreeSet<String> =
        had.into_iter().filter(|flag| flag.starts_with(CUT) || flag == ID_USED_ELSEWHERE).collect();
    // Hardly ever one was cut before.
    if flags.iter().any(|flag| flag.starts_with(CUT)) {
        for column in keys.columns().filter(|column| owns(owned, column)) {
            flags.remove(&flag(None, column));
        }
    }
    flags.extend(keys.cut.iter().filter(|column| owns(owned, column)).map(|column| flag(None, column)));
    flags.extend(more);
    flags
}

/// A document with more lines than there may be.
pub(crate) fn too_many(child: &Child, count: usize) -> Verdict {
    let text = format!("data.{}: has {count} lines, at most {}; make several documents of it", child.key, child.most);
    Verdict::refused(TOO_LARGE, text)
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tillkeep_model::fields;

    use super::*;
    use crate::entity::sale_payment;
    use crate::rows::Of;

    #[test]
    fn the_beginning_of_a_text_is_what_headquarters_keeps_of_it_and_nothing_else_is() {
        let limits = Limits::new(&Of::<sale_payment::Entity>::NEW, Some(&fields::sale::PAYMENT));
        let payment = |last4: &str, amount: i64| json!({"cardLast4": last4, "amount": amount});
        let kept = |row: &Json, other: &Json| match (row, other) {
            (Json::Object(row), Json::Object(other)) => limits.is_kept(row, other),
            _ => panic!("objects"),
        };
        assert!(kept(&payment("12345", 1), &payment("1234", 1)));
        assert!(kept(&payment("éüöäß", 1), &payment("éüöä", 1)));
        assert!(kept(&payment("1234", 1), &payment("1234", 1)));
        assert!(kept(&payment("12345", 1), &payment("12345", 1)), "what was there before the limit stays whole");
        for other in [payment("123", 1), payment("1235", 1), payment("1234", 2), json!({"cardLast4": "1234"})] {
            assert!(!kept(&payment("12345", 1), &other), "{other}");
        }
        assert!(!kept(&payment("123", 1), &payment("12", 1)), "what fits is kept whole");
    }
}
