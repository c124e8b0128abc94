//! The refusals of an operation: one answer for each status, with the codes it may carry there.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::json;
use tillkeep_model::ErrorCode;
use utoipa::openapi::content::ContentBuilder;
use utoipa::openapi::extensions::Extensions;
use utoipa::openapi::header::HeaderBuilder;
use utoipa::openapi::response::{Response, ResponseBuilder};
use utoipa::openapi::schema::{
    AllOfBuilder, AnyOfBuilder, ArrayBuilder, KnownFormat, ObjectBuilder, Schema, SchemaFormat, SchemaType, Type,
};
use utoipa::openapi::{Ref, RefOr};

use super::operation::{JSON, Operation, string};

/// What each route may answer whatever it does.
pub(super) const ALWAYS: &[ErrorCode] = &[ErrorCode::Internal, ErrorCode::Unavailable];

/// Bodies that the specification fixes to the letter (section 7), by their names here.
const EXACT: &[(&str, &[(&str, bool)])] =
    &[("Unauthorized", &[("success", false)]), ("InvalidSyncTokenType", &[]), ("StoreNotFoundOrInactive", &[])];

fn exact_text(name: &str) -> &'static str {
    match name {
        "InvalidSyncTokenType" => "Invalid sync token type",
        "StoreNotFoundOrInactive" => "Store not found or inactive",
        _ => "Unauthorized",
    }
}

/// The schemas of the exact bodies.
pub(super) fn exact_bodies() -> impl Iterator<Item = (&'static str, Schema)> {
    EXACT.iter().map(|(name, flags)| {
        let mut object = ObjectBuilder::new()
            .additional_properties(Some(utoipa::openapi::schema::AdditionalProperties::FreeForm(false)));
        for (flag, value) in *flags {
            let value = ObjectBuilder::new().schema_type(Type::Boolean).enum_values(Some([json!(value)]));
            object = object.property(*flag, value).required(*flag);
        }
        let text = string().enum_values(Some([exact_text(name)]));
        (*name, object.property("error", text).required("error").into())
    })
}

/// Further keys of a refusal with this code.
fn extras(code: ErrorCode) -> Vec<(&'static str, RefOr<Schema>)> {
    let any = || ObjectBuilder::new().into();
    let texts = || ArrayBuilder::new().items(string()).into();
    let whole = || {
        let format = Some(SchemaFormat::KnownFormat(KnownFormat::Int64));
        ObjectBuilder::new().schema_type(Type::Integer).format(format).into()
    };
    let flag = || ObjectBuilder::new().schema_type(Type::Boolean).into();
    let id = || string().format(Some(SchemaFormat::KnownFormat(KnownFormat::Uuid))).into();
    match code {
        ErrorCode::Forbidden | ErrorCode::FloatNotDefault => vec![("required", texts()), ("approvable", flag())],
        ErrorCode::ApprovalRequired => {
            vec![("required", texts()), ("approvable", flag()), ("cashVariance", any())]
        }
        ErrorCode::CreditLimitExceeded => {
            vec![("required", texts()), ("approvable", flag()), ("available", whole())]
        }
        ErrorCode::ApproverLacksPermission => vec![("required", texts())],
        ErrorCode::Escalation => vec![("missing", texts())],
        ErrorCode::VersionConflict => {
            let by =
                ObjectBuilder::new().property("id", id()).required("id").property("name", string()).required("name");
            let at = string().format(Some(SchemaFormat::KnownFormat(KnownFormat::DateTime)));
            vec![("current", any()), ("changedBy", by.into()), ("changedAt", at.into())]
        }
        ErrorCode::PossibleDuplicate => vec![("candidates", ArrayBuilder::new().items(ObjectBuilder::new()).into())],
        ErrorCode::PendingData => vec![("sync", any())],
        ErrorCode::EpochChanged | ErrorCode::CursorAhead | ErrorCode::HistoryChanged => {
            vec![("epoch", string().into())]
        }
        ErrorCode::SecondFactorRequired => vec![("challenge", any())],
        ErrorCode::SaleNotFound => {
            let text = "At a store, where a sale is asked for by its id: which database has none.";
            vec![(
                "database",
                string().format(Some(SchemaFormat::KnownFormat(KnownFormat::Uuid))).description(Some(text)).into(),
            )]
        }
        ErrorCode::SessionAlreadyOpen => vec![("sessionId", id())],
        ErrorCode::VarianceNotAccepted => vec![("expectedCash", whole()), ("cashVariance", whole())],
        ErrorCode::Underpaid => vec![("due", whole()), ("tendered", whole())],
        ErrorCode::TotalMismatch => vec![("quote", any())],
        _ => Vec::new(),
    }
}

/// What a status means, for people.
fn meaning(status: u16) -> &'static str {
    match status {
        400 => "The request cannot be read.",
        401 => "The token is missing or not valid here.",
        403 => "The token is valid and does not allow this.",
        404 => "There is no such thing, or not for this caller.",
        408 => "The request took too long to arrive.",
        409 => "The state of things is against it.",
        413 => "The body is too large.",
        415 => "The body is of another kind than this route takes.",
        422 => "A field or a parameter is not as it must be; `details` names it.",
        426 => "This is a WebSocket, and the request is none.",
        429 => "Too many requests: try again later.",
        503 => "Not now: try again later.",
        _ => "Something went wrong here; `requestId` names it in the log.",
    }
}

/// The refusals of `operation`, by status, each with a name when its body is one that many operations share.
pub(super) fn refusals(operation: &Operation) -> BTreeMap<u16, (String, Response)> {
    let mut by_status: BTreeMap<u16, BTreeSet<ErrorCode>> = BTreeMap::new();
    for code in operation.errors.iter().chain(ALWAYS) {
        by_status.entry(code.status()).or_default().insert(*code);
    }
    if !operation.exact.is_empty() {
        by_status.entry(401).or_default();
    }
    let refusal = |(status, codes): (u16, BTreeSet<ErrorCode>)| {
        let codes: Vec<ErrorCode> = codes.into_iter().collect();
        let exact: Vec<&str> = if status == 401 { operation.exact.iter().copied().collect() } else { Vec::new() };
        let names = exact.iter().copied().chain(codes.iter().map(|code| code.as_str()));
        let name = format!("{status}.{}", names.collect::<Vec<_>>().join("."));
        (status, (name, response(status, &exact, &codes)))
    };
    by_status.into_iter().map(refusal).collect()
}

/// What a refusal with a status is called: one schema for all that have it, so that a client has one class for each.
const fn class(status: u16) -> &'static str {
    match status {
        400 => "BadRequestError",
        401 => "AuthenticationError",
        403 => "ForbiddenError",
        404 => "NotFoundError",
        405 => "MethodNotAllowedError",
        408 => "RequestTimeoutError",
        409 => "ConflictError",
        413 => "PayloadTooLargeError",
        415 => "UnsupportedMediaTypeError",
        422 => "ValidationError",
        426 => "UpgradeRequiredError",
        429 => "TooManyRequestsError",
        503 => "UnavailableError",
        _ => "InternalError",
    }
}

/// The schemas of all refusals of these operations, by what they are called.
pub(super) fn classes<'a>(
    operations: impl Iterator<Item = &'a Operation>,
) -> impl Iterator<Item = (String, RefOr<Schema>)> {
    let mut by_class: BTreeMap<&'static str, (u16, BTreeSet<ErrorCode>)> = BTreeMap::new();
    for code in operations.flat_map(|operation| operation.errors.iter().chain(ALWAYS)) {
        let status = code.status();
        by_class.entry(class(status)).or_insert_with(|| (status, BTreeSet::new())).1.insert(*code);
    }
    by_class.into_iter().map(|(name, (status, codes))| (name.to_owned(), coded(status, codes).into()))
}

fn response(status: u16, exact: &[&str], codes: &[ErrorCode]) -> Response {
    let mut bodies: Vec<RefOr<Schema>> = exact.iter().map(|name| Ref::from_schema_name(*name).into()).collect();
    if !codes.is_empty() {
        bodies.push(Ref::from_schema_name(class(status)).into());
    }
    let schema: RefOr<Schema> = match (bodies.pop(), bodies.is_empty()) {
        (Some(only), true) => only,
        (last, _) => bodies.into_iter().chain(last).fold(AnyOfBuilder::new(), AnyOfBuilder::item).into(),
    };
    let content = ContentBuilder::new().schema(Some(schema)).build();
    let words: Vec<&str> = codes.iter().map(|code| code.as_str()).collect();
    let mut text = meaning(status).to_owned();
    if !words.is_empty() {
        let named: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
        text = format!("{text} Codes: {}.", named.join(", "));
    }
    let mut response = ResponseBuilder::new().description(text).content(JSON, content).build();
    response.extensions = Some(Extensions::from_iter([("x-codes", json!(words))]));
    if matches!(status, 429 | 503) {
        let seconds = ObjectBuilder::new().schema_type(Type::Integer).minimum(Some(0));
        let header = HeaderBuilder::new().description(Some("Seconds to wait.")).schema(Some(seconds)).build();
        response.headers.insert("Retry-After".to_owned(), header.into());
    }
    response
}

/// The error of the contract with one of `codes`, which say what else is in it.
fn coded(status: u16, codes: BTreeSet<ErrorCode>) -> AllOfBuilder {
    let words = codes.iter().map(|code| code.as_str());
    let mut object = ObjectBuilder::new()
        .schema_type(SchemaType::AnyValue)
        .property("code", string().enum_values(Some(words.collect::<Vec<_>>())));
    for (key, schema) in codes.into_iter().flat_map(extras) {
        object = object.property(key, schema);
    }
    AllOfBuilder::new().description(Some(meaning(status))).item(Ref::from_schema_name("Error")).item(object)
}
