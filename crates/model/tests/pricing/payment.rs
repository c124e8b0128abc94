//! How sales and refunds are paid: change, cash rounding, and what each tender asks for.

use proptest::prelude::*;
use tillkeep_model::pricing::{
    CashRounding, PaymentError, PaymentTerms, RoundingMode, Settlement, TenderKind, TenderRule, TenderTerms, Tendered,
    settle,
};
use tillkeep_model::words::Word;
use tillkeep_model::{ErrorCode, Money, ids};

pub(crate) fn terms(kind: TenderKind) -> TenderTerms {
    TenderTerms {
        id: ids::named(kind.word()),
        code: kind.word().to_uppercase(),
        kind,
        allows_change: kind == TenderKind::Cash || kind == TenderKind::Check,
        requires_reference: false,
        requires_customer: false,
        min_amount: None,
        max_amount: None,
        is_active: true,
        is_refundable: true,
        is_voidable: true,
    }
}

pub(crate) fn pays(kind: TenderKind, tendered: impl Into<Option<i64>>) -> Tendered {
    Tendered { tender: terms(kind), tendered: tendered.into().map(Money), reference: None, at_most: None }
}

use TenderKind::{Card, Cash, Check};

const FIVE: CashRounding = CashRounding { increment: 5, mode: RoundingMode::Nearest };

pub(crate) const fn with_cash(cash: Option<&TenderTerms>) -> PaymentTerms<'_> {
    PaymentTerms { rounding: FIVE, mirrored: None, has_customer: false, cash }
}

fn settled(total: i64, payments: &[Tendered], rounding: CashRounding) -> Result<Settlement, PaymentError> {
    settle(Money(total), payments, &PaymentTerms { rounding, ..with_cash(Some(&terms(Cash))) })
}

fn paid(total: i64, payments: &[Tendered], rounding: CashRounding) -> Settlement {
    settled(total, payments, rounding).expect("settled")
}

/// Kind, amount and change of each row.
pub(crate) fn rows(settlement: &Settlement) -> Vec<(TenderKind, i64, i64)> {
    settlement.payments.iter().map(|row| (row.kind, row.amount.0, row.change.0)).collect()
}

pub(crate) fn rule(result: Result<Settlement, PaymentError>) -> (usize, TenderRule) {
    match result {
        Err(PaymentError::TenderRule { index, rule, .. }) => (index, rule),
        other => panic!("expected a tender rule, got {other:?}"),
    }
}

#[test]
fn cash_is_rounded_to_coins_and_gives_change() {
    let settlement = paid(2176, &[pays(Cash, 3000)], FIVE);
    assert_eq!(rows(&settlement), [(Cash, 2175, 825)]);
    assert_eq!((settlement.cash_rounding, settlement.change), (Money(-1), Money(825)));
    assert_eq!(settlement.payments[0].tendered, Some(Money(3000)));
}

#[test]
fn a_card_pays_to_the_unit() {
    let settlement = paid(2176, &[pays(Card, None)], FIVE);
    assert_eq!(rows(&settlement), [(Card, 2176, 0)]);
    assert_eq!(settlement.cash_rounding, Money::ZERO);
}

#[test]
fn cash_comes_last_and_pays_the_rest_whatever_the_order_given() {
    let settlement = paid(2178, &[pays(Cash, None), pays(Card, 1000)], FIVE);
    assert_eq!(rows(&settlement), [(Card, 1000, 0), (Cash, 1180, 0)]);
    assert_eq!(settlement.payments.iter().map(|row| row.index).collect::<Vec<_>>(), [Some(1), Some(0)]);
    assert_eq!(settlement.cash_rounding, Money(2));
}

#[test]
fn cash_for_the_rest_leaves_no_row_when_nothing_is_left() {
    assert_eq!(rows(&paid(2178, &[pays(Card, 2178), pays(Cash, None)], FIVE)), [(Card, 2178, 0)]);
    assert_eq!(paid(0, &[pays(Cash, None)], FIVE), Settlement::default());
    assert_eq!(paid(0, &[], FIVE), Settlement::default());
}

#[test]
fn a_rest_below_half_a_coin_is_settled_by_a_cash_row_of_nothing() {
    let settlement = paid(1002, &[pays(Card, 1000), pays(Cash, 100)], FIVE);
    assert_eq!(rows(&settlement), [(Card, 1000, 0), (Cash, 0, 100)]);
    assert_eq!(settlement.cash_rounding, Money(-2));
}

#[test]
fn the_change_of_a_check_is_a_cash_row_below_zero() {
    let settlement = paid(4000, &[pays(Check, 5000)], FIVE);
    assert_eq!(rows(&settlement), [(Check, 5000, 0), (Cash, -1000, 1000)]);
    assert_eq!(settlement.change, Money(1000));
    let change = &settlement.payments[1];
    assert_eq!((change.index, change.is_change, change.tendered), (None, true, None));
}

#[test]
fn the_change_of_a_check_is_rounded_to_coins() {
    let settlement = paid(2178, &[pays(Check, 2200)], FIVE);
    assert_eq!(rows(&settlement), [(Check, 2200, 0), (Cash, -20, 20)]);
    assert_eq!(settlement.cash_rounding, Money(2));
    assert_eq!(rows(&paid(2198, &[pays(Check, 2200)], FIVE)), [(Check, 2200, 0)]);
}

#[test]
fn a_refund_in_cash_is_rounded_like_its_sale() {
    let settlement = paid(-2178, &[pays(Cash, None)], FIVE);
    assert_eq!(rows(&settlement), [(Cash, -2180, 0)]);
    assert_eq!((settlement.cash_rounding, settlement.change), (Money(-2), Money::ZERO));
}

#[test]
fn too_little_is_underpaid_by_the_rounded_amount() {
    let error = settled(2176, &[pays(Cash, 2000)], FIVE).expect_err("underpaid");
    assert_eq!(error, PaymentError::Underpaid { due: Money(2175), tendered: Money(2000) });
    assert_eq!(error.to_string(), "2000 of 2175 minor units are paid; tender 175 more or add another payment");
    assert_eq!((error.code(), error.index()), (ErrorCode::Underpaid, None));
    let unpaid = settled(2176, &[], FIVE).expect_err("underpaid");
    assert_eq!(unpaid, PaymentError::Underpaid { due: Money(2176), tendered: Money::ZERO });
    let refund = settled(-2176, &[pays(Card, -176)], FIVE).expect_err("underpaid");
    assert_eq!(refund, PaymentError::Underpaid { due: Money(-2176), tendered: Money(-176) });
}

#[test]
fn a_payment_without_an_amount_takes_what_the_others_leave_wherever_it_stands() {
    let rest = || pays(Card, None);
    for payments in [[pays(Cash, 300), rest()], [rest(), pays(Cash, 300)]] {
        let settlement = paid(1000, &payments, CashRounding::NONE);
        assert_eq!(rows(&settlement), [(Card, 700, 0), (Cash, 300, 0)]);
    }
    let checks = [rest(), pays(Check, 250), pays(Cash, 150)];
    assert_eq!(rows(&paid(1000, &checks, CashRounding::NONE)), [(Card, 600, 0), (Check, 250, 0), (Cash, 150, 0)]);
    let refund = [rest(), pays(Cash, -300)];
    assert_eq!(rows(&paid(-1000, &refund, CashRounding::NONE)), [(Card, -700, 0), (Cash, -300, 0)]);
    let nothing = settled(1000, &[pays(Cash, 1000), rest()], CashRounding::NONE);
    assert_eq!(rule(nothing), (1, TenderRule::NothingLeft));
}

#[test]
fn two_payments_without_an_amount_are_refused() {
    for payments in [[pays(Card, None), pays(Cash, None)], [pays(Check, None), pays(Card, None)]] {
        assert_eq!(rule(settled(1000, &payments, FIVE)), (1, TenderRule::TwoWithoutAmount));
    }
}

#[test]
fn a_card_gives_no_change() {
    let error = settled(2176, &[pays(Card, 1000), pays(Card, 2000)], FIVE).expect_err("too much");
    assert_eq!((error.code(), error.index()), (ErrorCode::TenderRule, Some(1)));
    assert_eq!(error.to_string(), "payment 2 (CARD): this tender gives no change; tender 1176 minor units at most");
}

#[test]
fn a_refund_gives_no_change() {
    for kind in [Cash, Check] {
        let result = settled(-2175, &[pays(kind, -3000)], FIVE);
        assert_eq!(rule(result), (0, TenderRule::TooMuch { rest: Money(-2175) }));
    }
}

#[test]
fn change_needs_an_active_cash_tender() {
    let closed = TenderTerms { is_active: false, ..terms(Cash) };
    for cash in [None, Some(&closed), Some(&terms(Card))] {
        let result = settle(Money(4000), &[pays(Check, 5000)], &with_cash(cash));
        assert_eq!(rule(result), (0, TenderRule::NoCashForChange { rest: Money(4000) }));
    }
}

#[test]
fn a_payment_with_nothing_left_to_pay_is_refused() {
    assert_eq!(rule(settled(1000, &[pays(Card, 1000), pays(Check, None)], FIVE)), (1, TenderRule::NothingLeft));
    assert_eq!(rule(settled(1000, &[pays(Cash, 500), pays(Card, 1000)], FIVE)), (0, TenderRule::NothingLeft));
    assert_eq!(rule(settled(1000, &[pays(Check, 2000), pays(Cash, 500)], FIVE)), (1, TenderRule::NothingLeft));
    assert_eq!(rule(settled(0, &[pays(Cash, 500)], FIVE)), (0, TenderRule::NothingLeft));
}

#[test]
fn amounts_of_nothing_or_of_the_wrong_sign_are_refused() {
    assert_eq!(rule(settled(1000, &[pays(Card, 0)], FIVE)), (0, TenderRule::NothingTendered));
    assert_eq!(rule(settled(1000, &[pays(Cash, -1000)], FIVE)), (0, TenderRule::WrongSign));
    assert_eq!(rule(settled(-1000, &[pays(Card, 1000)], FIVE)), (0, TenderRule::WrongSign));
}

#[test]
fn the_terms_of_a_tender_are_kept() {
    let with = |change: fn(&mut Tendered)| {
        let mut payment = pays(Card, None);
        change(&mut payment);
        rule(settled(1000, &[payment], FIVE)).1
    };
    assert_eq!(with(|payment| payment.tender.is_active = false), TenderRule::Inactive);
    assert_eq!(with(|payment| payment.tender.requires_customer = true), TenderRule::CustomerMissing);
    let blank = with(|payment| {
        payment.tender.requires_reference = true;
        payment.reference = Some("  ".into());
    });
    assert_eq!(blank, TenderRule::ReferenceMissing);
    let (amount, min, max) = (Money(1000), Money(1001), Money(999));
    assert_eq!(with(|payment| payment.tender.min_amount = Some(Money(1001))), TenderRule::BelowMinimum { amount, min });
    assert_eq!(with(|payment| payment.tender.max_amount = Some(Money(999))), TenderRule::AboveMaximum { amount, max });
}

#[test]
fn a_customer_and_a_reference_satisfy_the_terms() {
    let tender = TenderTerms { requires_customer: true, requires_reference: true, ..terms(TenderKind::OnAccount) };
    let payment = Tendered { tender, tendered: None, reference: Some("4711".into()), at_most: None };
    let settlement =
        settle(Money(1000), &[payment], &PaymentTerms { has_customer: true, ..with_cash(None) }).expect("settled");
    assert_eq!(settlement.payments[0].reference.as_deref(), Some("4711"));
}

#[test]
fn a_refund_may_be_smaller_than_the_least_payment() {
    let tender = TenderTerms { min_amount: Some(Money(1000)), max_amount: Some(Money(2000)), ..terms(Card) };
    let refund = Tendered { tender, tendered: None, reference: None, at_most: None };
    assert!(settled(-300, std::slice::from_ref(&refund), FIVE).is_ok());
    let (amount, max) = (Money(-2001), Money(2000));
    assert_eq!(rule(settled(-2001, &[refund], FIVE)), (0, TenderRule::AboveMaximum { amount, max }));
}

pub(crate) fn roundings() -> impl Strategy<Value = CashRounding> {
    let modes = prop::sample::select(&[RoundingMode::Nearest, RoundingMode::Up, RoundingMode::Down][..]);
    (prop::sample::select(&[1_i64, 5, 10, 25, 100][..]), modes)
        .prop_map(|(increment, mode)| CashRounding { increment, mode })
}

fn payments(amounts: impl Strategy<Value = i64>) -> impl Strategy<Value = Vec<Tendered>> {
    let payment = (prop::sample::select(TenderKind::ALL), prop::option::of(amounts), any::<bool>());
    let to_payment = |(kind, tendered, allows_change): (TenderKind, Option<i64>, bool)| {
        let mut payment = pays(kind, tendered);
        payment.tender.allows_change |= allows_change;
        payment
    };
    prop::collection::vec(payment.prop_map(to_payment), 0..5)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn what_is_paid_is_the_total_and_the_cash_rounding(
        total in -3000_i64..3000,
        mut payments in payments(0_i64..3000),
        rounding in roundings(),
        last in prop::sample::select(&[Cash, Card][..]),
    ) {
        if total < 0 {
            for payment in &mut payments {
                payment.tendered = payment.tendered.map(|amount| -amount);
            }
        }
        // Something that can pay what is left, so that most carts are settled.
        payments.push(pays(last, None));
        if let Ok(settlement) = settled(total, &payments, rounding) {
            let rows = &settlement.payments;
            prop_assert_eq!(rows.iter().map(|row| row.amount).sum::<Money>(), Money(total) + settlement.cash_rounding);
            prop_assert_eq!(rows.iter().map(|row| row.change).sum::<Money>(), settlement.change);
            prop_assert!(settlement.change >= Money::ZERO);
            prop_assert!(settlement.cash_rounding.0.abs() < rounding.increment);
            let in_cash = rows.iter().any(|row| row.kind == Cash);
            for row in rows.iter().filter(|row| !row.is_change) {
                prop_assert!(row.amount.0 == 0 || (row.amount.0 < 0) == (total < 0));
                if let Some(tendered) = row.tendered {
                    prop_assert_eq!(row.amount + row.change, tendered);
                }
            }
            let cash: Money = rows.iter().filter(|row| row.kind == Cash).map(|row| row.amount).sum();
            if in_cash {
                prop_assert_eq!(cash.0 % rounding.increment, 0);
            }
            let first_cash = rows.iter().position(|row| row.kind == Cash).unwrap_or(rows.len());
            prop_assert!(rows[first_cash..].iter().all(|row| row.kind == Cash));
        }
    }

    #[test]
    fn no_payment_panics(
        total in any::<i64>(), payments in payments(any::<i64>()), increment in any::<i64>(),
        mode in prop::sample::select(&[RoundingMode::Nearest, RoundingMode::Up, RoundingMode::Down][..]),
        limits in prop::option::of((any::<i64>(), any::<i64>())),
    ) {
        let mut payments = payments;
        for payment in &mut payments {
            payment.tender.min_amount = limits.map(|(min, _)| Money(min));
            payment.tender.max_amount = limits.map(|(_, max)| Money(max));
        }
        if let Err(error) = settled(total, &payments, CashRounding { increment, mode }) {
            prop_assert!(!error.to_string().is_empty());
        }
    }
}
