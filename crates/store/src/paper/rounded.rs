//! A refund whose amounts were shared out one by one, as a paper says it: its lines come to its total to the cent.

use tillkeep_model::Money;
use tillkeep_model::words::SaleType;
use tillkeep_storage::entity::sale_item::Model;

use crate::pos::sale_document::SaleDocument;

/// The document as it is printed. What rounding leaves between a line's price and what came back of it is in what was taken off,
/// else in its list amount.
pub(super) fn on_paper(mut document: SaleDocument) -> SaleDocument {
    if document.sale.sale_type != SaleType::Refund || document.sale.tax_exempt {
        return document;
    }
    for item in &mut document.items {
        let came_back = if item.price_includes_tax { item.total_amount } else { item.net_amount };
        let said = item.list_amount - item.special_discount - item.line_discount - item.cart_discount;
        let between = said - came_back;
        if item.line_discount != Money::ZERO {
            item.line_discount += between;
        } else if item.cart_discount != Money::ZERO {
            item.cart_discount += between;
        } else {
            item.list_amount += -between;
        }
    }
    let sum = |of: fn(&Model) -> Money| document.items.iter().map(of).sum::<Money>();
    let (list, line, cart) =
        (sum(|item| item.list_amount), sum(|item| item.line_discount), sum(|item| item.cart_discount));
    (document.sale.list_amount, document.sale.line_discount, document.sale.cart_discount) = (list, line, cart);
    document
}

#[cfg(test)]
mod tests {
    use tillkeep_storage::entity::sale;

    use super::*;

    fn refund(line_discount: i64) -> SaleDocument {
        let item = Model {
            list_amount: Money(-1029),
            line_discount: Money(line_discount),
            net_amount: Money(-977),
            tax_amount: Money(-87),
            total_amount: Money(-1064),
            ..Model::default()
        };
        let sale =
            sale::Model { sale_type: SaleType::Refund.into(), total_amount: Money(-1064), ..sale::Model::default() };
        SaleDocument { sale, items: vec![item], payments: Vec::new(), entries: Vec::new() }
    }

    #[test]
    fn a_line_that_came_back_in_parts_comes_to_its_net_amount_on_paper() {
        let paper = on_paper(refund(-51));
        assert_eq!((paper.sale.list_amount, paper.sale.line_discount), (Money(-1029), Money(-52)));
        let paper = on_paper(refund(0));
        assert_eq!((paper.items[0].list_amount, paper.sale.list_amount), (Money(-977), Money(-977)));
        let mut sold = refund(-51);
        sold.sale.sale_type = SaleType::Sale.into();
        assert_eq!(on_paper(sold.clone()), sold);
    }
}
