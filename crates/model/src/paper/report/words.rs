//! The words of reports in the languages that there are.

use crate::paper::amounts::language;

/// Declares the words, each in English, German and French.
macro_rules! words {
    ($($name:ident: $english:literal, $german:literal, $french:literal;)+) => {
        /// What a report says, in one language.
        #[derive(Clone, Copy, Debug)]
        pub(super) struct Words {
            $(pub $name: &'static str,)+
        }

        const ENGLISH: Words = Words { $($name: $english,)+ };
        const GERMAN: Words = Words { $($name: $german,)+ };
        const FRENCH: Words = Words { $($name: $french,)+ };
    };
}

words! {
    x: "X report", "X-Bericht", "Rapport X";
    z: "Z report", "Z-Bericht", "Rapport Z";
    zz: "ZZ report", "ZZ-Bericht", "Rapport ZZ";
    blind: "Without amounts", "Ohne Beträge", "Sans montants";
    copy: "Copy", "Kopie", "Duplicata";
    printed: "Printed", "Gedruckt", "Imprimé";
    number: "Number", "Nummer", "Numéro";
    store: "Whole store", "Ganze Filiale", "Tout le magasin";
    register: "Register", "Kasse", "Caisse";
    session: "Drawer no.", "Schicht Nr.", "Session n°";
    sessions: "Drawers", "Schichten", "Sessions";
    business_date: "Business day", "Geschäftstag", "Jour comptable";
    from: "From", "Von", "Du";
    to: "To", "Bis", "Au";
    opened: "Opened", "Geöffnet", "Ouverte";
    closed: "Closed", "Geschlossen", "Fermée";
    by: "by", "von", "par";
    given_to: "Handed over to", "Übergeben an", "Remise à";
    forced: "Closed by force without a count", "Zwangsweise ohne Zählung geschlossen", "Fermée de force sans comptage";
    receipts: "Receipts", "Bons", "Tickets";
    lost: "Lost numbers", "Verlorene Nummern", "Numéros perdus";
    sales: "Sales", "Verkäufe", "Ventes";
    refunds: "Refunds", "Rückgaben", "Remboursements";
    voids: "Voids", "Stornos", "Annulations";
    settlements: "Payments on accounts", "Zahlungen auf Kundenkonten", "Règlements de comptes";
    items: "Items", "Artikel", "Articles";
    list_sales: "At list prices", "Zu Listenpreisen", "Aux prix affichés";
    specials: "Special offers", "Aktionen", "Promotions";
    line_discounts: "Discounts on lines", "Zeilenrabatte", "Remises sur lignes";
    cart_discounts: "Discounts on sales", "Rabatte auf Einkäufe", "Remises sur ventes";
    net_sales: "Net sales", "Verkäufe netto", "Ventes HT";
    net_refunds: "Net refunds", "Rückgaben netto", "Remboursements HT";
    net: "Net", "Netto", "HT";
    tax: "Tax", "Steuer", "Taxe";
    total: "TOTAL", "SUMME", "TOTAL";
    rounding: "Cash rounding", "Rundung", "Arrondi";
    department: "Department", "Warengruppe", "Rayon";
    no_department: "Without department", "Ohne Warengruppe", "Sans rayon";
    own: "Sold by yourself", "Selbst verkauft", "Vos ventes";
    quantity: "Quantity", "Menge", "Quantité";
    tenders: "Tenders", "Zahlungsarten", "Moyens de paiement";
    cash: "Cash", "Bargeld", "Espèces";
    float: "Opening float", "Wechselgeld", "Fonds de caisse";
    payments: "Payments", "Zahlungen", "Paiements";
    paid_in: "Paid in", "Einzahlung", "Entrée d'espèces";
    float_add: "Float added", "Wechselgeld nachgelegt", "Ajout au fonds de caisse";
    paid_out: "Paid out", "Auszahlung", "Sortie d'espèces";
    drop: "Cash drop", "Abschöpfung", "Prélèvement";
    no_sale: "Drawer opened", "Schublade geöffnet", "Tiroir ouvert";
    expected: "Expected", "Soll", "Attendu";
    counted: "Counted", "Gezählt", "Compté";
    not_counted: "not counted", "nicht gezählt", "non compté";
    variance: "Difference", "Differenz", "Écart";
    controls: "Controls", "Kontrolle", "Contrôle";
    overrides: "Prices changed", "Geänderte Preise", "Prix modifiés";
    discounts: "Discounts given", "Gegebene Rabatte", "Remises accordées";
    abandoned: "Parked carts given up", "Verworfene geparkte Körbe", "Paniers en attente abandonnés";
    parked: "Carts still parked", "Noch geparkte Körbe", "Paniers encore en attente";
    approvals: "Approvals", "Genehmigungen", "Approbations";
    removed: "Lines removed before payment", "Vor der Zahlung entfernte Zeilen", "Lignes retirées avant paiement";
    beyond_cash: "More was taken out than there should have been",
        "Mehr entnommen, als da sein sollte", "Plus a été retiré que ce qui devait s'y trouver";
    running_total: "Running total", "Gesamtspeicher", "Cumul perpétuel";
    before: "before", "vorher", "avant";
    after: "after", "nachher", "après";
    chain: "Chain of documents", "Belegkette", "Chaîne de documents";
    missing: "Missing", "Es fehlen", "Manquent";
    does_not_add_up: "The figures do not add up", "Die Zahlen gehen nicht auf", "Les chiffres ne concordent pas";
    reason: "Reason", "Grund", "Motif";
    user: "Entered by", "Erfasst von", "Saisi par";
    approved: "Approved by", "Genehmigt von", "Approuvé par";
    signature: "Signature", "Unterschrift", "Signature";
    amount: "Amount", "Betrag", "Montant";
}

impl Words {
    pub(super) fn of(locale: &str) -> &'static Self {
        match language(locale).as_str() {
            "de" => &GERMAN,
            "fr" => &FRENCH,
            _ => &ENGLISH,
        }
    }

    /// What a movement is called; the word itself for one of a newer program.
    pub(super) fn movement<'a>(&self, kind: &'a str) -> &'a str {
        match kind {
            "paid_in" => self.paid_in,
            "paid_out" => self.paid_out,
            "drop" => self.drop,
            "float_add" => self.float_add,
            "no_sale" => self.no_sale,
            other => other,
        }
    }
}
