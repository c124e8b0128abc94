import type en from '../en/session'

/** Signing in, and showing that it is really the user. */
export default {
  // SignInFrame, on a page of its own and over another one
  signInTitle: 'An der Zentrale anmelden',
  userName: 'Benutzername',
  pin: 'PIN',
  signIn: 'Anmelden',
  signingIn: 'Anmeldung läuft …',
  notTogether: 'Name und PIN passen nicht zusammen. Nach mehreren Fehlversuchen gibt es eine Wartezeit.',
  confirmTitle: 'Bestätigen Sie, dass Sie es sind',
  pinIsRight: 'Die PIN stimmt, {name}. Jetzt noch der zweite Faktor.',
  back: 'Zurück',
  // SignInOver
  overLabel: 'Ihre Sitzung ist beendet',
  overTitle: 'Zum Weitermachen anmelden',
  overAbout:
    'Ihre Sitzung ist beendet. Ihre Eingaben sind noch da: Melden Sie sich als {name} an und machen Sie dort weiter.',
  overOther: 'Wer sich hier sonst anmeldet, beginnt auf einer eigenen Seite, und die Eingaben sind verloren.',
  signInAsOther: 'Als jemand anders anmelden',
  // SecondStep
  usePasskey: 'Passkey verwenden',
  orType: 'Oder eingeben: {label}',
  codeOrRecovery: 'Code der App oder ein Wiederherstellungscode',
  codeOfApp: 'Code der App',
  recoveryCode: 'Wiederherstellungscode',
  oneMoment: 'Einen Moment …',
  wrongPin: 'Die PIN stimmt nicht. Nach mehreren Fehlversuchen gibt es eine Wartezeit.',
  wrongCode:
    'Der Code stimmt nicht. Einer der App gilt einmal und eine halbe Minute lang, ein Wiederherstellungscode gilt einmal.',
  wrongPasskey: 'Die Zentrale nimmt diesen Passkey nicht an. Verwenden Sie einen anderen oder einen anderen Weg.',
  tooLate: 'Das hat zu lange gedauert. Versuchen Sie es noch einmal.',
  // ProofDialog
  confirm: 'Bestätigen',
  cancel: 'Abbrechen',
  confirmAbout: 'Die Zentrale fragt vorher noch einmal, weil die letzte Bestätigung mehr als 15 Minuten zurückliegt.',
  nothingAsked: 'Die Zentrale hat nach nichts gefragt. Versuchen Sie es erneut.',
  newPinTitle: 'Mit der neuen PIN anmelden',
  newPinAbout: 'Ihre PIN ist geändert, und alle Sitzungen sind beendet. Mit dem zweiten Faktor beginnt diese neu.',
  newPinLater: 'Ihre PIN ist geändert. Melden Sie sich mit der neuen an.',
  // Passkeys
  passkeysNeedHttps: 'Passkeys brauchen eine Adresse mit https://, und diese Seite wurde unter {address} geöffnet.',
  passkeysNeedName:
    'Passkeys gehören zu einem Namen: Öffnen Sie die Zentrale unter ihrem Namen und nicht unter {address}.',
  noPasskeys: 'Dieser Browser kennt keine Passkeys.',
  passkeyCancelled:
    'Kein Passkey verwendet: Der Vorgang wurde abgebrochen oder dauerte zu lange. Versuchen Sie es erneut oder auf einem anderen Weg.',
  passkeyThere: 'Dieses Gerät hat bereits einen Passkey von Ihnen.',
  passkeyRefused:
    'Der Browser lehnt Passkeys unter dieser Adresse ab. Öffnen Sie die Zentrale unter ihrem Namen, mit https://.',
  passkeyUnfit: 'Dieses Gerät kann keinen Passkey erzeugen, den die Zentrale annimmt.',
  // ChangePinPage, ChangePinForm
  choosePin: 'Wählen Sie eine eigene PIN',
  choosePinAbout:
    'Die jetzige wurde für Sie erzeugt, oder jemand anders kennt sie womöglich. Sie gilt nur noch hierfür.',
  currentPin: 'Jetzige PIN',
  newPin: 'Neue PIN',
  newPinHelp: '4 bis 12 Ziffern; keine Wiederholungen, Reihen, Jahre oder Daten. 6 oder mehr sind ratsam.',
  newPinAgain: 'Neue PIN wiederholen',
  pinDiffers: 'Die neue PIN wurde unterschiedlich eingegeben.',
  notTheSame: 'stimmt nicht überein',
  changePin: 'PIN ändern',
  pinChanged: 'Ihre PIN ist geändert. Alle anderen Sitzungen sind beendet.',
  signOut: 'Abmelden',
  // SecondFactorPage
  setUpFactor: 'Zweiten Faktor einrichten',
  goOn: 'Weiter',
  // UnauthorizedPage
  mayNotOpen: 'Diese Seite dürfen Sie nicht öffnen',
  needs: 'Dafür ist {codes} nötig. Bitten Sie einen Administrator um eine Rolle, die das enthält.',
  needsEverywhere:
    'Dafür ist {codes} in allen Filialen nötig. Bitten Sie einen Administrator um eine Rolle, die das enthält.',
  and: 'und',
  or: 'oder',
  noPage: 'Keine Ihrer Rollen öffnet eine Seite der Zentrale. Kassen und Filialen haben eine eigene Anmeldung.',
  signedInAs: 'Sie sind angemeldet als {name}.',
  toOpen: 'Zu dem, was Sie öffnen dürfen',
  signInAsAnother: 'Als anderer Benutzer anmelden',
} satisfies Record<keyof typeof en, string>
