//! The papers of a drawer: X, Z, ZZ, and the slip of a movement. As of a receipt, [`ReportPaper`] has figures and no layout,
//! [`ReportPaper::blocks`] says what stands on the paper, and text, page and printer write the same blocks.

mod drawer;
mod others;
mod sheet;
mod words;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::blocks::{Block, seen};
use super::html::page;
use super::receipt::Shop;
use super::text::joined;
use crate::series::session_name;
use crate::z::{XReport, ZReport, ZzReport};
use crate::{Instant, Money};
use sheet::Sheet;

/// A paper as it was asked for. It can be kept with its print job: what it says does not change while it waits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReportPaper {
    /// Its words, and how amounts and dates are written.
    pub locale: String,
    pub currency_code: String,
    pub currency_exponent: i16,
    /// Of the store, as `Europe/Berlin`. An unknown one is UTC.
    pub time_zone: String,
    #[serde(default)]
    pub shop: Shop,
    pub printed_at: Instant,
    /// Which reprint it is, from 1; 0 for one that was not counted, nothing on the first paper.
    #[serde(default)]
    pub copy: Option<i32>,
    pub body: ReportBody,
}

/// What it is of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind", content = "report")]
pub enum ReportBody {
    X(Box<ZReport>),
    /// For somebody who may not know what there should be in the drawer.
    BlindX(Box<XReport>),
    Z(Box<ZReport>),
    Zz(Box<ZzPaper>),
    Movement(Box<MovementSlip>),
}

/// A ZZ with what its row says of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ZzPaper {
    pub zz_number: i32,
    /// Nothing of a whole store.
    pub register_code: Option<String>,
    pub from_date: String,
    pub to_date: String,
    pub report: ZzReport,
}

/// One movement of cash.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct MovementSlip {
    pub id: Uuid,
    /// `paid_in`, `paid_out`, `drop`, `float_add` or `no_sale`.
    pub r#type: String,
    pub amount: Money,
    pub reason: String,
    pub register_code: String,
    pub session_number: Option<i32>,
    pub user_name: String,
    pub approver_name: Option<String>,
    pub at: Instant,
}

impl ReportPaper {
    /// What stands on it, from top to bottom.
    #[must_use]
    pub fn blocks(&self) -> Vec<Block> {
        let mut sheet = Sheet::of(self);
        sheet.shop();
        match &self.body {
            ReportBody::X(report) => sheet.drawer(sheet.words.x, report),
            ReportBody::Z(report) => sheet.drawer(sheet.words.z, report),
            ReportBody::BlindX(report) => sheet.blind(report),
            ReportBody::Zz(zz) => sheet.zz(zz),
            ReportBody::Movement(slip) => sheet.movement(slip),
        }
        let mut blocks = sheet.blocks;
        blocks.dedup_by(|next, before| *next == Block::Rule && *before == Block::Rule);
        blocks.iter().map(|block| block.map(seen)).collect()
    }

    /// It in lines of at most `columns`.
    #[must_use]
    pub fn text(&self, columns: usize) -> String {
        joined(&self.blocks(), columns)
    }

    /// It as a page for a roll of so many millimetres.
    #[must_use]
    pub fn html(&self, millimetres: i64) -> String {
        page(&self.blocks(), &self.locale, &self.title(), millimetres)
    }

    fn title(&self) -> String {
        let of_session = |kind: &str, register: &str, number: Option<i32>| {
            let number = number.map(|number| format!("-{}", session_name(number))).unwrap_or_default();
            format!("{kind} {register}{number}")
        };
        match &self.body {
            ReportBody::X(report) => of_session("X", &report.header.register_code, report.header.session_number),
            ReportBody::BlindX(report) => of_session("X", &report.header.register_code, report.header.session_number),
            ReportBody::Z(report) => of_session("Z", &report.header.register_code, report.header.session_number),
            ReportBody::Zz(zz) => {
                format!("ZZ {}-{}", zz.register_code.as_deref().unwrap_or_default(), zz.zz_number)
            }
            ReportBody::Movement(slip) => of_session(&slip.r#type, &slip.register_code, slip.session_number),
        }
    }
}
