//! One operation of the interface while its parts are collected: every argument of its handler says what it asks of a
//! request, the answer what it looks like.

use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;

use tillkeep_model::ErrorCode;
use utoipa::ToSchema;
use utoipa::openapi::content::ContentBuilder;
use utoipa::openapi::header::HeaderBuilder;
use utoipa::openapi::path::{Parameter, ParameterBuilder, ParameterIn};
use utoipa::openapi::request_body::{RequestBody, RequestBodyBuilder};
use utoipa::openapi::response::{Response, ResponseBuilder};
use utoipa::openapi::schema::{ArrayItems, ObjectBuilder, Schema, Type};
use utoipa::openapi::{KnownFormat, Ref, RefOr, Required, SchemaFormat};

pub const JSON: &str = "application/json";

/// What can be wrong with any body.
const OF_A_BODY: &[ErrorCode] = &[
    ErrorCode::BadRequest,
    ErrorCode::IncompleteBody,
    ErrorCode::UnreadableJson,
    ErrorCode::RequestTimeout,
    ErrorCode::PayloadTooLarge,
    ErrorCode::UnsupportedMediaType,
    ErrorCode::Validation,
];

/// The same of a file.
const OF_A_FILE: &[ErrorCode] = &[
    ErrorCode::IncompleteBody,
    ErrorCode::RequestTimeout,
    ErrorCode::PayloadTooLarge,
    ErrorCode::UnsupportedMediaType,
    ErrorCode::Validation,
];

/// What an argument of a handler says of the request; nothing, when it is no part of it that a client writes.
pub trait Argument {
    fn describe(_: &mut Operation) {}
}

/// What the answer of a handler looks like.
pub trait Reply {
    fn describe(operation: &mut Operation);
}

/// A handler that can say what it takes and gives.
#[diagnostic::on_unimplemented(
    message = "this handler does not describe itself",
    note = "each argument must be a `describe::Argument`, and the answer a `describe::Reply`"
)]
pub trait Described<Args> {
    fn describe(operation: &mut Operation);
}

macro_rules! described {
    ($($arg:ident),*) => {
        impl<F, Fut, $($arg),*> Described<($($arg,)*)> for F
        where
            F: Fn($($arg),*) -> Fut,
            Fut: Future<Output: Reply>,
            $($arg: Argument,)*
        {
            fn describe(operation: &mut Operation) {
                $( $arg::describe(operation); )*
                Fut::Output::describe(operation);
            }
        }
    };
}
described!();
described!(A1);
described!(A1, A2);
described!(A1, A2, A3);
described!(A1, A2, A3, A4);
described!(A1, A2, A3, A4, A5);

/// The type of a body that is a table.
const TABLE: &str = "text/csv";

/// What the types of a handler say of its route.
#[derive(Clone, Default)]
pub struct Operation {
    /// The parts of the path that are values, in their order.
    pub(crate) segments: Vec<RefOr<Schema>>,
    pub(crate) parameters: Vec<Parameter>,
    any_query: bool,
    pub(crate) body: Option<RequestBody>,
    pub(crate) answers: BTreeMap<u16, Response>,
    pub(crate) errors: BTreeSet<ErrorCode>,
    /// Bodies of a 401 that are fixed to the letter.
    pub(crate) exact: BTreeSet<&'static str>,
    /// The kind of token.
    pub(crate) security: Option<&'static str>,
    /// Whether it works without the token too.
    pub(crate) open: bool,
    pub(crate) permissions: Vec<&'static str>,
    /// Whether headquarters wants the second factor to have been shown lately.
    pub fresh: bool,
    pub(crate) schemas: BTreeMap<String, RefOr<Schema>>,
    /// Names that two schemas claim.
    pub(crate) clashes: BTreeSet<String>,
}

impl Operation {
    /// Adds codes that the route may refuse a request with.
    pub fn fails(&mut self, codes: &[ErrorCode]) {
        self.errors.extend(codes);
    }

    /// The next value in the path.
    pub fn segment(&mut self, schema: impl Into<RefOr<Schema>>) {
        self.segments.push(schema.into());
    }

    /// How many values of the path are read.
    pub fn segments(&self) -> usize {
        self.segments.len()
    }

    /// A parameter of the query.
    pub fn query(&mut self, name: &str, schema: impl Into<RefOr<Schema>>, required: bool, text: Option<&str>) {
        let parameter = ParameterBuilder::new()
            .name(name)
            .parameter_in(ParameterIn::Query)
            .required(if required { Required::True } else { Required::False })
            .description(text)
            .schema(Some(schema));
        self.parameters.push(parameter.build());
    }

    /// The names of what it takes in its query.
    pub fn in_query(&self) -> impl Iterator<Item = &str> {
        let in_query = self.parameters.iter().filter(|parameter| parameter.parameter_in == ParameterIn::Query);
        in_query.map(|parameter| parameter.name.as_str())
    }

    /// Whatever the query says is taken, and none of it read.
    pub fn take_any_query(&mut self) {
        self.any_query = true;
    }

    pub fn takes_any_query(&self) -> bool {
        self.any_query
    }

    /// Whether a body is read.
    pub fn has_body(&self) -> bool {
        self.body.is_some()
    }

    /// A JSON body.
    pub fn body(&mut self, schema: RefOr<Schema>, required: bool) {
        let required = if required { Required::True } else { Required::False };
        let content = ContentBuilder::new().schema(Some(schema)).build();
        self.body = Some(RequestBodyBuilder::new().content(JSON, content).required(Some(required)).build());
        self.fails(OF_A_BODY);
    }

    /// A body that is a file.
    pub fn file(&mut self, text: &str) {
        self.bytes("application/octet-stream", text);
    }

    /// A body that is a table.
    pub fn table(&mut self, text: &str) {
        self.bytes(TABLE, text);
    }

    /// A body that is read as it is. Generators of clients make a file of what has this format, a table too.
    fn bytes(&mut self, kind: &str, text: &str) {
        let binary = string().format(Some(SchemaFormat::KnownFormat(KnownFormat::Binary)));
        let content = ContentBuilder::new().schema(Some(binary)).build();
        let body = RequestBodyBuilder::new().content(kind, content).description(Some(text));
        self.body = Some(body.required(Some(Required::True)).build());
        self.fails(OF_A_FILE);
    }

    /// Whether its body is a table, which may be larger and slower than others.
    pub fn takes_table(&self) -> bool {
        self.body.as_ref().is_some_and(|body| body.content.contains_key(TABLE))
    }

    /// A token of the kind `scheme`, and the codes one of which it needs.
    pub fn token(&mut self, scheme: &'static str, permissions: Vec<&'static str>, exact: &[&'static str]) {
        self.security = Some(scheme);
        self.permissions = permissions;
        self.exact.extend(exact);
    }

    /// A header of the request that may be left out.
    pub fn asks_header(&mut self, name: &str, schema: ObjectBuilder, text: &str) {
        let parameter = ParameterBuilder::new()
            .name(name)
            .parameter_in(ParameterIn::Header)
            .required(Required::False)
            .description(Some(text))
            .schema(Some(schema));
        self.parameters.push(parameter.build());
    }

    /// A POST of people: it honours a key of the client's making.
    pub fn acts_once(&mut self) {
        let schema = string().min_length(Some(1)).max_length(Some(255)).pattern(Some("^[ -~]+$"));
        let text = "A text of the client's making, new for each action. The same request with the same key acts once: a \
                    repetition gets the answer of the first, with `Idempotency-Replayed: true`, or 409 `already_done` \
                    where that is not kept. See docs/domain.md.";
        self.asks_header("Idempotency-Key", schema, text);
        self.header("Idempotency-Replayed", "`true` when this is the answer of an earlier request with the same key.");
        self.fails(&[
            ErrorCode::BadRequest,
            ErrorCode::AlreadyDone,
            ErrorCode::InProgress,
            ErrorCode::IdempotencyKeyReused,
        ]);
    }

    /// The token may be missing.
    pub fn token_is_optional(&mut self) {
        self.open = true;
    }

    /// An answer with JSON.
    pub fn answer(&mut self, status: u16, text: &str, schema: impl Into<RefOr<Schema>>) {
        self.answer_as(status, text, JSON, schema);
    }

    pub fn answer_as(&mut self, status: u16, text: &str, kind: &str, schema: impl Into<RefOr<Schema>>) {
        let content = ContentBuilder::new().schema(Some(schema)).build();
        self.answers.insert(status, ResponseBuilder::new().description(text).content(kind, content).build());
    }

    /// Another form of an answer that was described, for a client that asks for it.
    pub fn also_as(&mut self, status: u16, kind: &str, schema: impl Into<RefOr<Schema>>) {
        let content = ContentBuilder::new().schema(Some(schema)).build();
        if let Some(answer) = self.answers.get_mut(&status) {
            answer.content.insert(kind.to_owned(), content.into());
        }
    }

    /// An answer without a body.
    pub fn empty(&mut self, status: u16, text: &str) {
        self.answers.insert(status, Response::new(text));
    }

    /// Adds a header to the answers that were described so far.
    pub fn header(&mut self, name: &str, text: &str) {
        let header = HeaderBuilder::new().description(Some(text)).schema(Some(string())).build();
        for answer in self.answers.values_mut() {
            answer.headers.insert(name.to_owned(), header.clone().into());
        }
    }

    /// The schema of `T`: by its name when it has parts, else as it is.
    pub fn schema<T: ToSchema>(&mut self) -> RefOr<Schema> {
        let mut used = Vec::new();
        T::schemas(&mut used);
        for (name, schema) in used {
            self.keep(name, schema);
        }
        let schema = T::schema();
        if is_plain(&schema) {
            return schema;
        }
        let name = T::name().into_owned();
        self.keep(name.clone(), schema);
        Ref::from_schema_name(name).into()
    }

    fn keep(&mut self, name: String, schema: RefOr<Schema>) {
        match self.schemas.get(&name) {
            Some(known) if *known != schema => drop(self.clashes.insert(name)),
            Some(_) => {}
            None => drop(self.schemas.insert(name, schema)),
        }
    }

    /// Takes over the schemas that another operation uses.
    pub(crate) fn share(&mut self, other: &Self) {
        for (name, schema) in &other.schemas {
            self.keep(name.clone(), schema.clone());
        }
        self.clashes.extend(other.clashes.iter().cloned());
    }
}

pub fn string() -> ObjectBuilder {
    ObjectBuilder::new().schema_type(Type::String)
}

/// Lists, maps and single values are described where they are used.
fn is_plain(schema: &RefOr<Schema>) -> bool {
    match schema {
        RefOr::Ref(_) => true,
        RefOr::T(Schema::Array(list)) => matches!(list.items, ArrayItems::RefOrSchema(_)),
        RefOr::T(Schema::Object(object)) => object.properties.is_empty() && object.enum_values.is_none(),
        RefOr::T(_) => false,
    }
}
