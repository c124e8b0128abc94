//! At which till a caller asks or does something.

use serde::Deserialize;
use tillkeep_http::Caller;
use tillkeep_http::auth::device::wrong_terminal;
use tillkeep_http::error::{Error, Result};
use tillkeep_model::permission::Requirement;
use tillkeep_model::permission::code::RegistersOpen;
use tillkeep_storage::entity::register;
use utoipa::ToSchema;

/// The terminal a question is about.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Terminal {
    terminal_id: Option<String>,
}

impl Terminal {
    pub(crate) const fn new(terminal_id: Option<String>) -> Self {
        Self { terminal_id }
    }

    /// As named, else the one the caller signed in at.
    pub(crate) fn named_or_own<'a, P: Requirement>(&'a self, caller: &'a Caller<P>) -> Result<&'a str> {
        let terminal = self.terminal_id.as_deref().or(caller.terminal_id.as_deref());
        terminal.ok_or_else(|| Error::field("terminalId", "is required; name the till"))
    }
}

/// The code with which a caller acts at other tills than their own.
const ELSEWHERE: [&str; 1] = [RegistersOpen::CODE];

/// The terminal where the caller does something: the one they signed in at, which a terminal that they name must be. A
/// sign-in without one may name one with `registers.open`.
pub(crate) fn acting_at<'a, P: Requirement>(caller: &'a Caller<P>, named: Option<&'a str>) -> Result<Option<&'a str>> {
    match (caller.terminal_id.as_deref(), named) {
        (own, None) => Ok(own),
        (Some(own), Some(named)) if own == named => Ok(Some(own)),
        (Some(_), Some(_)) => Err(wrong_terminal("you signed in at another till; act there, or sign in at this one")),
        (None, Some(named)) if caller.may(&ELSEWHERE) => Ok(Some(named)),
        (None, Some(_)) => Err(wrong_terminal("sign in at this till with POST /api/v1/auth/pin-login to act there")
            .with("required", ELSEWHERE)),
    }
}

/// At which drawers a caller may act: at that of the till where they signed in, or with `registers.open` at all of
/// them.
#[derive(Clone, Debug)]
pub(crate) struct Reach {
    terminal_id: Option<String>,
    everywhere: bool,
}

impl Reach {
    pub(crate) fn new<P: Requirement>(caller: &Caller<P>) -> Self {
        Self { terminal_id: caller.terminal_id.clone(), everywhere: caller.may(&ELSEWHERE) }
    }

    /// Refuses the drawer of another till.
    pub(crate) fn check(&self, register: &register::Model) -> Result<()> {
        if self.everywhere || self.terminal_id.as_deref() == Some(&register.terminal_id) {
            return Ok(());
        }
        let text = "the drawer of another till than the one you signed in at needs registers.open";
        Err(wrong_terminal(text).with("required", ELSEWHERE))
    }
}
