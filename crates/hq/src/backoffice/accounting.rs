//! The accounts on which the journal books, for the chain as a whole. What nobody has said stands on the usual ones.

use serde::{Deserialize, Serialize};
use serde_json::json;
use tillkeep_http::error::Result;
use tillkeep_http::resource::Check;
use tillkeep_http::{Answer, Body, Caller};
use tillkeep_model::ErrorCode;
use tillkeep_model::accounting::{Account, AccountKind, Chart};
use tillkeep_model::permission::code::{ReportsZReport, StoresEdit};
use tillkeep_storage::sea_orm::ConnectionTrait;
use tillkeep_storage::{audit, settings};
use utoipa::ToSchema;

use super::conflict::{self, Named};
use crate::state::Routes;

/// What the audit log calls them.
const AUDITED: &str = "accounting";

/// Accounts that a chain may say, and that one request changes.
const MOST: usize = 500;
const LONGEST_ACCOUNT: usize = 40;
/// Five rates on one line, each with a code of 20 letters.
const LONGEST_CODE: usize = 110;

/// Who reads the journal, and who says where it books.
type Reads = (ReportsZReport, StoresEdit);

fn read(text: Option<&str>) -> Result<Chart> {
    text.map_or_else(|| Ok(Chart::default()), |text| Ok(serde_json::from_str(text)?))
}

/// Those that no other request changes before the transaction ends.
async fn locked(conn: &impl ConnectionTrait) -> Result<Chart> {
    let unsaid = serde_json::to_string(&Chart::default())?;
    read(Some(&settings::get_to_change(conn, settings::ACCOUNTS, || unsaid).await?))
}

/// The accounts of the journal.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = AccountingAccounts)]
struct View {
    /// For `expectedVersion`; 0 before somebody has said one.
    version: i64,
    /// What the chain has said, by kind and code.
    accounts: Vec<Said>,
    /// Each kind, with the account that it stands on when nothing is said.
    usual: Vec<Usual>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = AccountingAccount)]
struct Said {
    kind: String,
    /// Null of all that no account with a code is for.
    code: Option<String>,
    account: String,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = AccountingUsual)]
struct Usual {
    kind: &'static str,
    account: &'static str,
    name: &'static str,
    /// Whether single tax rates, tenders or reasons may have accounts of their own.
    has_codes: bool,
}

impl View {
    fn new(chart: Chart) -> Self {
        let said = |Account { kind, code, account }: Account| Said { kind, code, account };
        let usual = |kind: &AccountKind| Usual {
            kind: kind.word(),
            account: kind.usual(),
            name: kind.name(),
            has_codes: kind.has_codes(),
        };
        Self {
            version: chart.version,
            accounts: chart.accounts.into_iter().map(said).collect(),
            usual: AccountKind::ALL.iter().map(usual).collect(),
        }
    }
}

/// What changes; accounts that are left out stay.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = AccountsSent)]
struct Change {
    #[schema(max_items = 500)]
    accounts: Vec<Sent>,
    /// The `version` that the change is based on; another one is refused.
    expected_version: Option<i64>,
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = AccountSent)]
struct Sent {
    /// One of those in `usual`.
    #[schema(max_length = 20)]
    kind: String,
    /// Of tax rates (`VAT19`, and `STATE+CITY` where a line has two), of a tender, or of a reason.
    #[schema(min_length = 1, max_length = 110)]
    code: Option<String>,
    /// Letters, digits, spaces and `.`, `-`, `_`, `/`; null for the usual one.
    #[schema(min_length = 1, max_length = 40)]
    account: Option<String>,
}

/// Whether bookkeeping programs take it for the number or the name of an account.
fn is_account(text: &str) -> bool {
    let fits = |letter: char| letter.is_alphanumeric() || " .-_/".contains(letter);
    text.starts_with(char::is_alphanumeric)
        && text.trim() == text
        && (1..=LONGEST_ACCOUNT).contains(&text.chars().count())
        && text.chars().all(fits)
}

fn is_code(text: &str) -> bool {
    (1..=LONGEST_CODE).contains(&text.chars().count()) && !text.chars().any(char::is_control)
}

/// The accounts as they are with what was sent.
fn changed(old: &Chart, sent: &[Sent]) -> Result<Chart> {
    let mut check = Check::default();
    check.that(sent.len() <= MOST, "accounts", &format!("must be at most {MOST} at once"));
    let mut chart = Chart { version: old.version + 1, accounts: old.accounts.clone() };
    for (place, one) in sent.iter().enumerate().take(MOST) {
        let at = |name: &str| format!("accounts[{place}].{name}");
        let (code, account) = (one.code.as_deref(), one.account.as_deref());
        let text = format!(
            "must be 1 to {LONGEST_ACCOUNT} letters, digits, spaces, points, dashes or slashes, a letter or digit first; or null"
        );
        check.that(account.is_none_or(is_account), &at("account"), &text);
        let text = format!("must be the code of tax rates, a tender or a reason, of 1 to {LONGEST_CODE} letters");
        check.that(code.is_none_or(is_code), &at("code"), &text);
        let Some(kind) = AccountKind::parse(&one.kind) else {
            let words: Vec<&str> = AccountKind::ALL.iter().copied().map(AccountKind::word).collect();
            check.that(false, &at("kind"), &format!("is nothing that the journal books: use {}", words.join(", ")));
            continue;
        };
        let text = "must be left out: this kind is on one account";
        check.that(code.is_none() || kind.has_codes(), &at("code"), text);
        chart.say(kind, code, account);
    }
    let text = format!("are more than {MOST} with those that are there: take some back with account null");
    check.that(chart.accounts.len() <= MOST, "accounts", &text);
    check.finish()?;
    Ok(chart)
}

/// `GET /accounting/accounts`
async fn get(caller: Caller<Reads>) -> Result<Answer<View>> {
    let said = settings::get(caller.reader(), settings::ACCOUNTS).await?;
    Ok(Answer(View::new(read(said.as_deref())?)))
}

/// `PATCH /accounting/accounts`: journals that were taken before keep what they say.
async fn edit(caller: Caller<StoresEdit>, Body(body): Body<Change>) -> Result<Answer<View>> {
    caller.everywhere()?;
    let act = caller.begin().await?;
    let old = locked(&*act).await?;
    let named = Named { entity_type: AUDITED, id: None, changed_at: None };
    let current = || Ok(serde_json::to_value(&old)?);
    conflict::refuse_outdated(&act, &named, (body.expected_version, old.version), current).await?;
    let new = changed(&old, &body.accounts)?;
    if new.accounts == old.accounts {
        return Ok(Answer(View::new(old)));
    }
    settings::set(&*act, settings::ACCOUNTS, &serde_json::to_string(&new)?).await?;
    let details = json!({"from": old.accounts, "to": new.accounts});
    act.done(audit::Entry { entity_type: Some(AUDITED), details, ..caller.audit("accounting.edit") }).await?;
    Ok(Answer(View::new(new)))
}

/// The routes of the accounts.
pub(super) fn routes(routes: Routes) -> Routes {
    routes
        .get("/accounting/accounts", get)
        .about("The accounts on which the journal books, as the chain has said them, and the usual ones.")
        .patch("/accounting/accounts", edit)
        .about("Say accounts of the journal, or take back what was said.")
        .fails(&[ErrorCode::VersionConflict])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(kind: &str, code: Option<&str>, account: Option<&str>) -> Sent {
        Sent { kind: kind.to_owned(), code: code.map(str::to_owned), account: account.map(str::to_owned) }
    }

    #[test]
    fn what_is_sent_is_added_to_what_was_said_and_null_takes_it_back() {
        let both = [sent("revenue", None, Some("8000")), sent("revenue", Some("VAT19"), Some("8400"))];
        let chart = changed(&Chart::default(), &both).expect("accounts");
        assert_eq!((chart.version, chart.account(AccountKind::Revenue, Some("VAT19"))), (1, "8400"));
        let chart = changed(&chart, &[sent("revenue", Some("VAT19"), None)]).expect("accounts");
        assert_eq!((chart.version, chart.account(AccountKind::Revenue, Some("VAT19"))), (2, "8000"));
    }

    #[test]
    fn each_refusal_names_its_field() {
        for (one, field) in [
            (sent("sales", None, Some("8000")), "accounts[1].kind"),
            (sent("safe", Some("X"), Some("1010")), "accounts[1].code"),
            (sent("revenue", Some(""), Some("8000")), "accounts[1].code"),
            (sent("revenue", None, Some("=1+1")), "accounts[1].account"),
            (sent("revenue", None, Some("")), "accounts[1].account"),
            (sent("revenue", None, Some(" 1")), "accounts[1].account"),
            (sent("revenue", None, Some("-1")), "accounts[1].account"),
        ] {
            let refused = changed(&Chart::default(), &[sent("tax", None, Some("1776")), one]).expect_err(field);
            let fields: Vec<&str> = refused.details().iter().map(|detail| detail.field.as_str()).collect();
            assert_eq!(fields, [field]);
        }
    }
}
