//! From the route table to the document.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value as Json, json};
use tillkeep_model::ErrorCode;
use utoipa::openapi::extensions::Extensions;
use utoipa::openapi::path::{HttpMethod, OperationBuilder, ParameterBuilder, ParameterIn, PathItem};
use utoipa::openapi::schema::{Components, Schema};
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityRequirement, SecurityScheme};
use utoipa::openapi::tag::TagBuilder;
use utoipa::openapi::{Info, License, OpenApi, OpenApiBuilder, PathsBuilder, Ref, RefOr, Required, Server};

use super::errors::{classes, exact_bodies, refusals};
use super::examples::Examples;
use super::operation::{Operation, string};
use super::replies::ErrorBody;
use crate::route::{Owner, Protection, Route};

/// What a server says of itself.
#[derive(Clone, Copy)]
pub struct About {
    pub title: &'static str,
    pub text: &'static str,
    /// What the tests asked each route and were answered: `docs/generated/examples-….json`.
    pub examples: &'static str,
}

/// The description of a server with these routes.
pub fn document(about: About, routes: &[Route]) -> OpenApi {
    let mut shared = Operation::default();
    shared.schema::<ErrorBody>();
    let mut used: BTreeMap<String, usize> = BTreeMap::new();
    for route in routes {
        shared.share(&route.operation);
        for (name, _) in refusals(&route.operation).into_values() {
            *used.entry(name).or_default() += 1;
        }
    }
    let examples = Examples::read(about.examples);
    let mut components = Components::new();
    let mut paths = PathsBuilder::new();
    for route in routes {
        let mut operation = described(route, &examples);
        for (status, (name, response)) in refusals(&route.operation) {
            // A refusal of one route alone is described there.
            let response: RefOr<_> = if used.get(&name).is_some_and(|count| *count > 1) {
                components.responses.insert(name.clone(), response.into());
                Ref::from_response_name(name).into()
            } else {
                response.into()
            };
            operation = operation.response(status.to_string(), response);
        }
        paths = paths.path(route.full_path(), PathItem::new(method(route.method), operation));
    }
    let wanted = |name: &str| routes.iter().any(|route| route.operation.exact.contains(name));
    let exact = exact_bodies()
        .filter(|(name, _)| wanted(name))
        .map(|(name, schema)| (name.to_owned(), RefOr::<Schema>::from(schema)));
    let classes = classes(routes.iter().map(|route| &route.operation));
    components.schemas = shared.schemas.into_iter().chain(exact).chain(classes).collect();
    for (name, text) in [
        ("userToken", "The access token of a person, from POST /api/v1/auth/login or /api/v1/auth/pin-login."),
        ("syncToken", "The sync token of a store, from POST /api/v1/stores/{id}/provision."),
    ] {
        let scheme = HttpBuilder::new().scheme(HttpAuthScheme::Bearer).bearer_format("JWT").description(Some(text));
        if routes.iter().any(|route| route.operation.security == Some(name)) {
            components.security_schemes.insert(name.to_owned(), SecurityScheme::Http(scheme.build()).into());
        }
    }
    let mut info = Info::new(about.title, env!("CARGO_PKG_VERSION"));
    info.description = Some(about.text.to_owned());
    let mut license = License::new("Apache-2.0");
    license.identifier = Some("Apache-2.0".to_owned());
    info.license = Some(license);
    let mut tags: Vec<&str> = routes.iter().map(Route::tag).collect();
    tags.sort_unstable();
    tags.dedup();
    let mut document = OpenApiBuilder::new()
        .info(info)
        .servers(Some([Server::new("/")]))
        .paths(paths)
        .components(Some(components))
        .tags(Some(tags.into_iter().map(|name| TagBuilder::new().name(name).build())))
        .build();
    document.extensions = Some(Extensions::from_iter([("x-error-codes", codes())]));
    document
}

/// What a client may make of each code, for those who make clients from the description.
fn codes() -> Json {
    let meaning = |code: &ErrorCode| {
        let meaning = json!({
            "status": code.status(), "mayBeRetried": code.may_be_retried(), "mayHaveHappened": code.may_have_happened(),
        });
        (code.as_str().to_owned(), meaning)
    };
    ErrorCode::ALL.iter().map(meaning).collect::<Map<_, _>>().into()
}

/// Names that schemas of different types claim: a description with any of them says something wrong.
pub fn clashes(routes: &[Route]) -> BTreeSet<String> {
    let mut shared = Operation::default();
    for route in routes {
        shared.share(&route.operation);
    }
    shared.clashes
}

fn method(name: &str) -> HttpMethod {
    match name {
        "POST" => HttpMethod::Post,
        "PUT" => HttpMethod::Put,
        "PATCH" => HttpMethod::Patch,
        "DELETE" => HttpMethod::Delete,
        _ => HttpMethod::Get,
    }
}

fn described(route: &Route, examples: &Examples) -> OperationBuilder {
    let mut operation = route.operation.clone();
    examples.show(route, &mut operation);
    let operation = &operation;
    let mut builder = OperationBuilder::new()
        .operation_id(Some(id(route.method, route.path)))
        .tag(route.tag())
        .summary(route.summary)
        .description(Some(needs(route)));
    let mut segments = operation.segments.iter().cloned();
    for name in route.path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}')) {
        let schema = segments.next().unwrap_or_else(|| string().into());
        let parameter = ParameterBuilder::new()
            .name(name)
            .parameter_in(ParameterIn::Path)
            .required(Required::True)
            .schema(Some(schema));
        builder = builder.parameter(parameter);
    }
    for parameter in &operation.parameters {
        builder = builder.parameter(parameter.clone());
    }
    if let Some(scheme) = operation.security {
        builder = builder.security(SecurityRequirement::new(scheme, Vec::<String>::new()));
        if operation.open {
            builder = builder.security(SecurityRequirement::default());
        }
        builder = builder.extensions(Some(Extensions::from_iter([("x-permissions", json!(operation.permissions))])));
    }
    for (status, response) in &operation.answers {
        builder = builder.response(status.to_string(), response.clone());
    }
    builder.request_body(operation.body.clone())
}

/// Who may ask a route, for people.
fn needs(route: &Route) -> String {
    let mut text = match &route.protection {
        Protection::Open => "Needs no token.".to_owned(),
        Protection::Sync => "Needs the sync token of a store.".to_owned(),
        Protection::User(codes) if codes.is_empty() => "Needs the token of a person, whatever they may do.".to_owned(),
        Protection::User(codes) => {
            let codes: Vec<String> = codes.iter().map(|code| format!("`{code}`")).collect();
            format!("Needs the token of a person who holds {}.", codes.join(" or "))
        }
    };
    if route.operation.fresh {
        text.push_str(" The second factor must have been shown within 15 minutes (`POST /auth/confirm`).");
    }
    if let Some(owner) = route.owner {
        let side = if owner == Owner::Hq { "headquarters" } else { "the store" };
        text.push_str(" Refused here: it is done at ");
        text.push_str(side);
        text.push('.');
    }
    text
}

/// `GET /tax-rates/{id}` is `getTaxRatesById`.
fn id(method: &str, path: &str) -> String {
    let mut id = method.to_lowercase();
    for part in path.split('/').filter(|part| !part.is_empty()) {
        let word = part.strip_prefix('{').and_then(|part| part.strip_suffix('}'));
        if word.is_some() {
            id.push_str("By");
        }
        for word in word.unwrap_or(part).split(['-', '_', '.']) {
            let (first, rest) = word.split_at(word.len().min(1));
            id.push_str(&first.to_uppercase());
            id.push_str(rest);
        }
    }
    id
}
