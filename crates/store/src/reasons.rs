//! Why something was done at a till: a reason of headquarters' list by its code, or a text. `docs/domain.md`, "Reasons".

use tillkeep_http::error::Error;
use tillkeep_model::reason::ReasonKind;

use crate::memory::Shop;

/// A text without the spaces around it; one of spaces alone says nothing.
pub(crate) fn said(text: Option<&str>) -> Option<&str> {
    text.map(str::trim).filter(|text| !text.is_empty())
}

/// A reason as a document keeps it: the code, and the name or the text as it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Reason {
    pub code: Option<String>,
    pub text: String,
}

/// What is wrong with a reason: `reason` or `reasonCode`, and why.
pub(crate) type Wrong = (&'static str, String);

/// The reason of the kind `kind` that `code` and `text` say.
pub(crate) fn read(shop: &Shop, kind: ReasonKind, code: Option<&str>, text: Option<&str>) -> Result<Reason, Wrong> {
    let listed = || shop.reasons.iter().filter(|row| row.is_active && row.kind == kind);
    let text = said(text);
    if let Some(code) = said(code) {
        let Some(row) = listed().find(|row| row.code == code) else {
            let codes: Vec<&str> = listed().map(|row| row.code.as_str()).collect();
            return Err(("reasonCode", format!("is no reason for this; choose of {}", codes.join(", "))));
        };
        if row.needs_note && text.is_none() {
            return Err(("reason", format!("is required with {code}: say what happened")));
        }
        return Ok(Reason { code: Some(row.code.clone()), text: text.unwrap_or(&row.name).to_owned() });
    }
    let wants_code = shop.own().is_ok_and(|own| own.reasons_required) && listed().next().is_some();
    match text {
        _ if wants_code => Err(("reasonCode", "is required: choose one of GET /reasons".to_owned())),
        Some(text) => Ok(Reason { code: None, text: text.to_owned() }),
        None => Err(("reason", "is required: say why, or choose one of GET /reasons".to_owned())),
    }
}

/// As [`read`], of a request that says its reason beside all else.
pub(crate) fn required(shop: &Shop, kind: ReasonKind, code: Option<&str>, text: Option<&str>) -> Result<Reason, Error> {
    read(shop, kind, code, text).map_err(|(field, text)| Error::field(field, text))
}

/// Whether a stored reason is what a repeated request says.
pub(crate) fn is_same(stored: (Option<&str>, Option<&str>), code: Option<&str>, text: Option<&str>) -> bool {
    let (code, text) = (said(code), said(text));
    // Of a code alone the name was kept, which may be another one now.
    stored.0 == code && (stored.1 == text || (code.is_some() && text.is_none()))
}
