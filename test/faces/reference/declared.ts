import assert from 'node:assert/strict';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { openapi } from '../../../src/faces/reference/openapi.ts';
import type { Json } from '../../../src/faces/reference/openapi-components.ts';

/**
 * Compares responses with the OpenAPI document. The operation must declare the status and the rate limit headers,
 * required headers must be present, and the body may contain only declared fields.
 * REMOVE
 */

export interface ApiResponse {
  readonly method: string;
  /** Path with or without origin and query. */
  readonly url: string;
  readonly status: number;
  readonly headers: Headers;
  /** The parsed body; `null` without one. */
  readonly body: unknown;
}

export function assertDeclared(response: ApiResponse): void {
  const { method, status, headers } = response;
  // Not parsed with `URL`, which would normalize the very paths that tests send on purpose.
  const path = response.url.replace(/^https?:\/\/[^/]+/, '').replace(/[?#].*$/, '');
  const at = `${method} ${path} returned ${status}`;
  assert.ok(headers.get('x-request-id'), `${at} without X-Request-Id`);
  if (status === 401) assert.equal(headers.get('www-authenticate'), 'Bearer', at);
  if (status === 405) assert.ok(headers.get('allow'), `${at} without Allow`);
  if (status === 429 || status === 503) {
    assert.match(headers.get('retry-after') ?? '', /^[1-9]\d*$/, `${at}: Retry-After`);
  }
  const declared = declaredResponse(method, path, status, at);
  const limits = [...headers.keys()].filter((name) => name.includes('ratelimit'));
  const known = Object.keys(declared.headers ?? {}).map((name) => name.toLowerCase());
  for (const name of limits) assert.ok(known.includes(name), `${at}: ${name} is not declared`);
  const schema = Object.values(declared.content ?? {})[0]?.schema ?? null;
  if (schema === null) {
    assert.equal(response.body, null, `${at} with a body`);
    return;
  }
  const check = validator(schema);
  assert.ok(
    check(response.body),
    `${at}: ${problemsOf(check)} in ${JSON.stringify(response.body)}`,
  );
}

const document = openapi('0.0.0') as {
  paths: Record<string, Record<string, Operation>>;
  components: { responses: Record<string, Response> };
};
interface Operation {
  responses: Record<string, Response>;
}
interface Response {
  $ref?: string;
  headers?: Json;
  content?: Record<string, { schema: Json }>;
}

const ajv = new Ajv2020({
  strict: true,
  strictRequired: false,
  allowUnionTypes: true,
  // Another test validates the document itself; here that would be too slow.
  validateSchema: false,
});
formats.default(ajv);
ajv.addKeyword('components');
ajv.addSchema(closed({ $id: 'api', components: document.components }) as Json);

const compiled = new Map<Json, ValidateFunction>();
function validator(schema: Json): ValidateFunction {
  let check = compiled.get(schema);
  if (!check) {
    check = ajv.compile(closed(schema) as Json);
    compiled.set(schema, check);
  }
  return check;
}

/** No body where none is declared. An undeclared operation can only return a plain problem. */
function declaredResponse(method: string, path: string, status: number, at: string): Response {
  const operations = pathItem(path);
  const operation = operations?.[method.toLowerCase()];
  if (!operation) {
    assert.equal(status, operations ? 405 : 404, at);
    return path.startsWith('/v1/') ? openaiProblem : problem;
  }
  const declared = operation.responses[status];
  assert.ok(declared, `${at}, which is not declared`);
  const name = declared.$ref?.split('/').at(-1);
  return (name && document.components.responses[name]) || declared;
}

const problem: Response = {
  content: { 'application/json': { schema: { $ref: '#/components/schemas/Problem' } } },
};
const openaiProblem: Response = {
  content: { 'application/json': { schema: { $ref: '#/components/schemas/OpenAIProblem' } } },
};

/** The paths with the fewest parameters first. */
const templates = Object.keys(document.paths)
  .map((template) => ({
    template,
    parameters: template.split('{').length,
    pattern: new RegExp(`^${template.replaceAll(/\{\w+\}/g, '[^/]+').replaceAll('.', '\\.')}$`),
  }))
  .sort((a, b) => a.parameters - b.parameters);

/** The matching path with the fewest parameters. */
function pathItem(path: string): Record<string, Operation> | undefined {
  const best = templates.find(({ pattern }) => pattern.test(path));
  return best && document.paths[best.template];
}

/**
 * The same schema with every object closed unless declared open: an undocumented field is an error.
 */
function closed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(closed);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([name, inner]) => {
    if (name === 'if' || name === 'then' || name === 'else') return [name, inner];
    if (name === '$ref') return [name, String(inner).replace(/^#/, 'api#')];
    return [name, closed(inner)];
  });
  const out = Object.fromEntries(entries);
  if (out.type === 'object' && out.properties) out.additionalProperties ??= false;
  return out;
}

function problemsOf(check: ValidateFunction): string {
  return (check.errors ?? [])
    .map(
      ({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`,
    )
    .join('; ');
}
