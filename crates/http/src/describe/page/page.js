// Shows the description of this server: its routes by topic, and requests to try them with.
'use strict';

const byId = (id) => document.getElementById(id);

/** A field for each parameter, one for the body, and what the server answers. */
function form(schemas, method, path, operation) {
  const fields = (operation.parameters ?? []).map(({ name, in: where, required, schema }) => {
    const input = make('input', { name, autocomplete: 'off', required: Boolean(required) });
    const kind = make('span', { class: 'soft' }, schemas.kind(schema));
    return { name, where, input, label: make('label', {}, make('span', {}, `${name} `, kind), input) };
  });
  const { schema, example } = operation.requestBody?.content?.['application/json'] ?? {};
  const body = schema && make('textarea', { rows: 8, spellcheck: 'false' });
  if (body) body.value = JSON.stringify(example ?? schemas.example(schema), null, 2);
  const answer = make('div', { 'aria-live': 'polite' });
  const shown = make('form', { class: 'try' },
    fields.map(({ label }) => label),
    body && make('label', {}, 'Body', body),
    make('button', {}, 'Send'));
  shown.addEventListener('submit', async (event) => {
    event.preventDefault();
    const said = fields.map(({ name, where, input }) => ({ name, where, value: input.value })).filter(({ value }) => value);
    const of = (wanted) => said.filter(({ where }) => where === wanted).map(({ name, value }) => [name, value]);
    const segments = new Map(of('path'));
    const query = new URLSearchParams(of('query')).toString();
    const headers = new Headers(of('header'));
    if (byId('token').value) headers.set('Authorization', `Bearer ${byId('token').value}`);
    if (body?.value) headers.set('Content-Type', 'application/json');
    const filled = path.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(segments.get(name) ?? ''));
    const url = query ? `${filled}?${query}` : filled;
    try {
      const response = await fetch(url, { method: method.toUpperCase(), headers, body: body?.value || undefined });
      const text = pretty(await response.text());
      const line = make('p', {}, make('strong', {}, `${response.status} ${response.statusText}`), ` to ${url}`);
      answer.replaceChildren(line, make('pre', { tabindex: 0, 'aria-label': 'The answer', role: 'region' }, text));
    } catch (error) {
      answer.replaceChildren(make('p', { class: 'bad' }, `No answer: ${error.message}`));
    }
  });
  return [shown, answer];
}

function pretty(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

function parameters(schemas, all) {
  const row = ({ name, in: where, required, schema, description }) => make('tr', {},
    make('th', { scope: 'row' }, make('code', {}, name)),
    make('td', {}, required ? `${where}, required` : where),
    make('td', {}, [schemas.kind(schema), schemas.limits(schema)].filter(Boolean).join('; ')),
    make('td', {}, description ?? ''));
  const head = ['Name', 'Where', 'What', 'Meaning'].map((text) => make('th', { scope: 'col' }, text));
  return make('div', { class: 'wide', tabindex: 0, role: 'group', 'aria-label': 'Parameters' },
    make('table', {}, make('thead', {}, make('tr', {}, head)), make('tbody', {}, all.map(row))));
}

/** What the tests of this server were answered. */
function shownExample(example) {
  const text = JSON.stringify(example, null, 2);
  return make('pre', { tabindex: 0, 'aria-label': 'An example', role: 'region' }, text);
}

function answers(schemas, responses) {
  return Object.entries(responses).map(([status, named]) => {
    const response = schemas.found(named);
    const { schema, example } = response.content?.['application/json'] ?? {};
    const line = [make('strong', {}, status), ` ${response.description.replaceAll('`', '')}`];
    const content = () => (example === undefined ? [] : [shownExample(example)]).concat(schemas.list(schema));
    return schema ? opened(make('summary', {}, line), content) : make('p', {}, line);
  });
}

/** One route, which opens, and the text that it is found by. */
function route(schemas, method, path, operation) {
  const holds = operation['x-permissions'] ?? [];
  const token = { syncToken: 'Needs a store’s token', userToken: 'Needs a person’s token' }[
    Object.keys(operation.security?.[0] ?? {})[0]] ?? 'Needs no token';
  const schema = operation.requestBody?.content?.['application/json']?.schema;
  const content = () => [
    make('p', {}, token, holds.length ? [' with ', make('code', {}, holds.join(' or '))] : [], '.'),
    operation.parameters?.length ? [make('h3', {}, 'Parameters'), parameters(schemas, operation.parameters)] : [],
    schema ? [make('h3', {}, 'Body'), schemas.list(schema)] : [],
    make('h3', {}, 'Answers'), answers(schemas, operation.responses),
    make('h3', {}, 'Try it'), form(schemas, method, path, operation),
  ].flat();
  const line = make('summary', {}, make('span', { class: 'method' }, method.toUpperCase()), ' ',
    make('code', {}, path), ` ${operation.summary ?? ''}`);
  const shown = opened(line, content, { id: operation.operationId });
  shown.addEventListener('toggle', () => shown.open && history.replaceState(null, '', `#${shown.id}`));
  return { shown, text: `${method} ${path} ${operation.summary ?? ''} ${holds.join(' ')}`.toLowerCase() };
}

function show(description) {
  const schemas = new Schemas(description.components);
  byId('title').textContent = `${description.info.title} ${description.info.version}`;
  byId('about').textContent = description.info.description ?? '';
  const routes = Object.entries(description.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, of]) => ({ topic: of.tags?.[0], ...route(schemas, method, path, of) })));
  const topics = (description.tags ?? []).map(({ name }) => {
    const own = routes.filter(({ topic }) => topic === name);
    const id = `topic-${name}`;
    const section = make('section', { 'aria-labelledby': id }, make('h2', { id }, name), own.map(({ shown }) => shown));
    return { own, section, link: make('a', { href: `#${id}` }, name) };
  });
  byId('routes').replaceChildren(...topics.map(({ section }) => section));
  byId('topics').replaceChildren(...topics.map(({ link }) => link));
  byId('search').addEventListener('input', () => {
    const wanted = byId('search').value.trim().toLowerCase();
    for (const { own, section, link } of topics) {
      for (const { shown, text } of own) shown.hidden = !text.includes(wanted);
      section.hidden = link.hidden = own.every(({ shown }) => shown.hidden);
    }
  });
}

/** Opens the route that the address names. */
function follow() {
  const target = byId(location.hash.slice(1));
  if (target instanceof HTMLDetailsElement) target.open = true;
  target?.scrollIntoView();
}

async function start() {
  byId('settings').addEventListener('submit', (event) => event.preventDefault());
  try {
    const response = await fetch('/api/v1/openapi.json');
    show(await response.json());
    addEventListener('hashchange', follow);
    follow();
  } catch (error) {
    const text = `The description could not be loaded (${error.message}). Load this page again.`;
    byId('routes').replaceChildren(make('p', { class: 'bad', role: 'alert' }, text));
  }
  byId('routes').removeAttribute('aria-busy');
}

start();
