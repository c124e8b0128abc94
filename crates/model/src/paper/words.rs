//! The words of papers in the languages that there are; for any other language those of English.

use super::amounts::{Format, language, without_zeros};
use crate::Money;

/// What a paper says, in one language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Words {
    pub refund: &'static str,
    pub settlement: &'static str,
    pub gift: &'static str,
    pub invoice: &'static str,
    pub copy: &'static str,
    pub voided: &'static str,
    pub number: &'static str,
    pub date: &'static str,
    pub register: &'static str,
    pub cashier: &'static str,
    pub customer: &'static str,
    pub buyer: &'static str,
    pub tax_number: &'static str,
    pub phone: &'static str,
    pub original: &'static str,
    pub reason: &'static str,
    pub refunded: &'static str,
    pub exchanged_for: &'static str,
    pub given_back: &'static str,
    pub serial: &'static str,
    pub special: &'static str,
    pub discount: &'static str,
    pub discount_on_all: &'static str,
    pub saved: &'static str,
    pub subtotal: &'static str,
    pub tax_added: &'static str,
    pub tax_taken_off: &'static str,
    pub total: &'static str,
    pub rounding: &'static str,
    pub due: &'static str,
    pub paid_back: &'static str,
    pub settled: &'static str,
    pub change: &'static str,
    pub tax: &'static str,
    pub net: &'static str,
    pub included: &'static str,
    pub added: &'static str,
    pub tax_exempt: &'static str,
    pub approved: &'static str,
    pub signature: &'static str,
    pub signer: &'static str,
    pub could_not_sign: &'static str,
    pub not_signed_yet: &'static str,
    /// Of what may be approved, in the order of [`APPROVABLE`].
    approvable: [&'static str; APPROVABLE.len()],
}

/// What a second person approves, by permission.
const APPROVABLE: [&str; 5] =
    ["pos.discount", "pos.discount.override_max", "pos.price.override", "pos.refund", "pos.void"];

const ENGLISH: Words = Words {
    refund: "REFUND",
    settlement: "PAYMENT ON ACCOUNT",
    gift: "GIFT RECEIPT",
    invoice: "INVOICE",
    copy: "COPY",
    voided: "VOIDED",
    number: "Receipt",
    date: "Date",
    register: "Register",
    cashier: "Cashier",
    customer: "Customer",
    buyer: "Sold to",
    tax_number: "Tax number",
    phone: "Telephone",
    original: "Refund of",
    reason: "Reason",
    refunded: "Given back with",
    exchanged_for: "Exchanged for",
    given_back: "Given back in exchange",
    serial: "Serial number",
    special: "Special offer",
    discount: "Discount",
    discount_on_all: "Discount on the whole sale",
    saved: "You saved",
    subtotal: "Subtotal",
    tax_added: "Taxes",
    tax_taken_off: "Taxes not charged",
    total: "TOTAL",
    rounding: "Cash rounding",
    due: "To pay",
    paid_back: "To give back",
    settled: "Paid on the account",
    change: "Change",
    tax: "Tax",
    net: "Net",
    included: "incl.",
    added: "plus",
    tax_exempt: "Exempt from tax",
    approved: "Approved by",
    signature: "Signature",
    signer: "Signed with",
    could_not_sign: "The signing device did not sign this receipt",
    not_signed_yet: "This receipt is not signed yet",
    approvable: ["Discount", "Discount or limit", "Price", "Refund", "Void"],
};

const GERMAN: Words = Words {
    refund: "RÜCKGABE",
    settlement: "ZAHLUNG AUF KUNDENKONTO",
    gift: "GESCHENKBON",
    invoice: "RECHNUNG",
    copy: "KOPIE",
    voided: "STORNIERT",
    number: "Bon",
    date: "Datum",
    register: "Kasse",
    cashier: "Bedient von",
    customer: "Kunde",
    buyer: "Rechnung an",
    tax_number: "Steuernummer",
    phone: "Telefon",
    original: "Rückgabe zu",
    reason: "Grund",
    refunded: "Zurückgegeben mit",
    exchanged_for: "Umgetauscht gegen",
    given_back: "Im Umtausch zurückgegeben",
    serial: "Seriennummer",
    special: "Aktion",
    discount: "Rabatt",
    discount_on_all: "Rabatt auf den Einkauf",
    saved: "Sie sparen",
    subtotal: "Zwischensumme",
    tax_added: "Steuern",
    tax_taken_off: "Nicht erhobene Steuern",
    total: "SUMME",
    rounding: "Rundung",
    due: "Zu zahlen",
    paid_back: "Auszuzahlen",
    settled: "Auf das Konto gezahlt",
    change: "Rückgeld",
    tax: "Steuer",
    net: "Netto",
    included: "inkl.",
    added: "zzgl.",
    tax_exempt: "Steuerbefreit",
    approved: "Genehmigt von",
    signature: "Signatur",
    signer: "Signiert mit",
    could_not_sign: "Sicherheitseinrichtung ausgefallen: nicht signiert",
    not_signed_yet: "Noch nicht signiert",
    approvable: ["Rabatt", "Rabatt oder Grenze", "Preis", "Rückgabe", "Storno"],
};

const FRENCH: Words = Words {
    refund: "REMBOURSEMENT",
    settlement: "RÈGLEMENT DE COMPTE",
    gift: "TICKET CADEAU",
    invoice: "FACTURE",
    copy: "DUPLICATA",
    voided: "ANNULÉ",
    number: "Ticket",
    date: "Date",
    register: "Caisse",
    cashier: "Servi par",
    customer: "Client",
    buyer: "Facturé à",
    tax_number: "Numéro fiscal",
    phone: "Téléphone",
    original: "Remboursement de",
    reason: "Motif",
    refunded: "Remboursé avec",
    exchanged_for: "Échangé contre",
    given_back: "Rendu en échange",
    serial: "Numéro de série",
    special: "Promotion",
    discount: "Remise",
    discount_on_all: "Remise sur l'ensemble",
    saved: "Vous économisez",
    subtotal: "Sous-total",
    tax_added: "Taxes",
    tax_taken_off: "Taxes non perçues",
    total: "TOTAL",
    rounding: "Arrondi",
    due: "À payer",
    paid_back: "À rendre",
    settled: "Réglé sur le compte",
    change: "Monnaie rendue",
    tax: "Taxe",
    net: "HT",
    included: "incl.",
    added: "en sus",
    tax_exempt: "Exonéré de taxes",
    approved: "Approuvé par",
    signature: "Signature",
    signer: "Signé avec",
    could_not_sign: "Le dispositif n'a pas signé ce ticket",
    not_signed_yet: "Ce ticket n'est pas encore signé",
    approvable: ["Remise", "Remise ou limite", "Prix", "Remboursement", "Annulation"],
};

impl Words {
    pub(super) fn of(locale: &str) -> &'static Self {
        match language(locale).as_str() {
            "de" => &GERMAN,
            "fr" => &FRENCH,
            _ => &ENGLISH,
        }
    }
}

/// Whether the words of a locale are English.
#[must_use]
pub fn is_english(locale: &str) -> bool {
    *Words::of(locale) == ENGLISH
}

/// What was approved, of a permission.
#[must_use]
pub fn approved(locale: &str, permission: &str) -> String {
    let place = APPROVABLE.iter().position(|known| *known == permission);
    place.map_or(permission, |place| Words::of(locale).approvable[place]).to_owned()
}

/// How a special is named that says nothing of itself.
#[must_use]
pub fn special(locale: &str) -> &'static str {
    Words::of(locale).special
}

/// A discount in words: "Discount 10 % (dented)". `kind` and `value` as they stand in a sale.
#[must_use]
pub fn discount(
    locale: &str,
    (kind, value): (Option<&str>, Option<i64>),
    reason: Option<&str>,
    on_all: bool,
) -> String {
    let words = Words::of(locale);
    let name = if on_all { words.discount_on_all } else { words.discount };
    let share = value.filter(|_| kind == Some("percent")).map(|bps| Format::of(locale).decimal(Money(bps), 2));
    let share = share.map(|share| format!(" {} %", without_zeros(&share)));
    let reason = reason.map(|reason| format!(" ({reason})"));
    format!("{name}{}{}", share.unwrap_or_default(), reason.unwrap_or_default())
}
