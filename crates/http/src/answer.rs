//! The form of a success: `{"success": true, "data": …}`, lists with their pagination.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::costs;
use crate::error::{Error, Result};

/// 200 with `data`.
pub struct Answer<T>(pub T);

impl<T: Serialize> IntoResponse for Answer<T> {
    fn into_response(self) -> Response {
        Body { success: true, data: &self.0, pagination: None }.into_response()
    }
}

/// What is written of it.
#[derive(Serialize)]
struct Body<'a, T: ?Sized> {
    success: bool,
    data: &'a T,
    #[serde(skip_serializing_if = "Option::is_none")]
    pagination: Option<Pagination>,
}

impl<T: Serialize + ?Sized> IntoResponse for Body<'_, T> {
    fn into_response(self) -> Response {
        answered(&self)
    }
}

/// JSON, as whoever asks may see it.
fn answered(body: &impl Serialize) -> Response {
    let kind = (header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    match costs::as_answered(|| serde_json::to_vec(body)) {
        Ok(text) => ([kind], text).into_response(),
        Err(error) => Error::internal(error).into_response(),
    }
}

/// 201 with `data`, or 200 when the document was there already.
pub struct Created<T> {
    pub data: T,
    pub new: bool,
}

impl<T> Created<T> {
    pub const fn new(data: T) -> Self {
        Self { data, new: true }
    }
}

impl<T: Serialize> IntoResponse for Created<T> {
    fn into_response(self) -> Response {
        let status = if self.new { StatusCode::CREATED } else { StatusCode::OK };
        (status, Answer(self.data)).into_response()
    }
}

/// 204.
pub struct NoContent;

impl IntoResponse for NoContent {
    fn into_response(self) -> Response {
        StatusCode::NO_CONTENT.into_response()
    }
}

/// 200 with one page of a list.
pub struct List<T> {
    pub rows: Vec<T>,
    pub total: u64,
    pub paging: Paging,
    /// Leads to the next page, where there is one and the list is one that grows without end.
    pub next_cursor: Option<String>,
}

impl<T> List<T> {
    pub const fn new(rows: Vec<T>, total: u64, paging: Paging) -> Self {
        Self { rows, total, paging, next_cursor: None }
    }

    /// The same page with each row shown in another way.
    pub fn map<U>(self, show: impl FnMut(T) -> U) -> List<U> {
        let (rows, page) = self.split();
        page.with(rows.into_iter().map(show).collect())
    }

    /// Its rows, and the page without them.
    pub fn split(self) -> (Vec<T>, List<()>) {
        let Self { rows, total, paging, next_cursor } = self;
        (rows, List { rows: Vec::new(), total, paging, next_cursor })
    }

    /// This page with other rows.
    pub fn with<U>(self, rows: Vec<U>) -> List<U> {
        List { rows, total: self.total, paging: self.paging, next_cursor: self.next_cursor }
    }

    fn pagination(&self) -> Pagination {
        let Paging { page, size } = self.paging;
        let (total, total_pages) = (self.total, self.total.div_ceil(size));
        Pagination { page, page_size: size, total, total_pages, next_cursor: self.next_cursor.clone() }
    }
}

impl<T: Serialize> IntoResponse for List<T> {
    fn into_response(self) -> Response {
        Body { success: true, data: &self.rows, pagination: Some(self.pagination()) }.into_response()
    }
}

/// 200 with one page of a list, and what all of it comes to.
pub struct Summed<T, S> {
    pub list: List<T>,
    pub sums: Vec<S>,
}

impl<T: Serialize, S: Serialize> IntoResponse for Summed<T, S> {
    fn into_response(self) -> Response {
        let Self { list, sums } = self;
        answered(&SummedBody { success: true, data: &list.rows, pagination: list.pagination(), sums: &sums })
    }
}

/// What is written of it.
#[derive(Serialize)]
struct SummedBody<'a, T, S> {
    success: bool,
    data: &'a [T],
    pagination: Pagination,
    sums: &'a [S],
}

/// Where in a list a page is.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Pagination {
    page: u64,
    page_size: u64,
    total: u64,
    total_pages: u64,
    /// What `cursor` of the next request is, in lists that take one, while there is another page.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

/// Which page of a list is asked for, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Paging {
    pub page: u64,
    pub size: u64,
}

/// Rows of a page when the request names none, and at the most.
const DEFAULT_SIZE: u64 = 50;
const LARGEST_SIZE: u64 = 200;

impl Paging {
    /// Checks `?page=&pageSize=`.
    pub fn new(page: Option<u64>, size: Option<u64>) -> Result<Self> {
        let (page, size) = (page.unwrap_or(1), size.unwrap_or(DEFAULT_SIZE));
        if page == 0 || page > 1_000_000 {
            return Err(Error::field("page", "must be between 1 and 1000000"));
        }
        if size == 0 || size > LARGEST_SIZE {
            return Err(Error::field("pageSize", format!("must be between 1 and {LARGEST_SIZE}")));
        }
        Ok(Self { page, size })
    }

    pub const fn offset(self) -> u64 {
        (self.page - 1) * self.size
    }
}

/// A query parameter list of nothing but a page.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PageOnly {
    #[schema(minimum = 1, maximum = 1_000_000)]
    page: Option<u64>,
    #[schema(minimum = 1, maximum = 200)]
    page_size: Option<u64>,
}

impl PageOnly {
    pub fn paging(&self) -> Result<Paging> {
        Paging::new(self.page, self.page_size)
    }
}

#[cfg(test)]
mod tests {
    use axum::body::to_bytes;
    use axum::response::IntoResponse;
    use tillkeep_model::{Cost, ErrorCode, Money};
    use tillkeep_storage::entity::product;

    use super::*;
    use crate::costs::{show, within};

    fn tea() -> product::Model {
        product::Model { price: Money(5), cost: Cost(Money(3)), min_price: Some(Cost(Money(4))), ..Default::default() }
    }

    async fn text(answer: impl IntoResponse) -> String {
        let bytes = to_bytes(answer.into_response().into_body(), usize::MAX).await.expect("a body");
        String::from_utf8(bytes.into()).expect("a text")
    }

    fn list() -> List<product::Model> {
        List::new(vec![tea()], 1, Paging { page: 1, size: 1 })
    }

    fn refusal() -> Error {
        Error::new(ErrorCode::VersionConflict, "changed").with("current", tea())
    }

    #[tokio::test]
    async fn costs_leave_an_answer_unless_whoever_asks_may_see_them_and_stay_in_all_that_is_stored() {
        let tell = |answer: &str| answer.contains(r#""cost":3"#) && answer.contains(r#""minPrice":4"#);
        assert!(!tell(&text(Answer(tea())).await), "it was not asked for");
        within(async {
            for may in [false, true, false] {
                show(may);
                for answer in [text(Answer(tea())).await, text(list()).await, text(refusal()).await] {
                    let named = answer.contains("\"cost\"") || answer.contains("minPrice");
                    assert_eq!((tell(&answer), named), (may, may), "{answer}");
                    assert!(answer.contains(r#""price":5"#), "{answer}");
                }
                let stored = serde_json::to_string(&tea()).expect("JSON");
                assert!(tell(&stored), "what is stored while a request is answered has them: {stored}");
            }
        })
        .await;
    }

    #[tokio::test]
    async fn an_answer_has_the_order_of_its_struct() {
        let answer = text(list()).await;
        assert!(answer.starts_with(r#"{"success":true,"data":[{"id":""#), "{answer}");
        assert!(answer.ends_with(r#""pagination":{"page":1,"pageSize":1,"total":1,"totalPages":1}}"#), "{answer}");
        assert!(text(Answer(7)).await == r#"{"success":true,"data":7}"#);
    }
}
