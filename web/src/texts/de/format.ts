import type en from '../en/format'

/** What HQ and stores call things, in words: flags, kinds of rows, amounts. */
export default {
  // flags.ts
  cut: 'Zu lang und gekürzt: {what}.',
  flagNoLines: 'Keine Positionen.',
  flagSettlementTotal: 'Zahlung auf Kundenkonto, die eine Summe hat.',
  flagNetAndTaxAreNotTotal: 'Netto und Steuer ergeben nicht die Summe.',
  flagLinesNetMismatch: 'Die Nettobeträge der Positionen ergeben nicht den des Bons.',
  flagLinesTaxMismatch: 'Die Steuern der Positionen ergeben nicht die des Bons.',
  flagLinesTotalMismatch: 'Die Summen der Positionen ergeben nicht die des Bons.',
  flagLinePriceMismatch: 'Eine Position wurde nicht mit Preis abzüglich Rabatt berechnet.',
  flagLinesListMismatch: 'Die Listenbeträge der Positionen ergeben nicht den des Bons.',
  flagLinesDiscountMismatch: 'Die Rabatte der Positionen ergeben nicht den des Bons.',
  flagPaymentsMismatch: 'Die Zahlungen ergeben nicht die Summe.',
  flagDuplicateReceiptNumber: 'Ein anderer Verkauf dieser Kasse hat dieselbe Bonnummer.',
  flagDuplicateSessionNumber: 'Eine andere Kassenschublade dieser Kasse hat dieselbe Nummer.',
  flagUnknownProduct: 'Eine Position nennt einen Artikel, den die Zentrale nicht hat.',
  flagUnknownCustomer: 'Die Zentrale hat den Kunden nicht.',
  flagDeletedCustomer: 'Der Kunde wurde gelöscht.',
  flagUnknownSession: 'Die Zentrale hat die Kassenschublade noch nicht.',
  flagClosedDay: 'Die Kassenschublade wurde ohne diesen Bon abgeschlossen.',
  flagClockBehindRegister: 'Die Uhr der Filiale ging nach: Die Zeit ist die bestätigte.',
  flagFutureDate: 'Eine Zeit oder ein Geschäftstag darin liegt mehr als zwei Tage voraus.',
  flagForeignNumber: 'Die Nummer gehört einer anderen Filiale oder der Zentrale.',
  flagNumberAhead: 'Die Nummer liegt weit hinter der letzten bekannten.',
  flagPastDate: 'Eine Zeit oder ein Geschäftstag darin liegt mehr als ein Jahr zurück.',
  flagIdUsedElsewhere:
    'Eine andere Filiale hatte die ID benutzt oder die einer Position. Die Zentrale führt den Beleg unter einer eigenen.',
  flagOriginalNotAtHeadquarters:
    'Rückgabe eines Verkaufs, den die Zentrale nie haben wird: Ein Benutzer hat ihn ohne sie erledigt.',
  flagOverRefunded: 'Es wurde mehr zurückgegeben als verkauft, oder nach einem Storno noch etwas zurückgegeben.',
  flagChainBroken:
    'Der Platz in der Prüfkette der Kasse passt nicht: Er oder ein Nachbar wurde geändert, oder zwei haben dieselbe Nummer.',
  flagOverpaid: 'Es wurde mehr auf das Kundenkonto gezahlt, als der Kunde schuldete.',
  flagLateMovement:
    'Es wurde Bargeld bewegt, von dem die Filiale beim Abschluss nichts mehr wusste: Im Z-Bericht fehlt es.',
  flagDoesNotAddUp:
    'Die Zahlen des Z-Berichts gehen nicht auf. Abgeschlossen wurde trotzdem, damit nichts verloren geht: Wenden Sie sich an den Support.',
  flagNotAtHeadquarters: 'Nur in der Filiale: Die Zentrale hat den Beleg abgelehnt, und ein Benutzer hat das erledigt.',
  flagOther: '{what}.',
  leftOut: 'Nicht Sache der Filiale und weggelassen: {what}.',
  missing: 'Von der Filiale nicht gesendet: {what}.',

  // money.ts
  smallestUnit: 'kleinste Einheit der Währung der Filiale (Cent, Yen)',

  // permissions.ts
  modulePos: 'Verkaufen an der Kasse',

  // savings.ts
  special: 'Aktion',

  // types.ts: one of them, and several
  typeAccountCharges: 'Belastung eines Kundenkontos | Belastungen von Kundenkonten',
  typeAuditLog: 'Protokolleintrag | Protokolleinträge',
  typeCashMovements: 'Bargeldbewegung | Bargeldbewegungen',
  typeCustomers: 'Kunde | Kunden',
  typeDepartments: 'Warengruppe | Warengruppen',
  typeInventoryAdjustments: 'Bestandsänderung | Bestandsänderungen',
  typeLoyaltyTiers: 'Treuestufe | Treuestufen',
  typePermissions: 'Berechtigung | Berechtigungen',
  typeProductBarcodes: 'Barcode | Barcodes',
  typeProductSpecials: 'Aktion | Aktionen',
  typeProductSuppliers: 'Lieferant eines Artikels | Lieferanten von Artikeln',
  typeProducts: 'Artikel | Artikel',
  typePurchaseOrderItems: 'Bestellposition | Bestellpositionen',
  typePurchaseOrders: 'Bestellung | Bestellungen',
  typeReasons: 'Grund | Gründe',
  typeRegisterSessions: 'Kassenschublade | Kassenschubladen',
  typeRegisters: 'Kasse | Kassen',
  typeRolePermissions: 'Berechtigung einer Rolle | Berechtigungen von Rollen',
  typeRoles: 'Rolle | Rollen',
  typeSales: 'Verkauf | Verkäufe',
  typeSalesReps: 'Verkäufer | Verkäufer',
  typeStoreProductDynamic: 'Preis in einer Filiale | Preise in der Filiale',
  typeStores: 'Filiale | Filialen',
  typeSuppliers: 'Lieferant | Lieferanten',
  typeTaxGroupRates: 'Satz einer Steuergruppe | Sätze von Steuergruppen',
  typeTaxGroups: 'Steuergruppe | Steuergruppen',
  typeTaxRates: 'Steuersatz | Steuersätze',
  typeTenders: 'Zahlart | Zahlarten',
  typeTransfers: 'Umlagerung | Umlagerungen',
  typeUnknown: 'Eintrag unbekannter Art | Einträge unbekannter Art',
  typeUserStoreRoles: 'Rolle einer Person | Rollen von Personen',
  typeUsers: 'Benutzer | Benutzer',
} satisfies Record<keyof typeof en, string>
