//! How refunds, exchanges and payments of what is owed are settled.

use proptest::prelude::*;
use tillkeep_model::pricing::{
    CashRounding, Paid, PaidSale, Part, PaymentError, PaymentTerms, RoundingMode, Settlement, StoredLine, TenderKind,
    TenderRule, TenderTerms, Tendered, exchange, refund_rounding, settle, settle_account, settle_exchange, share,
    to_original_tenders,
};
use tillkeep_model::{ErrorCode, Money, Qty};

use super::payment::{pays, roundings, rows, rule, terms, with_cash};
use TenderKind::{Card, Cash, Check, Exchange, OnAccount};

fn line(quantity: i64, total: i64, taxes: &[i64]) -> StoredLine {
    let total = Money(total);
    let taxes = taxes.iter().copied().map(Money).collect();
    StoredLine { quantity: Qty(quantity), list: total, taxes, total, ..StoredLine::default() }
}

#[test]
fn parts_of_a_line_that_does_not_divide_add_up_to_it() {
    let sold = StoredLine { special: Money(1), cost: Money(500), ..line(3000, 1000, &[83, 41]) };
    let parts: Vec<_> = (0..3).map(|done| share(&sold, Qty::pieces(done), Qty::ONE)).collect();
    let of = |amount: fn(&tillkeep_model::pricing::LineShare) -> Money| parts.iter().map(amount).collect::<Vec<_>>();
    assert_eq!(of(|part| part.total), [Money(333), Money(334), Money(333)]);
    assert_eq!(of(|part| part.tax), [Money(42), Money(40), Money(42)]);
    assert_eq!(of(|part| part.net), [Money(291), Money(294), Money(291)]);
    assert_eq!(of(|part| part.special), [Money(0), Money(1), Money(0)]);
    assert_eq!(of(|part| part.cost), [Money(167), Money(166), Money(167)]);
}

#[test]
fn no_more_of_a_line_comes_back_than_was_sold() {
    let sold = line(2000, 1001, &[100]);
    assert_eq!(share(&sold, Qty::ONE, Qty::pieces(5)), share(&sold, Qty::ONE, Qty::ONE));
    for (done, take) in [(2000, 1000), (3000, 1000), (0, 0), (1000, -1000)] {
        let part = share(&sold, Qty(done), Qty(take));
        assert_eq!((part.total, part.tax, part.net), (Money::ZERO, Money::ZERO, Money::ZERO), "{done} {take}");
    }
    assert_eq!(share(&line(0, 1001, &[]), Qty::ZERO, Qty::ONE).total, Money::ZERO);
}

#[test]
fn the_units_that_a_special_took_come_back_with_their_line() {
    let taken = |done| Part::new(Qty::pieces(7), Qty::pieces(done), Qty::ONE).of_quantity(Qty::pieces(6));
    let all: Vec<i64> = (0..7).map(|done| taken(done).0).collect();
    assert_eq!(all.iter().sum::<i64>(), 6000);
    assert!(all.iter().all(|part| (856..=858).contains(part)), "{all:?}");
}

/// What of a refund of `refund` is rounded, of a sale of 21.76 paid by these kinds with -0.01 rounding.
fn mirrored(kinds: &[TenderKind], refund: i64, back: &[TenderKind]) -> Option<i64> {
    let sale = PaidSale { total: Money(2176), cash_rounding: Money(-1), kinds };
    let payments: Vec<Tendered> = back.iter().map(|kind| pays(*kind, None)).collect();
    refund_rounding(&sale, Money(refund), &payments).map(|rounding| rounding.0)
}

#[test]
fn only_the_whole_of_a_cash_sale_back_in_cash_mirrors_its_rounding() {
    assert_eq!(mirrored(&[Cash], -2176, &[Cash]), Some(1));
    assert_eq!(mirrored(&[Cash], -2175, &[Cash]), None);
    assert_eq!(mirrored(&[Cash], -2176, &[Card]), None);
    assert_eq!(mirrored(&[Cash], -2176, &[Cash, Card]), None);
    assert_eq!(mirrored(&[Card, Cash], -2176, &[Cash]), None);
    assert_eq!(mirrored(&[Check, Cash], -2176, &[Cash]), None);
    assert_eq!(mirrored(&[], -2176, &[Cash]), None);
    assert_eq!(mirrored(&[Cash], -2176, &[]), None);
}

#[test]
fn a_whole_cash_sale_comes_back_as_it_was_paid_whatever_the_coins_are_now() {
    for increment in [1, 5, 10, 100] {
        let rounding = CashRounding { increment, mode: RoundingMode::Up };
        let store = terms(Cash);
        let by = PaymentTerms { rounding, mirrored: Some(Money(1)), ..with_cash(Some(&store)) };
        let settlement = settle(Money(-2176), &[pays(Cash, None)], &by).expect("settled");
        assert_eq!(rows(&settlement), [(Cash, -2175, 0)]);
        assert_eq!(settlement.cash_rounding, Money(1));
    }
}

#[test]
fn a_tender_that_is_not_refundable_takes_payments_and_gives_nothing_back() {
    let mut payment = pays(Card, None);
    payment.tender.is_refundable = false;
    let store = terms(Cash);
    let by = with_cash(Some(&store));
    assert!(settle(Money(1000), std::slice::from_ref(&payment), &by).is_ok());
    let error = settle(Money(-1000), &[payment], &by).expect_err("not refundable");
    assert_eq!((error.code(), error.index()), (ErrorCode::TenderNotRefundable, Some(0)));
    assert_eq!(
        error.to_string(),
        "payment 1 (CARD): this tender is not refundable; give the money back by another one"
    );
}

#[test]
fn a_card_gets_back_no_more_than_it_paid_however_many_payments_say_so() {
    let back = |amounts: &[i64]| {
        let card = |amount: &i64| Tendered { at_most: Some(Money(600)), ..pays(Card, -amount) };
        let mut payments: Vec<Tendered> = amounts.iter().map(card).collect();
        payments.push(pays(Cash, None));
        let store = terms(Cash);
        settle(Money(-1000), &payments, &with_cash(Some(&store)))
    };
    assert_eq!(rows(&back(&[600]).expect("settled")), [(Card, -600, 0), (Cash, -400, 0)]);
    assert_eq!(rule(back(&[601])), (0, TenderRule::MoreThanPaid { most: Money(600) }));
    assert_eq!(rule(back(&[400, 201])), (1, TenderRule::MoreThanPaid { most: Money(600) }));
    assert!(back(&[400, 200]).is_ok());
    let sale = Tendered { at_most: Some(Money(600)), ..pays(Card, None) };
    let store = terms(Cash);
    assert!(settle(Money(1000), &[sale], &with_cash(Some(&store))).is_ok(), "a sale has no such limit");
}

/// What is left of each tender.
fn paid(left: &[(TenderKind, i64)]) -> Vec<Paid> {
    let one = |(kind, left): &(TenderKind, i64)| Paid {
        tender: terms(*kind),
        left: Money(*left),
        reference: (*kind == Check).then(|| "4711".to_owned()),
    };
    left.iter().map(one).collect()
}

#[test]
fn money_goes_back_the_way_it_came_the_last_tender_first() {
    let back = |refund, left: &[(TenderKind, i64)]| {
        let said = |payment: Tendered| (payment.tender.kind, payment.tendered.map(|amount| amount.0));
        to_original_tenders(Money(refund), &paid(left)).into_iter().map(said).collect::<Vec<_>>()
    };
    let sale = [(Card, 1000), (Check, 500), (Cash, 678)];
    assert_eq!(back(-300, &sale), [(Cash, None)]);
    assert_eq!(back(-1000, &sale), [(Cash, None), (Check, Some(-322))]);
    assert_eq!(back(-2178, &sale), [(Cash, None), (Check, Some(-500)), (Card, Some(-1000))]);
    // What they did not pay, somebody has to say how to give back.
    assert_eq!(back(-2179, &sale), []);
    assert_eq!(back(-1000, &[(Exchange, 800), (Cash, 200)]), []);
    assert_eq!(back(-200, &[(Exchange, 800), (Card, 200)]), [(Card, Some(-200))]);
    // The change of a check is a payment below zero, and gives nothing back.
    assert_eq!(back(-4000, &[(Check, 5000), (Cash, -1000)]), [(Check, Some(-4000))]);
    let check = to_original_tenders(Money(-500), &paid(&[(Check, 700)])).remove(0);
    assert_eq!((check.reference.as_deref(), check.at_most), (Some("4711"), Some(Money(700))));
}

fn exchanged(refund: i64, sale: i64, payments: &[Tendered]) -> Result<(Settlement, Settlement), PaymentError> {
    let store = terms(Cash);
    settle_exchange((Money(refund), Money(sale)), &terms(Exchange), payments, &with_cash(Some(&store)))
        .map(|halves| (halves.refund, halves.sale))
}

#[test]
fn an_exchange_settles_the_smaller_half_and_rounds_the_difference_alone() {
    let (refund, sale) = exchanged(-1003, 3181, &[pays(Cash, 3000)]).expect("settled");
    assert_eq!(rows(&refund), [(Exchange, -1003, 0)]);
    assert_eq!(rows(&sale), [(Exchange, 1003, 0), (Cash, 2180, 820)]);
    assert_eq!((refund.cash_rounding, sale.cash_rounding, sale.change), (Money(0), Money(2), Money(820)));

    let (refund, sale) = exchanged(-3181, 1003, &[pays(Cash, None)]).expect("settled");
    assert_eq!(rows(&refund), [(Exchange, -1003, 0), (Cash, -2180, 0)]);
    assert_eq!(rows(&sale), [(Exchange, 1003, 0)]);
    assert_eq!((refund.cash_rounding, sale.cash_rounding), (Money(-2), Money(0)));

    let (refund, sale) = exchanged(-1003, 1003, &[]).expect("settled");
    assert_eq!((rows(&refund), rows(&sale)), (vec![(Exchange, -1003, 0)], vec![(Exchange, 1003, 0)]));
    let (refund, sale) = exchanged(-1003, 0, &[pays(Card, None)]).expect("settled");
    assert_eq!((rows(&refund), rows(&sale)), (vec![(Card, -1003, 0)], vec![]));
}

#[test]
fn what_a_tender_asks_for_is_asked_of_the_difference_alone() {
    let card = |min, max| {
        let tender = TenderTerms { min_amount: Some(Money(min)), max_amount: Some(Money(max)), ..terms(Card) };
        exchanged(-5000, 7000, &[Tendered { tender, tendered: None, reference: None, at_most: None }])
    };
    assert!(card(2000, 2000).is_ok());
    let (amount, min, max) = (Money(2000), Money(2001), Money(1999));
    assert_eq!(card(2001, 5000).map(|_| ()).expect_err("too little").index(), Some(0));
    let rule_of = |result: Result<(Settlement, Settlement), PaymentError>| rule(result.map(|halves| halves.1)).1;
    assert_eq!(rule_of(card(2001, 5000)), TenderRule::BelowMinimum { amount, min });
    assert_eq!(rule_of(card(0, 1999)), TenderRule::AboveMaximum { amount, max });
    let underpaid = exchanged(-1000, 3176, &[pays(Cash, 2000)]).expect_err("underpaid");
    assert_eq!(underpaid, PaymentError::Underpaid { due: Money(2175), tendered: Money(2000) });
    assert_eq!(rule_of(exchanged(-1000, 1000, &[pays(Card, 1)])), TenderRule::NothingLeft);
}

fn owed(amount: i64, payments: &[Tendered]) -> Result<Settlement, PaymentError> {
    let store = terms(Cash);
    let by = PaymentTerms { has_customer: true, ..with_cash(Some(&store)) };
    settle_account(Money(amount), &terms(OnAccount), payments, &by)
}

#[test]
fn what_is_owed_is_paid_and_comes_off_the_account() {
    let settlement = owed(2176, &[pays(Card, 1000), pays(Cash, 2000)]).expect("settled");
    assert_eq!(rows(&settlement), [(Card, 1000, 0), (Cash, 1175, 825), (OnAccount, -2176, 0)]);
    assert_eq!((settlement.cash_rounding, settlement.change), (Money(-1), Money(825)));
    let account = settlement.payments.last().expect("a row");
    assert_eq!((account.index, account.tendered, account.is_change), (None, None, false));
}

#[test]
fn what_is_owed_is_not_paid_by_owing_it_again() {
    let error = owed(2176, &[pays(Cash, 2000), pays(OnAccount, None)]).expect_err("owed again");
    assert_eq!((error.code(), error.index()), (ErrorCode::TenderRule, Some(1)));
    assert_eq!(
        error.to_string(),
        "payment 2 (ON_ACCOUNT): what is owed is not paid by owing it again; choose another tender"
    );
}

/// What is paid, or given back when `amount` is below zero: some by card and the rest in cash, or all by one of them.
fn difference(amount: i64, by_card: i64) -> Vec<Tendered> {
    let card = amount * by_card / 1000;
    let mut payments = Vec::new();
    if card != 0 {
        payments.push(pays(Card, card));
    }
    payments.push(pays(Cash, None));
    payments
}

fn paid_by(settlement: &Settlement, kind: TenderKind) -> i64 {
    settlement.payments.iter().filter(|row| row.kind == kind).map(|row| row.amount.0).sum()
}

fn all(settlement: &Settlement) -> i64 {
    settlement.payments.iter().map(|row| row.amount.0).sum()
}

/// Also the ends of what an amount can be.
fn any_amount() -> impl Strategy<Value = i64> {
    prop_oneof![any::<i64>(), prop::sample::select(&[i64::MIN, i64::MAX, 0, 1, -1][..])]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn both_halves_of_an_exchange_are_paid_and_the_drawer_sees_the_difference(
        refund in 0_i64..5000, sale in 0_i64..5000, by_card in 0_i64..=1000, rounding in roundings(),
    ) {
        let store = terms(Cash);
        let by = PaymentTerms { rounding, ..with_cash(Some(&store)) };
        let payments = difference(sale - refund, by_card);
        let halves = settle_exchange((Money(-refund), Money(sale)), &terms(Exchange), &payments, &by).expect("settled");
        let (back, sold) = (&halves.refund, &halves.sale);
        prop_assert_eq!(all(back), -refund + back.cash_rounding.0);
        prop_assert_eq!(all(sold), sale + sold.cash_rounding.0);
        prop_assert_eq!(paid_by(back, Exchange), -refund.min(sale));
        prop_assert_eq!(paid_by(sold, Exchange), refund.min(sale));
        prop_assert_eq!(exchange(Money(-refund), Money(sale)), Money(refund.min(sale)));
        // The half that is smaller is settled by the other one alone.
        let smaller = if refund > sale { sold } else { back };
        prop_assert!(smaller.payments.iter().all(|row| row.kind == Exchange));
        let cash = paid_by(back, Cash) + paid_by(sold, Cash);
        prop_assert_eq!(cash % rounding.increment, 0);
        let others = paid_by(back, Card) + paid_by(sold, Card);
        let rounded = back.cash_rounding.0 + sold.cash_rounding.0;
        prop_assert_eq!(cash + others, sale - refund + rounded);
        prop_assert!(rounded.abs() < rounding.increment);
    }

    #[test]
    fn a_settlement_of_an_account_has_no_total_and_takes_off_what_was_paid(
        amount in 1_i64..5000, by_card in 0_i64..=1000, rounding in roundings(), more in 0_i64..1000,
    ) {
        let store = terms(Cash);
        let by = PaymentTerms { rounding, has_customer: true, ..with_cash(Some(&store)) };
        let mut payments = difference(amount, by_card);
        let cash = payments.last_mut().expect("cash");
        cash.tendered = Some(Money(amount - amount * by_card / 1000 + 100 + more));
        if let Ok(settlement) = settle_account(Money(amount), &terms(OnAccount), &payments, &by) {
            prop_assert_eq!(all(&settlement), settlement.cash_rounding.0);
            prop_assert_eq!(paid_by(&settlement, OnAccount), -amount);
            let mut others = settlement.payments.iter().filter(|row| row.kind != OnAccount);
            prop_assert!(others.all(|row| row.amount >= Money::ZERO));
            prop_assert_eq!(paid_by(&settlement, Cash) % rounding.increment, 0);
        } else {
            // Nothing was left to cash, and some was tendered.
            prop_assert_eq!(by_card, 1000);
        }
    }

    #[test]
    fn no_refund_panics(
        amounts in prop::array::uniform4(any_amount()), quantities in prop::array::uniform3(any_amount()),
        total in any_amount(), mirrored in prop::option::of(any_amount()),
    ) {
        let [list, tax, cost, left] = amounts;
        let [quantity, done, take] = quantities.map(Qty);
        let sold = StoredLine { quantity, list: Money(list), cost: Money(cost), ..line(0, total, &[tax, list]) };
        let part = share(&StoredLine { quantity, ..sold }, done, take);
        let store = terms(Cash);
        let by = PaymentTerms { mirrored: mirrored.map(Money), ..with_cash(Some(&store)) };
        let paid = paid(&[(Card, left), (Cash, list)]);
        let payments = to_original_tenders(part.total, &paid);
        let sale = PaidSale { total: Money(total), cash_rounding: Money(tax), kinds: &[Cash] };
        let _ = refund_rounding(&sale, part.total, &payments);
        let _ = settle(part.total, &payments, &by);
        let halves = (Money(total), Money(list));
        let _ = settle_exchange(halves, &terms(Exchange), &[pays(Card, left), pays(Cash, cost)], &by);
        let _ = settle_account(Money(total), &terms(OnAccount), &[pays(Cash, cost)], &by);
    }
}
