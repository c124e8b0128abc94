//! Papers of three shops: of Germany (two decimals), Senegal (none) and Kuwait (three).

use tillkeep_model::paper::{
    Approved, Buyer, Line, Other, Price, Receipt, Reference, Saving, Shop, Signature, Tax, Tender, Totals, Voided,
    approved, discount,
};
use tillkeep_model::words::{PaperKind, SaleType, SignatureState};
use tillkeep_model::{Instant, Money, Ppm, Qty, rdiv};

/// A shop and how it counts.
struct Place {
    locale: &'static str,
    currency: (&'static str, i16),
    shop: Shop,
    /// Name and rate of its taxes, by letter: A, B.
    taxes: [(&'static str, i32, bool); 2],
}

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

fn berlin() -> Place {
    Place {
        locale: "de-DE",
        currency: ("EUR", 2),
        shop: Shop {
            name: "Hofladen Grünberg".into(),
            legal_name: Some("Grünberg Lebensmittel GmbH & Co. KG".into()),
            tax_number: Some("DE 123 456 789".into()),
            address: texts(&["Straße der Pariser Kommune 12", "10243 Berlin"]),
            phone: Some("030 1234567".into()),
            header: Some("Frisch vom Feld".into()),
            footer: Some("Vielen Dank für Ihren Einkauf!\nUmtausch mit Bon innerhalb von 14 Tagen".into()),
        },
        taxes: [("MwSt", 190_000, true), ("MwSt", 70_000, true)],
    }
}

fn dakar() -> Place {
    Place {
        locale: "fr-SN",
        currency: ("XOF", 0),
        shop: Shop {
            name: "Épicerie Teranga".into(),
            legal_name: None,
            tax_number: Some("0054321 2G3".into()),
            address: texts(&["12, avenue Léopold Sédar Senghor", "10200 Dakar"]),
            phone: None,
            header: None,
            footer: Some("Merci et à bientôt".into()),
        },
        taxes: [("TVA", 180_000, true), ("Taxe spéciale", 50_000, true)],
    }
}

fn kuwait() -> Place {
    Place {
        locale: "en-KW",
        currency: ("KWD", 3),
        shop: Shop {
            name: "Salmiya Corner".into(),
            legal_name: Some("Salmiya Corner Trading W.L.L.".into()),
            tax_number: None,
            address: texts(&["Salem Al Mubarak Street 4", "20001 Kuwait City"]),
            phone: Some("+965 2222 3333".into()),
            header: Some("Open every day".into()),
            footer: None,
        },
        taxes: [("Levy", 50_000, true), ("Service charge", 125_000, false)],
    }
}

/// A line of `quantity` thousandths at `unit`, with the tax of a letter.
fn line(name: &str, quantity: i64, unit: i64, mark: &str) -> Line {
    let list = Money(unit).times(Qty(quantity));
    Line {
        name: name.into(),
        quantity: Qty(quantity),
        unit: "ea".into(),
        price: Some(Price { unit: Money(unit), list, savings: Vec::new(), amount: list, tax_mark: mark.into() }),
        ..Line::default()
    }
}

fn less(mut line: Line, text: &str, amount: i64) -> Line {
    if let Some(price) = &mut line.price {
        price.savings.push(Saving { text: text.into(), amount: Money(amount) });
        price.amount = price.amount - Money(amount);
    }
    line
}

impl Place {
    /// A paper of `lines` that somebody paid exactly, with taxes and sums reckoned from them.
    fn sells(&self, lines: Vec<Line>) -> Receipt {
        let amount = |line: &Line| line.price.as_ref().map(|price| price.amount).unwrap_or_default();
        let list = |line: &Line| line.price.as_ref().map(|price| price.list).unwrap_or_default();
        let subtotal: Money = lines.iter().map(amount).sum();
        let listed: Money = lines.iter().map(list).sum();
        let taxes = self.taxes(&lines);
        let added: Money = taxes.iter().filter(|tax| !tax.included).map(|tax| tax.tax).sum();
        let total = subtotal + added;
        Receipt {
            kind: PaperKind::Sale,
            document: SaleType::Sale,
            number: "S01-02-000123".into(),
            barcode: "S01-02-000123".into(),
            copy: None,
            voided: None,
            locale: self.locale.into(),
            currency_code: self.currency.0.into(),
            currency_exponent: self.currency.1,
            shop: self.shop.clone(),
            at: Instant::parse("2026-11-20T13:05:56Z").expect("an instant"),
            local_time: "2026-11-20T14:05:56".into(),
            business_date: "2026-11-20".into(),
            register_code: "02".into(),
            cashier_name: "Anna".into(),
            customer_name: None,
            buyer: None,
            original: None,
            refunds: Vec::new(),
            other_half: None,
            totals: Some(Totals {
                list: listed,
                saved: listed - subtotal,
                subtotal,
                tax_added: added,
                total,
                due: total,
                ..Totals::default()
            }),
            lines,
            taxes,
            tenders: Vec::new(),
            approvals: Vec::new(),
            signature: None,
            note: None,
        }
    }

    fn taxes(&self, lines: &[Line]) -> Vec<Tax> {
        let marks = ["A", "B"].into_iter().zip(self.taxes);
        let row = |(mark, (name, rate, included)): (&str, (&str, i32, bool))| {
            let prices = lines.iter().filter_map(|line| line.price.as_ref()).filter(|price| price.tax_mark == mark);
            let amount: Money = prices.map(|price| price.amount).sum();
            let whole = if included { 1_000_000 + i128::from(rate) } else { 1_000_000 };
            let tax = Money::from_wide(rdiv(i128::from(amount.0) * i128::from(rate), whole));
            let base = if included { amount - tax } else { amount };
            Tax { mark: mark.into(), name: name.into(), rate_ppm: Ppm(rate), included, base, tax }
        };
        marks.map(row).filter(|tax| tax.base != Money::ZERO).collect()
    }
}

fn paid(mut receipt: Receipt, name: &str, kind: &str, tendered: Option<i64>) -> Receipt {
    let left = receipt.tenders.iter().map(|tender| tender.amount).sum::<Money>();
    if let Some(totals) = &mut receipt.totals {
        let amount = totals.due - left;
        totals.change = tendered.map(|tendered| Money(tendered) - amount).unwrap_or_default();
        let tendered = tendered.map(Money);
        receipt.tenders.push(Tender { name: name.into(), kind: kind.into(), amount, tendered, ..Tender::default() });
    }
    receipt
}

fn rounded(mut receipt: Receipt, rounding: i64) -> Receipt {
    if let Some(totals) = &mut receipt.totals {
        totals.cash_rounding = Money(rounding);
        totals.due = totals.total + Money(rounding);
    }
    receipt
}

/// A day's shopping in Berlin: specials, a discount with a reason, something weighed, a deposit, a serial, an approval.
fn german_sale() -> Receipt {
    let milk = less(line("Bio-Vollmilch 3,8 % 1 l", 3000, 149, "B"), "Milchwoche", 75);
    let cheese = Line { unit: "kg".into(), ..line("Bergkäse am Stück", 432, 2490, "B") };
    let reduced = discount("de-DE", (Some("percent"), Some(1250)), Some("Karton beschädigt"), false);
    let kettle = less(line("Wasserkocher Edelstahl 1,7 l mit Temperaturwahl", 1000, 4999, "A"), &reduced, 625);
    let kettle = Line { serial: Some("WK-2026-00417".into()), note: Some("Garantie drei Jahre".into()), ..kettle };
    let water = line("Mineralwasser 12 x 0,7 l", 1000, 549, "A");
    let deposit = Line { is_charge: true, ..line("Pfand", 1000, 330, "A") };
    let mut receipt = berlin().sells(vec![milk, cheese, kettle, water, deposit]);
    receipt.approvals.push(Approved {
        permission: "pos.discount.override_max".into(),
        by: "Dr. Marktleiterin".into(),
        text: approved("de-DE", "pos.discount.override_max"),
    });
    paid(receipt, "Bar", "cash", Some(10_000))
}

fn french_sale() -> Receipt {
    let rice = line("Riz brisé parfumé, sac de 25 kg", 2000, 13_500, "A");
    let drink = line("Jus de bissap 1,5 l", 1000, 1_203, "B");
    let mut receipt = rounded(dakar().sells(vec![rice, drink]), 2);
    receipt.customer_name = Some("Aïssatou Diop".into());
    if let Some(totals) = &mut receipt.totals {
        let text = discount("fr-SN", (Some("amount"), Some(500)), Some("cliente fidèle"), true);
        totals.cart_discount = Some(Saving { text, amount: Money(500) });
        (totals.saved, totals.subtotal) = (Money(500), totals.subtotal - Money(500));
        (totals.total, totals.due) = (totals.total - Money(500), totals.due - Money(500));
        // What is taken off the whole sale lowers the taxes of its lines.
        for (tax, (base, amount)) in receipt.taxes.iter_mut().zip([(22_475, 4_046), (1_126, 56)]) {
            (tax.base, tax.tax) = (Money(base), Money(amount));
        }
    }
    receipt.tenders.push(Tender {
        name: "Carte".into(),
        kind: "card".into(),
        amount: Money(20_000),
        card_brand: Some("Visa".into()),
        card_last4: Some("4242".into()),
        reference: Some("A-99321".into()),
        ..Tender::default()
    });
    paid(receipt, "Espèces", "cash", Some(10_000))
}

/// Prices that include a tax and others that do not, on one paper.
fn kuwaiti_sale() -> Receipt {
    let dates = less(line("Medjool dates, gift box", 2000, 4_750, "A"), "Date week: 2 for 8.000, saves 1.500", 1_500);
    let coffee = line("Coffee served at the table", 3000, 1_250, "B");
    let phone = line("Phone 大画面スマートフォン 256 GB", 1000, 1_234_567, "A");
    let receipt = kuwait().sells(vec![dates, coffee, phone]);
    paid(Receipt { note: Some("Call before delivery".into()), ..receipt }, "On account", "on_account", None)
}

fn refund() -> Receipt {
    let mut line = line("Wasserkocher Edelstahl 1,7 l mit Temperaturwahl", -1000, 4999, "A");
    line = less(line, &discount("de-DE", (Some("percent"), Some(1250)), None, false), -625);
    let receipt = berlin().sells(vec![line]);
    let receipt = Receipt {
        document: SaleType::Refund,
        number: "S01-02-000131".into(),
        barcode: "S01-02-000131".into(),
        original: Some(Reference {
            number: "S01-02-000123".into(),
            reason: Some("Deckel schließt nicht".into()),
            total: None,
        }),
        ..receipt
    };
    paid(receipt, "Bar", "cash", None)
}

fn gift() -> Receipt {
    let mut receipt = french_sale();
    receipt.lines.iter_mut().for_each(|line| line.price = None);
    (receipt.kind, receipt.totals, receipt.customer_name) = (PaperKind::Gift, None, None);
    receipt.taxes.clear();
    receipt.tenders.clear();
    receipt
}

fn invoice() -> Receipt {
    let buyer = Buyer {
        name: "Kindergarten Sonnenschein e. V.".into(),
        address: texts(&["z. Hd. Frau Özdemir", "Am Güterbahnhof 3", "10243 Berlin"]),
        tax_number: Some("27/640/12345".into()),
    };
    let signature = Signature {
        state: SignatureState::Signed,
        signer: Some("TSE 0815".into()),
        value: Some("MEUCIQDx0ZkqYqV5R3yQJ1o7cQm1v9o2b8Hq4yTz6W==".into()),
    };
    Receipt { kind: PaperKind::Invoice, buyer: Some(buyer), signature: Some(signature), ..german_sale() }
}

fn voided() -> Receipt {
    let voided = Voided { local_time: "2026-11-20T14:09:00".into(), reason: Some("mauvais article".into()) };
    Receipt { voided: Some(voided), ..french_sale() }
}

fn settlement() -> Receipt {
    let mut receipt = berlin().sells(Vec::new());
    receipt.document = SaleType::Settlement;
    receipt.customer_name = Some("Gasthof Zur Post".into());
    receipt.totals = Some(Totals { settled: Some(Money(25_000)), due: Money(25_000), ..Totals::default() });
    paid(receipt, "Bar", "cash", Some(30_000))
}

/// What was sold in an exchange, of an exempt buyer, as a copy that no device signed.
fn exchange() -> Receipt {
    let mut receipt = kuwait().sells(vec![line("Medjool dates, gift box", 1000, 4_750, "A")]);
    if let Some(totals) = &mut receipt.totals {
        let tax = receipt.taxes[0].tax;
        (totals.tax_exempt, totals.tax_added) = (true, -tax);
        (totals.total, totals.due) = (totals.subtotal - tax, totals.subtotal - tax);
        receipt.taxes[0].tax = Money::ZERO;
    }
    receipt.other_half =
        Some(Other { document: SaleType::Refund, number: "S01-02-000122".into(), total: Some(Money(-3_000)) });
    receipt.signature = Some(Signature { state: SignatureState::CouldNotSign, signer: None, value: None });
    receipt = Receipt { kind: PaperKind::Copy, copy: Some(2), ..receipt };
    receipt.tenders.push(Tender {
        name: "Exchange".into(),
        kind: "exchange".into(),
        amount: Money(3_000),
        ..Tender::default()
    });
    paid(receipt, "Cash", "cash", Some(2_000))
}

/// A copy of a sale of which something was given back.
fn copy() -> Receipt {
    let back = Reference { number: "S01-02-000131".into(), reason: None, total: Some(Money(-4_374)) };
    Receipt { kind: PaperKind::Copy, copy: Some(1), refunds: vec![back], ..german_sale() }
}

/// Each paper by the name of its file.
pub(crate) fn all() -> Vec<(&'static str, Receipt)> {
    vec![
        ("de-sale", german_sale()),
        ("de-copy", copy()),
        ("de-refund", refund()),
        ("de-invoice", invoice()),
        ("de-settlement", settlement()),
        ("fr-sale", french_sale()),
        ("fr-gift", gift()),
        ("fr-voided", voided()),
        ("kw-sale", kuwaiti_sale()),
        ("kw-exchange", exchange()),
    ]
}

/// A paper of `count` lines.
pub(crate) fn long(count: usize) -> Receipt {
    let names = [
        "Tea",
        "Olive oil, extra virgin, cold pressed, 500 ml",
        "抹茶ラテ・大きいサイズ",
        "Pneumonoultramicroscopicsilicovolcanoconiosis",
    ];
    let lines = (0..count).map(|place| {
        let quantity = i64::try_from(place % 7 + 1).expect("a small number") * 1000 + 250;
        let line = line(names[place % names.len()], quantity, 999_999_999, if place % 2 == 0 { "A" } else { "B" });
        less(line, "A special with a name that is much longer than one line of any paper", 1)
    });
    kuwait().sells(lines.collect())
}
