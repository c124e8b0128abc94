//! The papers of one drawer in each of the three shops: of X, Z, ZZ and a movement.

use tillkeep_model::paper::Shop;
use tillkeep_model::paper::report::{MovementSlip, ReportBody, ReportPaper, ZzPaper};
use tillkeep_model::z::{
    Amounts, BlindDepartment, Cash, ChainHead, Counted, Denomination, Department, Header, LostNumbers, Own,
    OwnMovement, Owner, Receipts, RemovedBy, RunningTotal, Settlements, Stored, TaxTotal, TenderTotal, ZReport, ZRow,
    blind, zz,
};
use tillkeep_model::{Instant, JsonText, Money, Ppm, Qty, ids};

/// A shop, its letters and how much one of its smallest amounts is.
struct Place {
    name: &'static str,
    shop: &'static str,
    locale: &'static str,
    currency: (&'static str, i16),
    time_zone: &'static str,
    unit: i64,
    people: [&'static str; 2],
    departments: [&'static str; 2],
}

const PLACES: [Place; 3] = [
    Place {
        name: "de",
        shop: "Hofladen Grünberg",
        locale: "de-DE",
        currency: ("EUR", 2),
        time_zone: "Europe/Berlin",
        unit: 1,
        people: ["Anna Weiß", "Jörg Öztürk"],
        departments: ["Obst & Gemüse", "Milchprodukte und Käse vom Hof"],
    },
    Place {
        name: "fr",
        shop: "Épicerie Teranga",
        locale: "fr-SN",
        currency: ("XOF", 0),
        time_zone: "Africa/Dakar",
        unit: 5,
        people: ["Aïssatou Diop", "Léon Mbaye"],
        departments: ["Épicerie", "Fruits et légumes frais"],
    },
    Place {
        name: "kw",
        shop: "Salmiya Corner",
        locale: "en-KW",
        currency: ("KWD", 3),
        time_zone: "Asia/Kuwait",
        unit: 10,
        people: ["Noor", "Sara <Al> Sabah"],
        departments: ["Grocery", "Household"],
    },
];

fn at(text: &str) -> Instant {
    Instant::parse(text).expect("an instant")
}

impl Place {
    fn money(&self, amount: i64) -> Money {
        Money(amount * self.unit)
    }

    fn paper(&self, body: ReportBody, copy: Option<i32>) -> ReportPaper {
        ReportPaper {
            locale: self.locale.into(),
            currency_code: self.currency.0.into(),
            currency_exponent: self.currency.1,
            time_zone: self.time_zone.into(),
            shop: Shop { name: self.shop.into(), address: vec!["12".into()], ..Shop::default() },
            printed_at: at("2026-11-20T21:15:00Z"),
            copy,
            body,
        }
    }

    fn header(&self) -> Header {
        Header {
            session_id: Some(ids::named("session")),
            session_number: Some(12),
            register_code: "02".into(),
            business_date: "2026-11-20".into(),
            opened_by: Some(ids::named("one")),
            opened_by_name: self.people[0].into(),
            opened_at: Some(at("2026-11-20T08:00:00Z")),
            closed_by: Some(ids::named("other")),
            closed_by_name: self.people[1].into(),
            closed_at: Some(at("2026-11-20T21:10:00Z")),
            owners: vec![Owner {
                user_id: ids::named("other"),
                name: self.people[1].into(),
                by_user_id: ids::named("one"),
                at: Some(at("2026-11-20T14:00:00Z")),
            }],
            forced: false,
        }
    }

    fn tenders(&self) -> Vec<TenderTotal> {
        let tender = |code: &str, kind: &str, count, sales: i64, refunds: i64| TenderTotal {
            tender_id: Some(ids::named(code)),
            tender_code: code.into(),
            tender_kind: kind.into(),
            count,
            amount: self.money(sales + refunds),
            sales_amount: self.money(sales),
            refunds_amount: self.money(refunds),
        };
        vec![
            tender("CASH", "cash", 42, 123_455, -1_850),
            tender("CARD", "card", 31, 200_000, 0),
            tender("ACCOUNT", "on_account", 1, -5_000, 0),
        ]
    }

    /// A day on which everything happened.
    fn z(&self) -> ZReport {
        let money = |amount| self.money(amount);
        let [one, other] = self.departments;
        let tax = |code: &str, ppm, base, tax| TaxTotal {
            tax_rate_id: ids::named(code),
            code: code.into(),
            name: code.into(),
            rate_ppm: Ppm(ppm),
            base_amount: money(base),
            tax_amount: money(tax),
        };
        let department = |name: &str, quantity, net| Department {
            department_id: (!name.is_empty()).then(|| ids::named(name)),
            name: name.into(),
            quantity: Qty(quantity),
            net_amount: money(net),
        };
        let removed = |name: &str, count, amount| RemovedBy {
            user_id: ids::named(name),
            name: name.into(),
            count,
            amount: money(amount),
        };
        let mut report = ZReport {
            version: ZReport::VERSION,
            sale_count: 70,
            refund_count: 2,
            void_count: 1,
            settlements: Settlements { count: 1, amount: money(5_000) },
            net_amount: money(280_000),
            tax_amount: money(36_600),
            total_amount: money(316_600),
            cash_rounding: money(5),
            opening_float: money(20_000),
            expected_cash: money(130_405),
            tenders: self.tenders(),
            taxes: vec![tax("VAT", 190_000, 140_000, 26_600), tax("RED", 70_000, 140_000, 10_000)],
            first_receipt_number: Some("S01-02-000120".into()),
            last_receipt_number: Some("S01-02A-000004".into()),
            header: self.header(),
            item_count: Qty(181_250),
            void_amount: money(999),
            ..ZReport::default()
        };
        report.amounts = Amounts {
            list_sales: money(300_000),
            special_discount: money(12_000),
            line_discount: money(5_000),
            cart_discount: money(1_000),
            net_sales: money(282_000),
            net_refunds: money(-2_000),
        };
        report.departments =
            vec![department(one, 100_250, 150_000), department(other, 80_000, 129_000), department("", 1_000, 1_000)];
        report.cash = Cash {
            opening_float: money(20_000),
            payments: money(121_605),
            paid_in: money(5_000),
            float_add: money(10_000),
            paid_out: money(1_200),
            drop: money(25_000),
            expected: money(130_405),
            counted: Some(money(130_000)),
            variance: Some(money(-405)),
            denominations: [(50_000, 2), (10_000, 3)]
                .map(|(value, count)| Denomination { value: money(value), count })
                .to_vec(),
        };
        report.receipts = vec![
            Receipts {
                series: "02".into(),
                first: 120,
                last: 192,
                count: 70,
                lost: vec![LostNumbers { from: 150, to: 151 }, LostNumbers { from: 160, to: 160 }],
            },
            Receipts { series: "02A".into(), first: 1, last: 4, count: 4, lost: Vec::new() },
        ];
        report.running_total = RunningTotal { before: money(987_654_321), after: money(987_970_921) };
        report.chain = Some(ChainHead {
            chain_id: ids::named("chain"),
            number: 75,
            hash: "0123456789abcdef".repeat(4),
            running_total: money(987_970_921),
        });
        let controls = &mut report.controls;
        controls.price_overrides = Counted { count: 2, amount: money(450) };
        controls.manual_discounts = Counted { count: 9, amount: money(6_000) };
        (controls.no_sale_count, controls.parked_abandoned, controls.parked_open, controls.approvals) = (3, 1, 2, 4);
        controls.removed.count = 5;
        controls.removed.amount = money(3_333);
        controls.removed.by_cashier = vec![removed(self.people[0], 3, 3_000), removed(self.people[1], 2, 333)];
        report
    }

    /// As long as it is open.
    fn x(&self) -> ZReport {
        let mut report = self.z();
        (report.header.closed_at, report.header.closed_by) = (None, None);
        report.header.closed_by_name.clear();
        report.cash.counted = None;
        report.cash.variance = None;
        report.cash.denominations.clear();
        report.controls.paid_out_beyond_cash = true;
        report
    }

    /// Closed by force, with something that is not right.
    fn forced(&self) -> ZReport {
        let mut report = self.z();
        report.header.forced = true;
        report.cash.counted = None;
        report.cash.variance = None;
        report.cash.denominations.clear();
        report.flags = vec!["does_not_add_up".into()];
        report
    }

    /// As the release before stored it.
    fn old(&self) -> ZReport {
        let now = self.z();
        let mut old = serde_json::json!({
            "saleCount": 70, "refundCount": 2, "voidCount": 1, "netAmount": now.net_amount, "taxAmount": now.tax_amount,
            "totalAmount": now.total_amount, "cashRounding": now.cash_rounding, "openingFloat": now.opening_float,
            "expectedCash": self.money(141_605), "tenders": now.tenders, "taxes": now.taxes,
            "firstReceiptNumber": "S01-02-000120", "lastReceiptNumber": "S01-02-000192",
        });
        for tender in old["tenders"].as_array_mut().expect("a list") {
            tender.as_object_mut().expect("an object").retain(|field, _| !field.ends_with("sAmount"));
        }
        let stored = Stored {
            running_total: Some(now.running_total.after),
            counted_cash: Some(self.money(141_605)),
            cash_variance: Some(Money::ZERO),
        };
        let mut report = ZReport::read(&JsonText(old), stored).expect("a report");
        report.header = Header { owners: Vec::new(), ..self.header() };
        report
    }

    fn own(&self) -> Own {
        let movement = |name: &str, amount, reason: &str| OwnMovement {
            id: ids::named(name),
            r#type: name.into(),
            amount: self.money(amount),
            reason: reason.into(),
            at: Some(at("2026-11-20T12:00:00Z")),
        };
        let departments = self.departments.map(|name| BlindDepartment {
            department_id: Some(ids::named(name)),
            name: name.into(),
            quantity: Qty(12_500),
        });
        Own {
            departments: departments.to_vec(),
            movements: vec![movement("paid_in", 5_000, "Change from next door"), movement("drop", 15_000, "")],
        }
    }

    fn row(&self, register: &str, number: i64, report: ZReport) -> ZRow {
        ZRow {
            session_id: ids::named(&format!("{register} {number}")),
            register_code: register.into(),
            letter: String::new(),
            number,
            business_date: report.header.business_date.clone(),
            cashier: self.people[0].into(),
            report,
        }
    }

    fn zz(&self, registers: &[&str], reports: &[(i64, ZReport); 2]) -> ReportBody {
        let row = |register: &&str| reports.clone().map(|(number, report)| self.row(register, number, report));
        let rows: Vec<ZRow> = registers.iter().flat_map(row).collect();
        let register_code = (registers.len() == 1).then(|| registers[0].to_owned());
        let [from_date, to_date] = ["2026-11-20", "2026-11-22"].map(str::to_owned);
        ReportBody::Zz(Box::new(ZzPaper { zz_number: 3, register_code, from_date, to_date, report: zz(&rows) }))
    }

    fn movement(&self, kind: &str, amount: i64, approver: Option<&str>) -> ReportBody {
        ReportBody::Movement(Box::new(MovementSlip {
            id: ids::named("movement"),
            r#type: kind.into(),
            amount: self.money(amount),
            reason: "Milk & bread".into(),
            register_code: "02".into(),
            session_number: Some(12),
            user_name: self.people[0].into(),
            approver_name: approver.map(str::to_owned),
            at: at("2026-11-20T12:34:56Z"),
        }))
    }

    fn papers(&self) -> Vec<(String, ReportPaper)> {
        let z = |report| ReportBody::Z(Box::new(report));
        let papers = [
            ("x", ReportBody::X(Box::new(self.x())), None),
            ("x-blind", ReportBody::BlindX(Box::new(blind(&self.x(), self.own()))), None),
            ("z", z(self.z()), None),
            ("z-copy-forced", z(self.forced()), Some(2)),
            ("z-old", z(self.old()), None),
            ("zz", self.zz(&["02"], &[(12, self.z()), (15, self.forced())]), None),
            ("zz-store", self.zz(&["01", "02"], &[(12, self.z()), (15, self.forced())]), None),
            ("zz-old", self.zz(&["02"], &[(11, self.old()), (12, self.z())]), None),
            ("paid-out", self.movement("paid_out", 1_200, Some(self.people[1])), None),
            ("no-sale", self.movement("no_sale", 0, None), None),
        ];
        let named = |(name, body, copy)| (format!("report-{}-{name}", self.name), self.paper(body, copy));
        papers.into_iter().map(named).collect()
    }
}

#[test]
fn a_drawer_after_numbers_were_lost_has_one_name_on_all_papers() {
    let place = &PLACES[0];
    let mut report = place.z();
    report.header.session_number = Some(100_003);
    let ReportBody::Movement(mut slip) = place.movement("paid_out", 1_200, None) else { panic!("another paper") };
    slip.session_number = Some(100_003);
    for body in [
        ReportBody::X(Box::new(report.clone())),
        ReportBody::BlindX(Box::new(blind(&report, place.own()))),
        ReportBody::Z(Box::new(report)),
        ReportBody::Movement(slip),
    ] {
        let paper = place.paper(body, None);
        let (text, page) = (paper.text(42), paper.html(80));
        assert!(text.lines().any(|line| line.starts_with("Schicht Nr.") && line.ends_with(" A3")), "{text}");
        assert!(page.contains("-A3</title>") && !page.contains("100003") && !text.contains("100003"), "{page}");
    }
}

pub(crate) fn all() -> Vec<(String, ReportPaper)> {
    PLACES.iter().flat_map(Place::papers).collect()
}
