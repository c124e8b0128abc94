import type en from '../en/registers'

export default {
  title: 'Kassen',
  about: 'Die Kassen einer Filiale, die zuletzt eine Kassenschublade geöffnet haben.',
  // Where they are made.
  whereTitle: 'Wo Kassen angelegt werden',
  where:
    'Kassen werden in ihrer Filiale angelegt, nicht hier: am Kassengerät, von jemandem mit {first} oder {second} dort.',
  how: 'Wer die Filiale leitet, meldet sich am Gerät an und fügt es als Kasse hinzu: mit zwei Ziffern, die dauerhaft in den Bonnummern stehen, einem Namen und der ID des Geräts.',
  shown: 'Die Zentrale zeigt sie hier Sekunden nach ihrer ersten Kassenschublade.',
  forTills: 'Kassenprogramme tun das mit {route} am Server der Filiale.',
  // The list.
  store: 'Filiale',
  drawersOf: 'Ihre Kassenschubladen',
  what: 'die Kassen',
  none: 'Von hier ist noch keine Kassenschublade gekommen',
  noStore: 'Es gibt noch keine Filiale',
  storeFirst: 'Eine Kasse gehört zu einer Filiale. Legen Sie zuerst die Filiale an und starten Sie ihren Server.',
  toStores: 'Zu den Filialen',
  register: 'Kasse',
  newestDrawer: 'Neueste Kassenschublade',
  opened: 'Geöffnet',
  closed: 'Abgeschlossen',
  stillOpen: 'noch offen',
} satisfies Record<keyof typeof en, string>
