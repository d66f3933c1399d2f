import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { Compile } from 'typebox/compile';
import { docsPage, docsStyleHash } from '../../../../src/api/routes/system/docs.ts';
import { authWords, type Operation } from '../../../../src/api/routes/system/docs-operation.ts';
import { boundsOf, fieldsOf, sample } from '../../../../src/api/routes/system/docs-schema.ts';
import type { Endpoint } from '../../../../src/contract/endpoint.ts';
import { endpoints } from '../../../../src/contract/index.ts';
import { openapi } from '../../../../src/contract/openapi/openapi.ts';

const page = docsPage(openapi('1.2.3'));

test('the page asks for nothing and runs nothing', () => {
  assert.doesNotMatch(page, /<(?:script|img|iframe|object|embed|form|base)\b/i);
  assert.doesNotMatch(page, /\s(?:style|src|srcset|on\w+)=/i);
  assert.doesNotMatch(page, /@import|url\(/i);
  for (const [, href] of page.matchAll(/\shref="([^"]*)"/g)) {
    assert.match(String(href), /^(?:#[\w-]+|openapi\.json)$/);
  }
});

test('its one style is the one that the policy names', () => {
  const styles = [...page.matchAll(/<style>([\s\S]*?)<\/style>/g)];
  assert.equal(styles.length, 1);
  const hash = createHash('sha256').update(String(styles[0]?.[1])).digest('base64');
  assert.equal(docsStyleHash, `sha256-${hash}`);
});

test('every operation is there, and every link leads somewhere', () => {
  const ids = [...page.matchAll(/\sid="([^"]*)"/g)].map(([, id]) => id);
  assert.equal(new Set(ids).size, ids.length, 'an id stands twice');
  for (const id of Object.keys(endpoints)) assert.ok(ids.includes(id), id);
  for (const [link, id] of page.matchAll(/(?:href="#|labelledby=")([^"]*)"/g)) {
    assert.ok(ids.includes(id), link);
  }
});

test('every element that is opened is closed, in order', () => {
  const empty = new Set(['meta', 'wbr']);
  const open: string[] = [];
  for (const [, slash, name = ''] of page.matchAll(/<(\/?)([a-z][a-z0-9]*)\b[^>]*>/g)) {
    if (empty.has(name)) continue;
    if (slash) assert.equal(open.pop(), name);
    else open.push(name);
  }
  assert.deepEqual(open, []);
});

test('what the document says is text, never markup', () => {
  const hostile = '<img src=x onerror=alert(1)> `<b>` **"&**';
  const document = structuredClone(openapi('<i>')) as { info: { description: string } };
  document.info.description = hostile;
  const shown = docsPage(document);
  assert.doesNotMatch(shown, /<img|<i>/);
  assert.ok(shown.includes('&lt;img src=x onerror=alert(1)&gt; <code>&lt;b&gt;</code>'));
  assert.ok(shown.includes('<strong>&quot;&amp;</strong>'));
});

test('every body that an example sends is one that the operation takes', () => {
  let count = 0;
  for (const e of Object.values(endpoints) as Endpoint[]) {
    const start = page.indexOf(`<article id="${e.id}"`);
    const article = page.slice(start, page.indexOf('</article>', start));
    const sent = /-d '([\s\S]*?)'<\/code>/.exec(article)?.[1];
    assert.equal(sent !== undefined, e.body !== undefined, e.id);
    if (!e.body || !sent) continue;
    const plain = sent.replaceAll('&quot;', '"').replaceAll(/<\/?var>/g, '');
    // As a shell reads it.
    const text = plain.replaceAll("'\\''", "'");
    assert.ok(Compile(e.body).Check(JSON.parse(text)), `${e.id} ${text}`);
    count++;
  }
  assert.ok(count > 10);
});

test('who may call is said in words', () => {
  const words = (security: Operation['security']) => authWords({ security } as Operation);
  assert.equal(words([]), 'Open to anyone.');
  assert.equal(words([{ key: ['execute'] }]), 'Needs an API key with `execute`.');
  assert.equal(words([{ session: ['read'] }]), "Needs any member's session.");
  assert.equal(
    words([{ key: ['read'] }, { key: ['execute'] }, { session: ['read'] }]),
    "Needs an API key with `read` or `execute`, or any member's session.",
  );
  assert.equal(
    words([{ key: ['manage'] }, { session: ['own'] }]),
    'Needs an API key with `manage`, or a session, of an owner.',
  );
});

const schemas = {
  Inner: { type: 'object', description: 'Inside.', properties: { a: { type: 'integer' } } },
};

test('fields are listed flat, with what they may be', () => {
  const schema = {
    type: 'object',
    required: ['one'],
    properties: {
      one: { $ref: '#/components/schemas/Inner' },
      many: { type: 'array', maxItems: 3, items: { $ref: '#/components/schemas/Inner' } },
      maybe: { anyOf: [{ $ref: '#/components/schemas/Inner' }, { type: 'null' }] },
      text: { type: ['string', 'null'], description: 'Words.', minLength: 1, maxLength: 2000 },
    },
  };
  assert.deepEqual(
    fieldsOf(schema, schemas).map((field) => [field.name, field.type, field.required]),
    [
      ['one', 'object', true],
      ['one.a', 'integer', false],
      ['many', 'array of object', false],
      ['many[].a', 'integer', false],
      ['maybe', 'object or null', false],
      ['maybe.a', 'integer', false],
      ['text', 'string or null', false],
    ],
  );
  assert.deepEqual(boundsOf(schema.properties.text), ['1 – 2,000 characters']);
  assert.deepEqual(sample(schema, schemas), {
    one: { a: 1 },
    many: [{ a: 1 }],
    maybe: { a: 1 },
    text: '…',
  });
  assert.deepEqual(sample(schema, schemas, true), { one: { a: 1 } });
});

test('bounds are said in words', () => {
  assert.deepEqual(boundsOf({ type: 'integer', minimum: 1, maximum: 5 }), ['1 – 5']);
  assert.deepEqual(boundsOf({ type: 'integer', minimum: 1 }), ['at least 1']);
  assert.deepEqual(boundsOf({ type: 'integer', minimum: 0 }), []);
  assert.deepEqual(boundsOf({ type: 'number', maximum: 9 }), ['at most 9']);
  assert.deepEqual(boundsOf({ enum: ['a', 'b'], default: 'a' }), ['`a` `b`', 'default `a`']);
  assert.deepEqual(boundsOf({ type: 'array', maxItems: 20 }, { enum: ['x'] }), [
    '`x`',
    'at most 20 items',
  ]);
});
