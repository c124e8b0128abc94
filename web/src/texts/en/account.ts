/** Your account, and its security. */
export default {
  // AccountPage
  title: 'Your account',
  about: 'You are signed in at headquarters as {name} ({username}).',
  secondFactor: 'Second factor',
  signOut: 'Sign out',
  changePin: 'Change your PIN',
  changePinAbout: 'All your other sessions end. Stores take the new PIN as soon as they have synchronised.',
  sessions: 'Your sessions at headquarters',
  roles: 'Your roles',
  noRole: 'No role yet',
  askForRole: 'Ask an administrator for one.',
  role: 'Role',
  where: 'Where it counts',
  permissions: 'What you may do',
  permissionCount: '0 permissions | 1 permission | {n} permissions',
  licence: 'Tillkeep is free software under the Apache License 2.0. What this page is made of has {licences}.',
  licences: 'licences of its own',
  // SecurityPage
  security: 'Security of your account',
  securityAbout: 'What you show besides your PIN when you sign in at headquarters. Tills never ask for it.',
  // FactorCards
  yourFactor: 'your second factor',
  factors: 'Passkeys and apps',
  yourFactors: 'Your passkeys and apps',
  setUpPasskey: 'Set up a passkey',
  setUpApp: 'Set up an app',
  noFactor: 'Nothing but your PIN yet',
  noFactorAbout:
    'A passkey is the stronger one: no user can be talked out of it. An app on your telephone works everywhere.',
  name: 'Name',
  kind: 'Kind',
  setUp: 'Set up',
  lastUsed: 'Last used',
  actions: 'Actions',
  passkey: 'Passkey',
  app: 'Authenticator app',
  remove: 'Remove',
  removeOne: 'Remove {name}',
  removeTitle: 'Remove {name}?',
  removeLast:
    'It is your last one. From then on your PIN alone signs you in, and your recovery codes are worth nothing.',
  removeOther: 'It signs you in no more. Your other ones and your recovery codes stay good.',
  removed: '{name} is removed.',
  isSetUp: 'Your second factor is set up.',
  recoveryCodes: 'Recovery codes',
  recoveryCodesAbout: 'Each signs you in once when your passkey or app is not at hand.',
  codesLeft: 'None is left. Make new ones before you need one. | 1 code left. | {n} codes left.',
  newCodes: 'Make new ones',
  newCodesTitle: 'Make new recovery codes?',
  newCodesAbout: 'They are shown once. Those that you have are worth nothing from then on.',
  // What headquarters asks for
  askedOfNone:
    'Headquarters asks no user for a second factor now. What you set up here is asked for once that is switched on.',
  askedOfYou: 'Whoever signs in here as you needs your PIN and one of these.',
  askedAndRequired:
    'Whoever signs in here as you needs your PIN and one of these. You must have one, since your rights reach beyond one store.',
  required:
    'Your rights reach beyond one store, so you must have a second factor. Nothing else opens before you set one up.',
  pinAlone:
    'Your PIN alone signs you in here, and whoever sees you type it is you. With a second factor they need more than that.',
  // AddApp
  appTitle: 'Set up an authenticator app',
  appAbout:
    'An app on your telephone that shows a new code every half minute, such as those for two-factor sign-in elsewhere.',
  nameHelp: 'To tell it from others.',
  goOn: 'Go on',
  cancel: 'Cancel',
  qrCode: 'The secret of the app as a QR code',
  scan: 'Scan this with the app. Where it cannot, type the secret:',
  secret: 'Secret',
  copySecret: 'Copy the secret',
  appCode: 'Code that the app shows',
  appCodeHelp:
    'It shows a new one every half minute. Where none is taken, look that the clock of your telephone is right.',
  confirm: 'Confirm',
  // AddPasskey
  passkeyAbout:
    'Your device, or a key that you plug in, keeps it and asks for your finger, your face or its own PIN. The browser asks which one next.',
  passkeyNameHelp: 'To tell it from others: where it is, such as “Laptop” or “Key ring”.',
  setItUp: 'Set it up',
  // RecoveryCodes
  codesTitle: 'Your recovery codes',
  codesAbout:
    'For when your app or passkey is lost or not at hand. They are shown this once: copy, print or save them, and keep them apart from your telephone.',
  toBeKept: 'To be kept',
  codesKept: 'I have kept them',
  leaveTitle: 'Leave without the recovery codes?',
  leaveAbout:
    'They cannot be shown again. Without them only an administrator or the command line helps when your second factor is lost.',
  sheetTitle: 'Recovery codes for Tillkeep',
  sheetUser: 'User name: {username}',
  sheetAddress: 'Address: {address}',
  sheetAbout:
    'Each signs you in once with your PIN when your app or passkey is not at hand. Keep them where no one else reads them.',
} as const
