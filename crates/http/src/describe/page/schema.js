// Schemas of the description, for people: as lists that open, and as an example to begin a body with.
'use strict';

/** An element; texts are always texts, whatever the description says. */
function make(name, attributes, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes ?? {})) {
    if (value !== false) element.setAttribute(key, value === true ? '' : value);
  }
  element.append(...children.flat().filter((child) => child !== undefined));
  return element;
}

class Schemas {
  constructor(components) {
    this.components = components ?? {};
  }

  /** What `#/components/…` names; anything else is itself. */
  found(value) {
    const [, kind, name] = /^#\/components\/([^/]+)\/(.+)$/.exec(value?.$ref ?? '') ?? [];
    return kind ? (this.components[kind]?.[name] ?? {}) : (value ?? {});
  }

  /** What a value is, in one line. */
  kind(schema) {
    if (schema.$ref) return schema.$ref.split('/').pop();
    const several = schema.oneOf ?? schema.allOf;
    if (several) return several.map((one) => this.kind(one)).join(schema.oneOf ? ' or ' : ' and ');
    if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(', ');
    const types = [schema.type ?? 'anything'].flat();
    return types.map((type) => (type === 'array' ? `list of ${this.kind(schema.items ?? {})}` : type)).join(' or ');
  }

  /** Its limits, in one line. */
  limits(schema) {
    const said = [
      ['format', (value) => value],
      ['minimum', (value) => `from ${value}`],
      ['maximum', (value) => `to ${value}`],
      ['minLength', (value) => `${value} characters or more`],
      ['maxLength', (value) => `${value} characters at the most`],
      ['minItems', (value) => `${value} items or more`],
      ['maxItems', (value) => `${value} items at the most`],
      ['uniqueItems', () => 'no item twice'],
      ['pattern', (value) => `like ${value}`],
      ['default', (value) => `${JSON.stringify(value)} when left out`],
    ];
    return said.filter(([key]) => schema[key] !== undefined).map(([key, say]) => say(schema[key])).join('; ');
  }

  /** The properties of a value, with those of all parts that it is made of. */
  properties(schema) {
    const whole = this.found(schema);
    const required = new Set(whole.required);
    const own = Object.entries(whole.properties ?? {}).map(([name, of]) => ({ name, of, required: required.has(name) }));
    return [...(whole.allOf ?? []).flatMap((part) => this.properties(part)), ...own];
  }

  /** What can be opened below a value: the parts of a list or a choice are those of its items. */
  below(schema) {
    const whole = this.found(schema);
    if (whole.items) return this.below(whole.items);
    if (whole.oneOf) return whole.oneOf.flatMap((one) => this.below(one));
    const rest = whole.additionalProperties;
    const others = rest && typeof rest === 'object' ? [{ name: '(any name)', of: rest, required: false }] : [];
    return [...this.properties(whole), ...others];
  }

  /** A value as a list of its properties; each opens when it is asked for, since types may hold themselves. */
  list(schema) {
    const items = this.below(schema).map(({ name, of, required }) => {
      const line = [make('code', {}, name), ' ', make('span', { class: 'kind' }, this.kind(of))];
      if (required) line.push(' ', make('strong', {}, 'required'));
      const whole = this.found(of);
      const text = [this.limits(whole), of.description ?? whole.description].filter(Boolean).join('. ');
      if (text) line.push(' ', make('span', { class: 'soft' }, text));
      if (this.below(of).length === 0) return make('li', {}, line);
      return make('li', {}, opened(make('summary', {}, line), () => [this.list(of)]));
    });
    return items.length ? make('ul', { class: 'schema' }, items) : make('p', {}, this.kind(schema));
  }

  /** A value to begin with: what is required, and no more. */
  example(schema, depth = 0) {
    const whole = this.found(schema);
    if (whole.examples?.length) return whole.examples[0];
    if (whole.default !== undefined) return whole.default;
    if (whole.enum) return whole.enum[0];
    if (whole.oneOf) return this.example(whole.oneOf[0], depth);
    const kind = [whole.type].flat()[0];
    if (kind === 'array') return depth > 3 ? [] : [this.example(whole.items ?? {}, depth + 1)];
    const properties = this.properties(whole);
    if (properties.length || kind === 'object') {
      const required = properties.filter((property) => property.required && depth <= 3);
      return Object.fromEntries(required.map(({ name, of }) => [name, this.example(of, depth + 1)]));
    }
    return { integer: whole.minimum ?? 0, number: 0, boolean: false, string: '' }[kind] ?? null;
  }
}

/** Something that is made when it is opened first. */
function opened(summary, content, attributes) {
  const details = make('details', attributes, summary);
  details.addEventListener('toggle', () => details.append(...content()), { once: true });
  return details;
}
