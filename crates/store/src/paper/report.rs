//! The papers of drawers in each of their forms: X, Z and ZZ, and the slip of a movement.

use serde::Serialize;
use tillkeep_http::documents::papers::Paper as Shown;
use tillkeep_http::error::{Error, Result};
use tillkeep_model::paper::{ReportPaper, style};
use tillkeep_storage::entity::{print_job, register, store};

use super::escpos::of_blocks;
use super::form::{Form, Paper};
use super::shop::shop;
use crate::printers::{Printer, paper_of};

/// `json`, or what `paper` says of it in another form. `register` is the one whose printer it would be for.
pub(crate) fn shown<T: Serialize>(
    json: T,
    paper: impl FnOnce(T) -> ReportPaper,
    store: &store::Model,
    (form, asked): (Form, Option<u32>),
    register: Option<&register::Model>,
) -> Result<Paper<T>> {
    let width = form.width(asked)?;
    if form == Form::Json {
        return Ok(Paper::Shown(Shown::Json(Box::new(json))));
    }
    let paper = ReportPaper { shop: shop(store), ..paper(json) };
    Ok(match form {
        Form::Html => Paper::Shown(Shown::Page { page: paper.html(width.into()), style: style(width.into()) }),
        Form::Escpos => {
            let printer = register.and_then(Printer::of).unwrap_or_default();
            let printer = Printer { width: asked.unwrap_or(printer.width), ..printer };
            Paper::Bytes(of_blocks(&paper.blocks(), &printer, false).map_err(Error::internal)?)
        }
        Form::Json | Form::Text => Paper::Shown(Shown::Text(paper.text(usize::try_from(width).unwrap_or_default()))),
    })
}

/// The bytes of a paper that waits and is of no sale; without anything to say it opens the drawer alone.
pub(super) fn rendered(
    job: &print_job::Model,
    store: &store::Model,
    printer: &Printer,
    opens_drawer: bool,
) -> Result<Vec<u8>> {
    let blocks = paper_of(job).map(|paper| ReportPaper { shop: shop(store), ..paper }.blocks());
    of_blocks(&blocks.unwrap_or_default(), printer, opens_drawer).map_err(Error::internal)
}
