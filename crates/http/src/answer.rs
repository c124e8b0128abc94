//! The form of a success: `{"success": true, "data": …}`, lists with their pagination.

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;

use crate::costs;
use crate::error::{Error, Result};

/// 200 with `data`.
pub struct Answer<T>(pub T);

impl<T: Serialize> IntoResponse for Answer<T> {
    fn into_response(self) -> Response {
        Json(costs::seen(json!({"success": true, "data": self.0}))).into_response()
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
}

impl<T> List<T> {
    /// The same page with each row shown in another way.
    pub fn map<U>(self, show: impl FnMut(T) -> U) -> List<U> {
        List { rows: self.rows.into_iter().map(show).collect(), total: self.total, paging: self.paging }
    }
}

impl<T: Serialize> IntoResponse for List<T> {
    fn into_response(self) -> Response {
        let Paging { page, size } = self.paging;
        let pagination =
            Pagination { page, page_size: size, total: self.total, total_pages: self.total.div_ceil(size) };
        let rows = costs::seen(json!(self.rows));
        Json(json!({"success": true, "data": rows, "pagination": pagination})).into_response()
    }
}

/// Where in a list a page is.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Pagination {
    page: u64,
    page_size: u64,
    total: u64,
    total_pages: u64,
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
