// A till of a hundred lines, for Node.js 20 or newer and without packages: docs/write-a-till.md says what each step is for.
// STORE_URL=http://127.0.0.1:8081 STORE_ID=… TERMINAL=T1 PIN=… SKU=A1 node docs/till.mjs
import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';

const { STORE_URL, STORE_ID, TERMINAL, PIN, SKU, DEVICE_KEY } = process.env;
const headers = { 'content-type': 'application/json', ...(DEVICE_KEY && { 'tillkeep-device': DEVICE_KEY }) };
const api = (path) => `${STORE_URL}/api/v1${path}`;

/** Asks the store. What got no answer, or none yet, is sent again as it is: the same id, and the same key, act once. */
async function ask(method, path, body) {
  const once = method === 'POST' ? { 'idempotency-key': randomUUID() } : {};
  for (let left = 5; ; left -= 1) {
    const sent = { method, headers: { ...headers, ...once }, body: body && JSON.stringify(body) };
    const answer = await fetch(api(path), sent).catch((lost) => ({ status: 503, headers: new Headers(), lost }));
    if (answer.status === 204) return null;
    const said = answer.lost ? { error: String(answer.lost) } : await answer.json();
    if (answer.ok) return said.data;
    if (![429, 503].includes(answer.status) || left === 1) {
      throw Object.assign(new Error(`${method} ${path}: ${answer.status} ${said.code} ${said.error}`), said);
    }
    await wait(1000 * Number(answer.headers.get('retry-after') ?? 1));
  }
}

/** The products, kept here so that a scan finds one while the store is away. Call it at the start and when prices change. */
const products = new Map();
let since;
async function follow() {
  for (let query = since ? `?since=${since}` : ''; ; ) {
    const page = await ask('GET', `/pos/catalogue${query}`);
    if (page.reset) products.clear();
    page.products.forEach((product) => products.set(product.id, product));
    page.removed.forEach((id) => products.delete(id));
    if (!page.next) return void (since = page.version);
    query = `?next=${page.next}`;
  }
}

/** Hears what happens in the store until `signal`; after a lost line it goes on behind the last event. */
async function listen(hear, signal) {
  for (let last; !signal.aborted; await wait(2000, null, { signal }).catch(() => {})) {
    try {
      const asked = { ...headers, ...(last && { 'last-event-id': last }) };
      const answer = await fetch(api('/pos/events'), { headers: asked, signal });
      if (!answer.ok) continue;
      let text = '';
      for await (const part of answer.body.pipeThrough(new TextDecoderStream())) {
        const events = (text += part).split('\n\n');
        text = events.pop();
        for (const event of events) {
          const field = (name) => event.match(new RegExp(`^${name}: (.*)$`, 'm'))?.[1];
          last = field('id') ?? last;
          if (field('event')) hear(field('event'), JSON.parse(field('data')));
        }
      }
    } catch (lost) {
      if (!signal.aborted) console.error('the events are away:', lost.message);
    }
  }
}

// Who works here, and what a till must know.
const login = { pin: PIN, storeId: STORE_ID, terminalId: TERMINAL };
headers.authorization = `Bearer ${(await ask('POST', '/auth/pin-login', login)).accessToken}`;
const { register, tenders } = await ask('GET', `/pos/bootstrap?terminalId=${TERMINAL}`);
const cash = tenders.find((tender) => tender.kind === 'cash');
await follow();

const ended = new AbortController();
const heard = new Set();
let hasBegun;
const begun = new Promise((resolve) => (hasBegun = resolve));
let reading = Promise.resolve();
const hear = (name, data) => {
  heard.add(data.status ? `${name} ${data.status}` : name);
  if (name === 'snapshot') hasBegun();
  // One read after the other: an older one must not end behind a newer one.
  if (name === 'prices' || name === 'reset') reading = reading.then(follow).catch(console.error);
};
const ears = listen(hear, ended.signal);
await begun;

// The drawer, and what a person who works at it would count in the end.
const session = await ask('POST', `/registers/${register.id}/open`, {});
let inDrawer = session.openingFloat;

/** Sells `cart` for cash. The id is made before it is sent: sent again, it is the same sale. */
async function sell(cart) {
  const quote = await ask('POST', '/pos/quote', { terminalId: TERMINAL, lines: cart.lines });
  const sale = { ...cart, terminalId: TERMINAL, payments: [{ tenderId: cash.id }], expectedTotal: quote.totalAmount };
  const sold = await ask('POST', '/pos/sales', sale);
  // As after a lost answer: the receipt is the first one.
  const again = await ask('POST', '/pos/sales', sale);
  if (again.receiptNumber !== sold.receiptNumber) throw new Error('one sale has two receipts');
  inDrawer += sold.totalAmount + sold.cashRounding;
  return sold;
}

const found = [...products.values()].find((product) => product.sku === SKU);
const line = (quantity) => ({ productId: found.id, quantity });
const sold = await sell({ id: randomUUID(), lines: [line(3)] });

// A cart waits while somebody else is served, and comes back with the id of the sale that it becomes.
const parked = randomUUID();
await ask('POST', '/pos/parked-carts', { id: parked, label: 'Anna', cart: { terminalId: TERMINAL, lines: [line(1)] } });
const { cart } = await ask('POST', `/pos/parked-carts/${parked}/resume`, { terminalId: TERMINAL });
const resumed = await sell({ id: cart.id, lines: cart.lines });

// One of three comes back.
const back = { id: randomUUID(), terminalId: TERMINAL, reason: 'Too many' };
const items = [{ saleItemId: sold.saleItems[0].id, quantity: 1 }];
const refund = await ask('POST', `/pos/sales/${sold.id}/refunds`, { ...back, items });
inDrawer += refund.totalAmount + refund.cashRounding;

// Every tender that is counted, then the close. Nobody need know what should be there.
const counted = tenders.filter((tender) => tender.countsInClose || tender === cash);
const counts = counted.map((tender) => ({ tenderId: tender.id, amount: tender === cash ? inDrawer : 0 }));
await ask('POST', `/register-sessions/${session.id}/count`, { counts });
const closed = await ask('POST', `/register-sessions/${session.id}/close`, {});

while (!heard.has('drawer closed')) await wait(50);
ended.abort();
await ears;
const sales = [sold, resumed, refund].map((sale) => sale.id);
console.log(JSON.stringify({ session: session.id, sales, inDrawer, status: closed.status, heard: [...heard] }));
