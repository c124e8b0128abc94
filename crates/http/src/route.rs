//! A row of the route table.

use tillkeep_model::ErrorCode;

use crate::operation::{Described, Operation};

/// How a route is protected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Protection {
    /// Outside of permissions.
    Open,
    /// A user token, and one of the codes (none: any user).
    User(Vec<&'static str>),
    /// A store's sync token.
    Sync,
}

/// One of the two servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    Hq,
    Store,
}

/// One route, with what its handler's types and its line in the table say of it.
#[derive(Clone)]
pub struct Route {
    pub method: &'static str,
    /// Below `/api/v1`, unless it stands outside.
    pub path: &'static str,
    pub protection: Protection,
    outside: bool,
    /// The side that serves it, where this one only refuses it.
    pub owner: Option<Owner>,
    /// One sentence for the reader of the description.
    pub summary: Option<&'static str>,
    pub operation: Operation,
}

impl Route {
    pub(crate) fn new<H: Described<D>, D>(
        method: &'static str,
        path: &'static str,
        protection: Protection,
        outside: bool,
    ) -> Self {
        let mut operation = Operation::default();
        H::describe(&mut operation);
        if protection != Protection::Sync && !operation.takes_any_query() {
            operation.fails(&[ErrorCode::UnknownParameter, ErrorCode::Validation]);
        }
        if method != "GET" && matches!(&protection, Protection::User(codes) if !codes.is_empty()) {
            // Two requests at once can make the same row.
            operation.fails(&[ErrorCode::Duplicate]);
        }
        Self { method, path, protection, outside, owner: None, summary: None, operation }
    }

    /// As a client asks for it.
    pub fn full_path(&self) -> String {
        if self.outside { self.path.to_owned() } else { format!("/api/v1{}", self.path) }
    }

    /// What the route belongs to: the first word of its path.
    pub fn tag(&self) -> &'static str {
        if self.outside { "probes" } else { self.path.split('/').nth(1).unwrap_or_default() }
    }
}
