//! What the answers that both servers share look like.

use serde_json::json;
use utoipa::ToSchema;
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{ArrayBuilder, ObjectBuilder, Schema, Type};

use super::Reply;
use super::operation::Operation;
use crate::answer::{Answer, Created, List, NoContent, Pagination};
use crate::error::Error;

/// `{"success": true, "data": …}`
fn success(data: RefOr<Schema>) -> ObjectBuilder {
    let yes = ObjectBuilder::new().schema_type(Type::Boolean).enum_values(Some([json!(true)]));
    ObjectBuilder::new().property("success", yes).required("success").property("data", data).required("data")
}

impl<T: ToSchema> Reply for Answer<T> {
    fn describe(operation: &mut Operation) {
        let data = operation.schema::<T>();
        operation.answer(200, "Done.", success(data));
    }
}

impl<T: ToSchema> Reply for Created<T> {
    fn describe(operation: &mut Operation) {
        let data = operation.schema::<T>();
        operation.answer(200, "It was there already.", success(data.clone()));
        operation.answer(201, "Made.", success(data));
    }
}

impl<T: ToSchema> Reply for List<T> {
    fn describe(operation: &mut Operation) {
        let row = operation.schema::<T>();
        let pagination = operation.schema::<Pagination>();
        let page =
            success(ArrayBuilder::new().items(row).into()).property("pagination", pagination).required("pagination");
        operation.answer(200, "One page.", page);
    }
}

impl Reply for NoContent {
    fn describe(operation: &mut Operation) {
        operation.empty(204, "Done.");
    }
}

impl<T: Reply> Reply for Result<T, Error> {
    fn describe(operation: &mut Operation) {
        T::describe(operation);
    }
}

/// The error of the contract, as the schema all refusals share.
#[derive(ToSchema)]
#[schema(as = Error, rename_all = "camelCase")]
#[expect(dead_code, reason = "only its schema is used: the answer is put together key by key")]
pub(super) struct ErrorBody {
    #[schema(schema_with = no)]
    success: bool,
    /// For people.
    error: String,
    /// For programs.
    code: String,
    /// What is wrong with which field.
    #[schema(nullable = false)]
    details: Option<Vec<crate::error::FieldError>>,
    /// Names this request in the log; the header `X-Request-Id` says it too.
    request_id: String,
}

fn no() -> ObjectBuilder {
    ObjectBuilder::new().schema_type(Type::Boolean).enum_values(Some([json!(false)]))
}
