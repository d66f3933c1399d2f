import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import type { Json } from '../../../src/faces/reference/openapi-components.ts';
import { examples, records } from '../../../src/faces/reference/openapi-examples.ts';
import { accessText, type Security } from '../../../src/faces/reference/openapi-texts.ts';
import { endpoints } from '../../../src/faces/reference/operations-index.ts';
import { sampledOpenapi } from '../../openapi-samples.ts';

/** Rules of OpenAPI 3.1 that a generated document could break, checked without its schema. */

const document = sampledOpenapi('1.2.3');
const methods = ['get', 'put', 'post', 'delete', 'patch'];

interface Operation {
  operationId: string;
  tags: string[];
  description: string;
  security: Security;
  parameters: Json[];
  requestBody?: { required: boolean; content: Record<string, Media> };
  responses: Record<string, Json & { content?: Record<string, Media> }>;
}
interface Media {
  schema: Json;
  example?: unknown;
  examples?: Record<string, { value: unknown }>;
}

const paths = document.paths as Record<string, Record<string, Operation>>;
const operations = Object.entries(paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => ({ path, method, operation })),
);

test('the document has the fields required by OpenAPI 3.1', () => {
  assert.match(String(document.openapi), /^3\.1\.\d+$/);
  const info = document.info as Json;
  assert.equal(info.version, '1.2.3');
  assert.equal(typeof info.title, 'string');
  assert.deepEqual(
    operations.map(({ operation }) => operation.operationId).sort(),
    Object.keys(endpoints).sort(),
  );
});

test('an export has both formats and a file name', () => {
  const exports = operations.filter(({ path }) => path.endsWith('/export'));
  assert.equal(exports.length, 2);
  for (const { operation } of exports) {
    const answer = operation.responses[200];
    assert.deepEqual(Object.keys(answer?.content ?? {}), ['application/jsonl', 'text/csv']);
    assert.match(JSON.stringify(answer?.headers), /"Content-Disposition":/);
  }
});

test('every reference resolves', () => {
  const references: string[] = [];
  walk(document, (object) => {
    if (typeof object.$ref === 'string') references.push(object.$ref);
  });
  assert.ok(references.length > 100);
  for (const reference of new Set(references)) assert.ok(resolve(reference), reference);
});

test('every component is used', () => {
  const text = JSON.stringify(document);
  for (const [kind, all] of Object.entries(document.components as Record<string, Json>)) {
    for (const name of Object.keys(all)) {
      assert.match(name, /^[A-Za-z0-9._-]+$/);
      const used = kind === 'securitySchemes' || text.includes(`"#/components/${kind}/${name}"`);
      assert.ok(used, `${kind}/${name} is used nowhere`);
    }
  }
});

test('paths and their parameters agree', () => {
  const shapes = new Set<string>();
  for (const { path, method, operation } of operations) {
    assert.ok(methods.includes(method) && path.startsWith('/'));
    const inPath = operation.parameters.filter((parameter) => parameter.in === 'path');
    assert.deepEqual(
      inPath.map(({ name }) => name),
      [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name),
      path,
    );
    assert.ok(inPath.every(({ required }) => required === true));
    const names = operation.parameters.map((one) => JSON.stringify([one.in, one.name, one.$ref]));
    assert.equal(new Set(names).size, names.length, `${path} has a parameter twice`);
    for (const parameter of operation.parameters) {
      assert.ok(parameter.$ref || (parameter.schema && parameter.description), path);
    }
    shapes.add(path.replaceAll(/\{\w+\}/g, '{}'));
  }
  assert.equal(shapes.size, Object.keys(paths).length, 'two paths differ in names only');
});

test('tags, security schemes and responses are declared', () => {
  const tags = (document.tags as Json[]).map(({ name }) => name);
  const schemes = Object.keys((document.components as Json).securitySchemes as Json);
  for (const { operation } of operations) {
    assert.ok(operation.tags.every((tag) => tags.includes(tag)));
    for (const alternative of operation.security) {
      assert.ok(Object.keys(alternative).every((scheme) => schemes.includes(scheme)));
    }
    const statuses = Object.keys(operation.responses);
    assert.ok(statuses.some((status) => status.startsWith('2')));
    for (const [status, response] of Object.entries(operation.responses)) {
      assert.match(status, /^[2-5]\d\d$/);
      assert.ok(response.$ref || response.description, `${operation.operationId} ${status}`);
    }
  }
});

test('operations that need a caller declare 401, and operations with a body declare 413 and 415', () => {
  for (const { method, operation } of operations) {
    const statuses = Object.keys(operation.responses);
    if (operation.security.length > 0) assert.ok(statuses.includes('401'));
    // An operation without fields rejects any body.
    if (operation.requestBody || method === 'post') {
      for (const status of ['400', '413', '415']) assert.ok(statuses.includes(status));
    }
  }
});

const ajv = new Ajv2020({ strict: true, strictRequired: false, allowUnionTypes: true });
formats.default(ajv);
ajv.addKeyword('components');
ajv.addSchema({ $id: 'api', components: document.components });

test('every schema compiles under the strict rules of JSON Schema 2020-12', () => {
  let count = 0;
  walk(document, (object) => {
    if (typeof object.schema !== 'object') return;
    compile(object.schema as Json);
    count++;
  });
  const schemas = (document.components as Record<string, Json>).schemas ?? {};
  for (const name of Object.keys(schemas)) compile({ $ref: `#/components/schemas/${name}` });
  assert.ok(count > 100);
});

test('every example is valid and used', () => {
  let count = 0;
  walk(document, (object) => {
    if (!object.schema) return;
    const media = object as unknown as Media;
    const check = compile(media.schema);
    const written = Object.entries(media.examples ?? {});
    count += written.length;
    const sampled =
      media.example === undefined ? [] : [['sample', { value: media.example }] as const];
    for (const [name, { value }] of [...written, ...sampled]) {
      const text = `${name} ${JSON.stringify(value)}`;
      assert.ok(check(value), `${text}: ${ajv.errorsText(check.errors)}`);
    }
  });
  const written = Object.values(examples).flatMap((places) => Object.values(places));
  assert.equal(count, written.flatMap((one) => Object.keys(one)).length);
});

test('the JSON of every success has an example, and every request with required fields', () => {
  for (const { operation } of operations) {
    const successes = Object.entries(operation.responses).filter(
      ([status]) => Number(status) < 300,
    );
    const media = successes.map(([, { content }]) => content?.['application/json']);
    const schema = operation.requestBody?.content['application/json'];
    const body = schema && resolveSchema(schema.schema);
    if ((body?.required as string[] | undefined)?.length) media.push(schema);
    for (const one of media) {
      const isOpen = one && resolveSchema(one.schema).properties === undefined;
      assert.ok(!one || isOpen || one.example || one.examples, operation.operationId);
    }
  }
});

function resolveSchema(schema: Json): Json {
  return typeof schema.$ref === 'string' ? (resolve(schema.$ref) as Json) : schema;
}

test('every record without a sample has a valid example', () => {
  const schemas = (document.components as Record<string, Record<string, Json>>).schemas ?? {};
  for (const [name, record] of Object.entries(records)) {
    assert.deepEqual(schemas[name]?.examples, [record], name);
    const check = compile({ $ref: `#/components/schemas/${name}` });
    assert.ok(check(record), `${name}: ${ajv.errorsText(check.errors)}`);
  }
});

test('docs/openapi.json is up to date', () => {
  const root = new URL('../../../', import.meta.url);
  const read = (path: string) => JSON.parse(readFileSync(new URL(path, root), 'utf8'));
  assert.deepEqual(read('docs/openapi.json'), sampledOpenapi(read('package.json').version));
});

const compiled = new Map<string, ValidateFunction>();

/** Many parameters and responses have the same schema, and compiling takes long. */
function compile(schema: Json): ValidateFunction {
  const text = JSON.stringify(schema).replaceAll('"$ref":"#/', '"$ref":"api#/');
  const check = compiled.get(text) ?? ajv.compile(JSON.parse(text));
  compiled.set(text, check);
  return check;
}

function resolve(reference: string): unknown {
  const steps = reference.replace(/^#\//, '').split('/');
  return steps.reduce<unknown>((at, step) => (at as Json | undefined)?.[step], document);
}

function walk(value: unknown, visit: (object: Json) => void): void {
  if (Array.isArray(value)) for (const item of value) walk(item, visit);
  else if (typeof value === 'object' && value !== null) {
    visit(value as Json);
    for (const inner of Object.values(value)) walk(inner, visit);
  }
}

test('every operation says in words who may call it', () => {
  assert.equal(accessText([]), 'Public.');
  assert.equal(accessText([{ key: ['execute'] }]), 'Needs an API key with `execute`.');
  assert.equal(accessText([{ session: ['read'] }]), "Needs any member's session.");
  assert.equal(
    accessText([{ key: ['read'] }, { key: ['execute'] }, { session: ['read'] }]),
    "Needs an API key with `read` or `execute`, or any member's session.",
  );
  assert.equal(
    accessText([{ key: ['own'] }, { session: ['own'] }]),
    "Needs an API key with `own`, or an owner's session.",
  );
  for (const { operation } of operations) {
    assert.ok(operation.description.endsWith(accessText(operation.security)));
  }
});
