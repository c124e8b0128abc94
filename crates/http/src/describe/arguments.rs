//! What the arguments that both servers share say of a request.

use axum::extract::rejection::PathRejection;
use axum::extract::ws::WebSocketUpgrade;
use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::extract::{ConnectInfo, Path, State};
use axum::http::HeaderMap;
use tillkeep_model::ErrorCode;
use tillkeep_model::permission::Requirement;
use tillkeep_model::schema::uuid;
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{Schema, SchemaType, Type};
use utoipa::{PartialSchema, ToSchema};

use super::Argument;
use super::operation::{Operation, string};
use crate::auth::{Caller, ClientAddress, Gate, Origin};
use crate::extract::{Body, Id, OptionalBody, Params, Segment, TwoIds, TwoSegments, Unread};
use crate::request::{Guest, Transport};

impl<T> Argument for ConnectInfo<T> {}
impl<S> Argument for State<S> {}
impl Argument for ClientAddress {}
impl Argument for Gate {}
impl Argument for Origin {
    fn describe(operation: &mut Operation) {
        let text = "At a store the key of an enrolled till. At headquarters the `deviceKey` that a sign-in gave this browser, or \
                    anything else to be given one: what strangers try does not make it wait.";
        operation.asks_header("Tillkeep-Device", string(), text);
        operation.fails(&[ErrorCode::DeviceUnknown]);
    }
}
impl Argument for Guest {}
impl Argument for HeaderMap {}
impl Argument for Transport {}
impl Argument for Result<WebSocketUpgrade, WebSocketUpgradeRejection> {}

impl<P: Requirement> Argument for Caller<P> {
    fn describe(operation: &mut Operation) {
        let required = P::any_of();
        if !required.is_empty() {
            operation.fails(&[ErrorCode::Forbidden, ErrorCode::Scope]);
        }
        if !P::BEFORE_PIN_CHANGE {
            operation.fails(&[ErrorCode::MustChangePin]);
        }
        if !P::BEFORE_FACTOR {
            operation.fails(&[ErrorCode::SecondFactorMissing]);
        }
        if P::FRESH {
            operation.fails(&[ErrorCode::SecondFactorStale]);
            operation.fresh = true;
        }
        operation.token("userToken", required, &["Unauthorized"]);
    }
}

impl<T: ToSchema> Argument for Body<T> {
    fn describe(operation: &mut Operation) {
        let schema = operation.schema::<T>();
        operation.body(schema, true);
    }
}

impl<T: ToSchema> Argument for OptionalBody<T> {
    fn describe(operation: &mut Operation) {
        let schema = operation.schema::<T>();
        operation.body(schema, false);
    }
}

/// Each property of `T` is a parameter.
impl<T: ToSchema> Argument for Params<T> {
    fn describe(operation: &mut Operation) {
        // What stores ask is refused as ever.
        let bad_value =
            if operation.security == Some("syncToken") { ErrorCode::BadRequest } else { ErrorCode::Validation };
        operation.fails(&[bad_value, ErrorCode::Validation]);
        let mut used = Vec::new();
        T::schemas(&mut used);
        let RefOr::T(Schema::Object(object)) = T::schema() else { return };
        for (name, schema) in object.properties {
            let required = object.required.contains(&name);
            let schema = written(schema, &used);
            let text = match &schema {
                RefOr::T(Schema::Object(object)) => object.description.clone(),
                _ => None,
            };
            operation.query(&name, schema, required, text.as_deref());
        }
    }
}

impl<T: ToSchema> Argument for Unread<T> {
    fn describe(operation: &mut Operation) {
        Params::<T>::describe(operation);
    }
}

/// The schema of a parameter: no query can say null, and what has a name is described in place.
fn written(schema: RefOr<Schema>, used: &[(String, RefOr<Schema>)]) -> RefOr<Schema> {
    match schema {
        RefOr::Ref(named) => {
            let name = named.ref_location.rsplit('/').next().unwrap_or_default();
            let found = used.iter().find(|(known, _)| known == name).map(|(_, schema)| schema.clone());
            found.unwrap_or(RefOr::Ref(named))
        }
        RefOr::T(Schema::OneOf(one_of)) => {
            let null = |item: &RefOr<Schema>| matches!(item, RefOr::T(Schema::Object(object)) if object.schema_type == Type::Null.into());
            let some = one_of.items.into_iter().find(|item| !null(item));
            some.map_or_else(|| RefOr::T(Schema::default()), |item| written(item, used))
        }
        RefOr::T(Schema::Object(mut object)) => {
            if let SchemaType::Array(kinds) = &object.schema_type
                && let Some(kind) = kinds.iter().find(|kind| **kind != Type::Null)
            {
                object.schema_type = kind.clone().into();
            }
            object.into()
        }
        other @ RefOr::T(_) => other,
    }
}

impl Argument for Id {
    fn describe(operation: &mut Operation) {
        operation.segment(uuid());
        operation.fails(&[ErrorCode::NotFound]);
    }
}

impl Argument for Result<Path<String>, PathRejection> {
    fn describe(operation: &mut Operation) {
        operation.segment(String::schema());
        operation.fails(&[ErrorCode::NotFound]);
    }
}

impl Argument for Segment {
    fn describe(operation: &mut Operation) {
        operation.segment(String::schema());
        operation.fails(&[ErrorCode::NotFound]);
    }
}

impl Argument for TwoSegments {
    fn describe(operation: &mut Operation) {
        operation.segment(String::schema());
        operation.segment(String::schema());
        operation.fails(&[ErrorCode::NotFound]);
    }
}

impl Argument for TwoIds {
    fn describe(operation: &mut Operation) {
        operation.segment(uuid());
        operation.segment(uuid());
        operation.fails(&[ErrorCode::NotFound]);
    }
}
