//! The papers of reports, in the words and the time of the store that they are of. Each is a copy.

use tillkeep_http::documents::papers::{Form, Paper};
use tillkeep_http::documents::shop::shop;
use tillkeep_model::Instant;
use tillkeep_model::paper::report::{ReportBody, ReportPaper, ZzPaper};
use tillkeep_model::paper::style;
use tillkeep_model::z::{ZReport, ZzReport};
use tillkeep_storage::entity::store;

/// How a paper is asked for.
#[derive(Clone, Copy)]
pub(super) struct Asked {
    pub(super) form: Form,
    /// Letters of a text, millimetres of a page.
    pub(super) width: u32,
    pub(super) now: Instant,
}

/// The report of a drawer.
pub(super) fn of_z<T>(report: ZReport, store: &store::Model, asked: Asked) -> Paper<T> {
    shown(ReportBody::Z(Box::new(report)), store, asked)
}

/// The report of several drawers with its number; of a register, or of the whole store.
pub(super) fn of_zz<T>(
    report: ZzReport,
    (zz_number, register_code): (i32, Option<&str>),
    store: &store::Model,
    asked: Asked,
) -> Paper<T> {
    let dates = report.rows.iter().map(|row| &row.business_date);
    let (from_date, to_date) = (dates.clone().min().cloned(), dates.max().cloned());
    let paper = ZzPaper {
        zz_number,
        register_code: register_code.map(str::to_owned),
        from_date: from_date.unwrap_or_default(),
        to_date: to_date.unwrap_or_default(),
        report,
    };
    shown(ReportBody::Zz(Box::new(paper)), store, asked)
}

fn shown<T>(body: ReportBody, store: &store::Model, asked: Asked) -> Paper<T> {
    let paper = ReportPaper {
        locale: store.locale.clone(),
        currency_code: store.currency_code.clone(),
        currency_exponent: store.currency_exponent,
        time_zone: store.timezone.clone(),
        shop: shop(store),
        printed_at: asked.now,
        // Which one it is, only its store counts.
        copy: Some(0),
        body,
    };
    if asked.form == Form::Text {
        return Paper::Text(paper.text(usize::try_from(asked.width).unwrap_or_default()));
    }
    Paper::Page { page: paper.html(asked.width.into()), style: style(asked.width.into()) }
}
