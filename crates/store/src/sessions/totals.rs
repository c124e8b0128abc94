//! What was sold in one session: the figures of its Z report.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use tillkeep_http::error::Result;
use tillkeep_model::pricing::TenderKind;
use tillkeep_model::receipt::ReceiptNumber;
use tillkeep_model::state::{PaymentStatus, SaleStatus};
use tillkeep_model::words::SaleType;
use tillkeep_model::{JsonText, Money, Ppm};
use tillkeep_storage::entity::{register_session, sale, sale_payment};
use tillkeep_storage::sea_orm::sea_query::{Expr, ExprTrait};
use tillkeep_storage::sea_orm::{
    ColumnTrait, ConnectionTrait, DbErr, EntityTrait, QueryFilter, QueryOrder, QuerySelect, QueryTrait,
};
use uuid::Uuid;

/// As the close prints and keeps them. A voided sale keeps its receipt number and counts in nothing else.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Totals {
    pub sale_count: i32,
    pub refund_count: i32,
    pub void_count: i32,
    pub net_amount: Money,
    pub tax_amount: Money,
    pub total_amount: Money,
    pub cash_rounding: Money,
    pub opening_float: Money,
    pub expected_cash: Money,
    pub tenders: Vec<TenderTotal>,
    pub taxes: Vec<TaxTotal>,
    pub first_receipt_number: Option<String>,
    pub last_receipt_number: Option<String>,
    /// Receipts of any kind: HQ compares it with what arrived.
    #[serde(skip)]
    pub documents: i32,
}

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TenderTotal {
    pub tender_id: Option<Uuid>,
    pub tender_code: String,
    pub tender_kind: String,
    pub count: i64,
    /// What counted towards sales, never what was handed over.
    pub amount: Money,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TaxTotal {
    tax_rate_id: Uuid,
    code: String,
    #[serde(default)]
    name: String,
    rate_ppm: Ppm,
    base_amount: Money,
    tax_amount: Money,
}

type SaleRow = (String, String, String, Money, Money, Money, Money, JsonText);

impl Totals {
    pub(crate) async fn load(conn: &impl ConnectionTrait, session: &register_session::Model) -> Result<Self> {
        let mut totals = Self { opening_float: session.opening_float, ..Self::default() };
        totals.add_sales(sales(conn, session.id).await?)?;
        totals.tenders = payments(conn, session.id).await?;
        let cash = totals.tenders.iter().filter(|tender| tender.tender_kind == TenderKind::Cash);
        totals.expected_cash = session.opening_float + cash.map(|tender| tender.amount).sum();
        Ok(totals)
    }

    /// The payments with one tender.
    pub(crate) fn paid_with(&self, tender_id: Uuid) -> Money {
        self.tenders.iter().filter(|tender| tender.tender_id == Some(tender_id)).map(|tender| tender.amount).sum()
    }

    fn add_sales(&mut self, sales: Vec<SaleRow>) -> Result<()> {
        let mut receipts = Vec::with_capacity(sales.len());
        let mut taxes: BTreeMap<(String, Uuid), TaxTotal> = BTreeMap::new();
        for (receipt, kind, status, net, tax, total, rounding, lines) in sales {
            self.documents += 1;
            receipts.push(receipt);
            if status == SaleStatus::Voided {
                self.void_count += 1;
                continue;
            }
            let counted = if kind == SaleType::Refund { &mut self.refund_count } else { &mut self.sale_count };
            *counted += 1;
            self.net_amount += net;
            self.tax_amount += tax;
            self.total_amount += total;
            self.cash_rounding += rounding;
            for line in serde_json::from_value::<Vec<TaxTotal>>(lines.0)? {
                let key = (line.code.clone(), line.tax_rate_id);
                match taxes.get_mut(&key) {
                    Some(sum) => {
                        sum.base_amount += line.base_amount;
                        sum.tax_amount += line.tax_amount;
                    }
                    None => drop(taxes.insert(key, line)),
                }
            }
        }
        self.taxes = taxes.into_values().collect();
        // By number, not by text: the seventh digit comes some day.
        let mut parsed: Vec<_> = receipts.iter().filter_map(|receipt| ReceiptNumber::parse(receipt)).collect();
        parsed.sort_by(|one, other| one.order().cmp(&other.order()));
        self.first_receipt_number = parsed.first().map(ToString::to_string);
        self.last_receipt_number = parsed.last().map(ToString::to_string);
        Ok(())
    }
}

async fn sales(conn: &impl ConnectionTrait, session_id: Uuid) -> Result<Vec<SaleRow>, DbErr> {
    use sale::Column;
    sale::Entity::find()
        .select_only()
        .columns([
            Column::ReceiptNumber,
            Column::SaleType,
            Column::Status,
            Column::NetAmount,
            Column::TaxAmount,
            Column::TotalAmount,
            Column::CashRounding,
            Column::TaxLines,
        ])
        .filter(Column::RegisterSessionId.eq(session_id))
        .into_tuple()
        .all(conn)
        .await
}

async fn payments(conn: &impl ConnectionTrait, session_id: Uuid) -> Result<Vec<TenderTotal>, DbErr> {
    use sale_payment::Column;
    let counting = sale::Entity::find()
        .select_only()
        .column(sale::Column::Id)
        .filter(sale::Column::RegisterSessionId.eq(session_id))
        .filter(sale::Column::Status.ne(SaleStatus::Voided.word()))
        .into_query();
    let groups = [Column::TenderId, Column::TenderCode, Column::TenderKind];
    let mut select = sale_payment::Entity::find().select_only().columns(groups);
    for column in groups {
        select = select.group_by(column);
    }
    let rows: Vec<(Option<Uuid>, String, String, i64, Money)> = select
        .column_as(Column::Id.count(), "num_items")
        .column_as(Expr::col(Column::Amount).sum(), "amount")
        .filter(Column::SaleId.in_subquery(counting))
        .filter(Column::Status.ne(PaymentStatus::Voided.word()))
        .order_by_asc(Column::TenderCode)
        .into_tuple()
        .all(conn)
        .await?;
    Ok(rows
        .into_iter()
        .map(|(tender_id, tender_code, tender_kind, count, amount)| TenderTotal {
            tender_id,
            tender_code,
            tender_kind,
            count,
            amount,
        })
        .collect())
}

/// The grand total of a register up to its last close; it is never reset.
pub(crate) async fn running_total(conn: &impl ConnectionTrait, register_code: &str) -> Result<Money, DbErr> {
    use register_session::Column;
    let last: Option<Option<Money>> = register_session::Entity::find()
        .select_only()
        .column(Column::RunningTotal)
        .filter(Column::RegisterCode.eq(register_code))
        .filter(Column::RunningTotal.is_not_null())
        .order_by_desc(Column::SessionNumber)
        .limit(1)
        .into_tuple()
        .one(conn)
        .await?;
    Ok(last.flatten().unwrap_or_default())
}
