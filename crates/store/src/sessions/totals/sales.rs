//! What was sold and given back. A voided document keeps its receipt number and counts in nothing else.

use std::collections::BTreeMap;

use serde::Deserialize;
use tillkeep_model::state::SaleStatus;
use tillkeep_model::words::{Reported, SaleType};
use tillkeep_model::z::{Department, TaxTotal, ZReport};
use tillkeep_storage::reports::drawer;
use uuid::Uuid;

pub(super) fn add(report: &mut ZReport, documents: &[drawer::Document]) {
    let mut taxes: BTreeMap<(String, Uuid), TaxTotal> = BTreeMap::new();
    for document in documents {
        if document.status == SaleStatus::Voided {
            report.void_count += 1;
            report.void_amount += document.total;
            continue;
        }
        match Reported::<SaleType>::read(&document.sale_type) {
            Reported::Known(SaleType::Refund) => {
                report.refund_count += 1;
                report.amounts.net_refunds += document.net;
            }
            Reported::Known(SaleType::Settlement) => report.settlements.count += 1,
            Reported::Known(SaleType::Sale) | Reported::Other(_) => add_sale(report, document),
        }
        report.net_amount += document.net;
        report.tax_amount += document.tax;
        report.total_amount += document.total;
        report.cash_rounding += document.cash_rounding;
        // One that cannot be read keeps no drawer open: its taxes do not add up then, which is said.
        for line in Vec::<TaxTotal>::deserialize(&document.tax_lines.0).unwrap_or_default() {
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
    report.taxes = taxes.into_values().collect();
}

fn add_sale(report: &mut ZReport, document: &drawer::Document) {
    report.sale_count += 1;
    report.amounts.list_sales += document.list;
    report.amounts.special_discount += document.special_discount;
    report.amounts.line_discount += document.line_discount;
    report.amounts.cart_discount += document.cart_discount;
    report.amounts.net_sales += document.net;
}

/// By their names; what is of no department comes last.
pub(super) fn add_departments(report: &mut ZReport, mut departments: Vec<drawer::Department>) {
    departments.sort_by_cached_key(|department| (department.name.is_none(), department.name.clone(), department.id));
    report.item_count.0 = departments.iter().map(|department| department.quantity.0).sum();
    let shown = |department: drawer::Department| Department {
        department_id: department.id,
        name: department.name.unwrap_or_default(),
        quantity: department.quantity,
        net_amount: department.net,
    };
    report.departments = departments.into_iter().map(shown).collect();
}
