//! What the answers that both servers share look like.

use serde_json::json;
use utoipa::ToSchema;
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{ArrayBuilder, ObjectBuilder, Schema, Type};

use super::Reply;
use super::operation::Operation;
use crate::answer::{Answer, Created, List, NoContent, Pagination, Summed};
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

/// `{"success": true, "data": […], "pagination": …}`
fn page<T: ToSchema>(operation: &mut Operation) -> ObjectBuilder {
    let row = operation.schema::<T>();
    let pagination = operation.schema::<Pagination>();
    success(ArrayBuilder::new().items(row).into()).property("pagination", pagination).required("pagination")
}

impl<T: ToSchema> Reply for List<T> {
    fn describe(operation: &mut Operation) {
        let page = page::<T>(operation);
        operation.answer(200, "One page.", page);
    }
}

impl<T: ToSchema, S: ToSchema> Reply for Summed<T, S> {
    fn describe(operation: &mut Operation) {
        let page = page::<T>(operation);
        let sums = ArrayBuilder::new().items(operation.schema::<S>());
        operation.answer(200, "One page, and what all of it comes to.", page.property("sums", sums).required("sums"));
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
