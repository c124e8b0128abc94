/** Who works at a till: setting up the device, signing in, the first PIN, and the parts that all screens of the till have. */
export default {
  // parts/KeyPad.vue, PinEntry.vue
  digits: 'Digits',
  back: 'Delete the last digit',
  mark: 'Decimal mark',
  enter: 'Enter',
  typed: 'Nothing typed | One digit typed | {n} digits typed',
  scanIsNoPin: 'That was a scan, and no PIN. Type your PIN.',
  // parts/AmountField.vue
  missing: '{field}: type an amount, 0 for none.',
  noAmount: 'This is no amount. Type it like 19.99 or 19,99.',
  decimals:
    'An amount here has no decimals. | An amount here has one decimal at most. | An amount here has {n} decimals at most.',
  unclear: 'This can be read in two ways. Type all decimals, or none and no mark.',
  below: 'Type an amount of 0 or more.',
  // parts/ReasonField.vue
  reason: 'Reason',
  otherReason: 'Another reason',
  why: 'Say what happened',
  chooseReason: 'Choose a reason.',
  sayWhy: 'Say in a few words what happened.',
  // parts/DenominationsField.vue
  oneLess: 'One {value} less',
  oneMore: 'One {value} more',
  comesTo: 'Comes to',

  // device/SetUpScreen.vue
  setUpTitle: 'Set up this till',
  whichTill: 'Which till of {store} is this?',
  setUpAbout:
    'A manager signs in once and says which register this device is. It stays that till until it is taken back.',
  revoked: 'A manager took this till back in the list of devices. To sell here again, a manager sets it up anew.',
  evicted:
    'This browser has deleted what it kept, as some do after days without use. No sale is lost: the store has them all. A manager sets this till up again.',
  userName: 'User name',
  pin: 'PIN',
  goOn: 'Go on',
  readAgain: 'Read the registers again',
  // device/RegisterChoice.vue
  chooseRegister: 'Registers of this store',
  codeAndName: '{code} · {name}',
  terminal: 'Terminal {id}',
  hasDevice: 'Has a device already: {names}',
  lastSeen: 'No device known · last used {at}',
  neverSeen: 'Not used yet',
  drawerOpen: 'Drawer {number} is open since {at}',
  takesPlace:
    'Another device is this till. Choose it only if this device takes its place, and take the other one back in the list of devices: two devices at one register share its drawer.',
  newRegister: 'Make a new register',
  code: 'Code',
  codeHelp: 'Two digits, part of each receipt number. It is never changed.',
  name: 'Name',
  nameHelp: 'What people call it, such as “Front till”.',
  terminalId: 'Terminal',
  terminalIdHelp: 'How this till is named in documents. Leave it as it is unless you have names of your own.',
  tillNumber: 'Till {code}',
  deviceName: 'Name of this device',
  deviceNameHelp: 'In the list of devices, so that it can be taken back when it is lost.',
  needed: 'This is needed.',
  twoDigits: 'Type two digits, such as 03.',
  codeTaken: 'Another register has this code. Type another one.',
  terminalTaken: 'Another register has this terminal. Type another one.',
  backToSignIn: 'Back',
  makeAndUse: 'Make it and use it',
  useThis: 'This is my till',
  // device/MissingList.vue
  missing_list: 'What this browser lacks',
  lacks_indexedDb: 'This browser keeps nothing, so it cannot be a till.',
  remedy_indexedDb: 'Leave the private window, or allow this page to store data in the settings of the browser.',
  lacks_secureContext: 'This page came without https.',
  remedy_secureContext:
    'Selling works. Opening the till while the server is away, scanning with the camera and installing it need https: make a certificate with “tillkeep store certificate” and open the till by https.',
  lacks_serviceWorker: 'The till cannot open while the store server is away.',
  remedy_serviceWorker: 'Leave the private window, or use a newer browser.',
  lacks_camera: 'There is no camera to scan with.',
  remedy_camera: 'Use a scanner or type the codes, or allow this page to use the camera.',
  lacks_locks: 'Two windows of this till may not notice each other.',
  remedy_locks: 'Keep one window of the till open, or use a newer browser.',
  lacks_persistentStorage: 'This browser may delete what the till keeps when it is not used for days.',
  remedy_persistentStorage:
    'Install the till (“Add to home screen”), or be ready to set it up again. No sale is lost by that.',

  // people/SignInScreen.vue
  register: '{name} · register {code}',
  training: 'Training: nothing of what you do is stored.',
  cartWaits: 'A cart waits. | A cart of one line waits. | A cart of {n} lines waits.',
  cartWaitsOf: 'A cart waits: {total}. | A cart of one line waits: {total}. | A cart of {n} lines waits: {total}.',
  yourPin: 'Your PIN',
  signIn: 'Sign in',
  anyoneSignsIn: 'Whoever takes over types their own PIN. The cart stays.',
  // people/FirstPinScreen.vue
  chooseYourPin: '{name}, choose your own PIN',
  chooseYourPinAbout: 'Somebody else knows the one that you have. Nobody will know the new one.',
  currentPin: 'The PIN that you have',
  newPin: 'Your new PIN',
  newPinAgain: 'The new PIN once more',
  pinRules:
    'Four digits at least, six or more for who may do more. No row such as 1234, no digits that repeat, no year and no date.',
  pinDiffers: 'The two are not the same',
  pinDiffersText: 'Type the new PIN again, twice the same.',
  choosePin: 'Choose this PIN',
  notNow: 'Not now',
} as const
