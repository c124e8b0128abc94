import type en from '../en/setup'

/** What is missing before the first sale. */
export default {
  // SetupList.vue
  done: 'Erledigt',
  heading: 'Vor dem ersten Verkauf',
  later: 'Zu tun',
  next: 'Als Nächstes',
  progress: '{done} von {all} erledigt',

  // SetupPage.vue
  about: 'Was eine neue Filialkette vor dem ersten Verkauf braucht, in einer passenden Reihenfolge.',
  nothingMissing: 'Alles ist da',
  nothingMissingText: 'Kassen verkaufen, was unter Artikel steht, und ihre Verkäufe kommen hier an.',
  title: 'Erste Schritte',

  // steps.ts
  chain: 'Land und Währung',
  chainAction: 'Zur Filialkette',
  chainText:
    'Preise werden in dieser Währung eingegeben, und neue Filialen beginnen damit. Vorgeschlagen wird die Region Ihres Browsers.',
  department: 'Eine Warengruppe',
  departmentAction: 'Zu den Warengruppen',
  departmentText: 'Wonach Artikel sortiert sind.',
  person: 'Eine Person, die verkauft',
  personAction: 'Zu den Benutzern',
  personText:
    'Ein Benutzer neben Ihnen, mit einer Rolle wie Kassierer in der Filiale. Die Seite sagt, was am ersten Tag zu tun ist.',
  product: 'Ein Artikel',
  productAction: 'Artikel hinzufügen',
  productText: 'Mit Preis, Warengruppe und Steuergruppe.',
  store: 'Eine Filiale',
  storeAction: 'Zu den Filialen',
  storeText:
    'Auf ihrer Seite bereitstellen: Dort erscheint der Befehl, der den Server der Filiale startet. Ihre Kassen werden dort angelegt.',
  tax: 'Eine Steuer',
  taxAction: 'Zu den Steuern',
  taxText:
    'Erst einen Steuersatz anlegen, dann eine Steuergruppe damit. Wo nichts besteuert wird, sagt das ein Satz von 0 %.',
  tender: 'Eine Zahlart',
  tenderAction: 'Zu den Zahlarten',
  tenderText:
    'Womit Kunden zahlen. Bargeld ist von Anfang an da; ergänzen Sie Karten und was Ihre Filialen sonst annehmen.',
} satisfies Record<keyof typeof en, string>
