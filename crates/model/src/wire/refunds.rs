//! What a store asks headquarters before it gives money back: the sale, what was given back of it, and a claim on what it is about
//! to give back. `docs/sync.md`, rule U17.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::{Money, Qty};

/// A sale as headquarters has it, for the till that gives money back.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SaleAtHq {
    /// It, with its lines, as it travels.
    #[schema(value_type = Object)]
    pub sale: serde_json::Value,
    pub store_id: Uuid,
    pub store_code: String,
    /// By its refunds and by claims that are open.
    pub given_back: Vec<GivenBack>,
    /// By its refunds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paid_back: Vec<PaidBack>,
}

/// A part of a line that was given back, or that a store is about to give back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct GivenBack {
    pub sale_item_id: Uuid,
    /// As the store named it that made it. A void's claim has the id of the sale.
    pub refund_id: Uuid,
    pub quantity: Qty,
    /// A claim has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receipt_number: Option<String>,
    pub store_code: String,
}

/// What a refund gave back to a tender: a card gets back what it paid, in whatever store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PaidBack {
    /// As the store named it that made it.
    pub refund_id: Uuid,
    /// Nothing of a refund that another program made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tender_id: Option<Uuid>,
    pub tender_code: String,
    /// Above zero, and of cash what it was before it was rounded.
    pub amount: Money,
}

/// `POST /sync/sales/{id}/claims`: a store is about to give so much back. What it asked last under an id counts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClaimRequest {
    /// That of the refund; of a void, that of the sale.
    pub id: Uuid,
    pub lines: Vec<ClaimLine>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClaimLine {
    pub sale_item_id: Uuid,
    pub quantity: Qty,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClaimAnswer {
    /// Whether headquarters has the sale.
    pub known: bool,
    /// Without what was claimed here.
    pub given_back: Vec<GivenBack>,
    /// By the refunds of the sale.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paid_back: Vec<PaidBack>,
}
