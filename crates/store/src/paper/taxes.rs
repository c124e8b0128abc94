//! The table of taxes of a paper, and the letters by which lines name their rates.

use std::collections::{BTreeMap, BTreeSet};

use tillkeep_model::Money;
use tillkeep_model::paper::Tax;
use tillkeep_storage::entity::sale_item;
use uuid::Uuid;

use super::rows::{Rows, TaxOf, list};

/// The rates of a document with their letters.
pub(super) struct Taxes {
    /// In the order of its rows.
    rates: Vec<(TaxOf, String)>,
}

impl Taxes {
    /// A rate has the letter that it was given; one without gets the first that no other has.
    pub(super) fn of(rows: &Rows) -> Self {
        let rates = list::<TaxOf>(&rows.document.sale.tax_lines);
        let label = |rate: &TaxOf| {
            let row = rows.tax_rates.iter().find(|row| row.id == rate.tax_rate_id)?;
            row.receipt_label.clone().filter(|label| !label.trim().is_empty())
        };
        let given: Vec<Option<String>> = rates.iter().map(label).collect();
        let taken: BTreeSet<String> = given.iter().flatten().cloned().collect();
        let mut free = ('A'..='Z').map(String::from).filter(|letter| !taken.contains(letter));
        let marks = given.into_iter().map(|label| label.or_else(|| free.next()).unwrap_or_else(|| "*".to_owned()));
        let marks: Vec<String> = marks.collect();
        Self { rates: rates.into_iter().zip(marks).collect() }
    }

    /// The letters of the rates of a line.
    pub(super) fn mark(&self, item: &sale_item::Model) -> String {
        let of_line = list::<TaxOf>(&item.tax_details);
        let named = |(rate, _): &&(TaxOf, String)| of_line.iter().any(|tax| tax.tax_rate_id == rate.tax_rate_id);
        self.rates.iter().filter(named).map(|(_, mark)| mark.as_str()).collect()
    }

    /// One row for each rate, two where some prices include it and others do not. What lines of another program do not say is as
    /// their document has it.
    pub(super) fn table(&self, rows: &Rows) -> Vec<Tax> {
        let items = &rows.document.items;
        let mut parts: BTreeMap<(Uuid, bool), TaxOf> = BTreeMap::new();
        for item in items {
            for tax in list::<TaxOf>(&item.tax_details) {
                let part = parts.entry((tax.tax_rate_id, !item.price_includes_tax)).or_default();
                part.base_amount += tax.base_amount;
                part.tax_amount += tax.tax_amount;
            }
        }
        let is_whole = parts.values().map(|part| part.tax_amount).sum::<Money>()
            == self.rates.iter().map(|(rate, _)| rate.tax_amount).sum::<Money>();
        let all_included = items.iter().all(|item| item.price_includes_tax);
        let row = |rate: &TaxOf, mark: &str, included: bool, part: &TaxOf| Tax {
            mark: mark.to_owned(),
            name: if rate.name.is_empty() { rate.code.clone() } else { rate.name.clone() },
            rate_ppm: rate.rate_ppm,
            included,
            base: part.base_amount,
            tax: part.tax_amount,
        };
        let mut table = Vec::new();
        for (rate, mark) in &self.rates {
            if !is_whole {
                table.push(row(rate, mark, all_included, rate));
                continue;
            }
            let of_rate = parts.range((rate.tax_rate_id, false)..=(rate.tax_rate_id, true));
            table.extend(of_rate.map(|((_, added), part)| row(rate, mark, !added, part)));
        }
        table
    }
}
