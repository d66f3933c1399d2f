import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Caller } from '../../harness/access/callers.ts';
import { type Call, calls } from '../../harness/access/calls.ts';
import { createFixture } from '../../harness/access/fixture.ts';
import { type Row, readTable } from '../../harness/access/table.ts';
import { startService } from '../../harness/service.ts';
import type { CallFailureCode } from '../../src/core/failure.ts';
import { permissions } from '../../src/core/people/key.ts';
import { type Role, rightsOf } from '../../src/core/people/member.ts';
import { endpoints } from '../../src/faces/reference/operations-index.ts';
import { bodyBytesMax } from '../../src/http/contract/contract-limits.ts';
import {
  type Endpoint,
  keyRight,
  parsesBody,
  sessionRight,
} from '../../src/http/contract/operation.ts';
import { responsesOf } from '../../src/http/contract/problem.ts';
import { failureCodeIn } from '../../src/http/response/openai-error.ts';

/**
 * The refusals that follow from the contract, at every operation: callers without a valid key, without the permission, of
 * another workspace or with a restricted key; unknown fields, parameters and ids; malformed bodies; stale tags. The
 * statuses are those of the access table. `call` compares headers and form of each response with the OpenAPI document.
 * Refusals that need a situation have tests of their own.
 */

// Calls have the limit of other bodies here; `long-bodies.test.ts` has their own.
const config = { listPerMinute: 1_000_000, callBodyBytes: bodyBytesMax };
const service = await startService({ role: 'api', config });
after(service.close);
const rateLimits = { requestsPerMinute: null, requestsPerHour: null, requestsPerDay: null };
const fixture = await createFixture({
  ...service,
  key: (options) => service.key({ rateLimits, ...options }),
  signIn: async (userId) => (await service.openSession({ userId })).cookie,
});
const caller = (name: string) => {
  const one = fixture.all.find((other) => other.name === name);
  assert.ok(one, `no caller is called ${name}`);
  return one;
};

const operations = Object.values(endpoints) as Endpoint[];
const table = Map.groupBy(readTable(), ({ method, path }) => `${method} ${path}`);
const nameOf = ({ method, path }: Endpoint) => `${method} ${path}`;
const rowsOf = (e: Endpoint): readonly Row[] => table.get(nameOf(e)) ?? [];

async function prepare(e: Endpoint, note: string, as: Caller): Promise<Call> {
  const prepareCall = calls[nameOf(e)];
  assert.ok(prepareCall, 'no call is defined in harness/access');
  return prepareCall(fixture, note, as);
}

/** Refused calls change nothing, so all of a row share their resources. */
const shared = new Map<string, Promise<Call>>();

function validCall(e: Endpoint, note = rowsOf(e)[0]?.note ?? ''): Promise<Call> {
  const row = `${e.id} ${note}`;
  const call = shared.get(row) ?? prepare(e, note, caller('none'));
  shared.set(row, call);
  return call;
}

/** What differs from a valid call. */
interface Difference {
  readonly path?: string;
  /** `null` for no body. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

async function send(e: Endpoint, as: Caller, valid: Call, difference: Difference = {}) {
  const { path, body, headers } = { ...valid, ...difference };
  return service.call(e.method, path, {
    ...(body !== undefined && body !== null && { body }),
    headers: { ...as.headers, ...valid.headers, ...headers },
  });
}

type Sent = Awaited<ReturnType<typeof send>>;

function assertRefused(
  { status, headers, body }: Sent,
  e: Endpoint,
  expected: { status: number; code: CallFailureCode; message?: RegExp },
  what: string,
) {
  const isOpenAI = e.tag === 'OpenAI API';
  const { message } = (isOpenAI ? body?.error : body) ?? {};
  assert.equal(status, expected.status, `${what}: ${message}`);
  assert.equal(isOpenAI ? failureCodeIn(body) : body.code, expected.code, what);
  if (!isOpenAI) assert.equal(body.requestId, headers.get('x-request-id'), what);
  if (expected.message) assert.match(message, expected.message, what);
}

const codes: Readonly<Record<number, CallFailureCode>> = {
  401: 'UNAUTHORIZED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
};

test('the access table agrees with the declarations', () => {
  for (const e of operations) {
    assert.notEqual(rowsOf(e).length, 0, `${e.id} is missing from the table`);
    if (e.auth === 'none') continue;
    const sufficient = [keyRight(e), e.orPermission, e.ownPermission];
    const session = sessionRight(e);
    for (const { note, statuses } of rowsOf(e)) {
      const at = (name: string) => `${nameOf(e)} (${note}) as ${name}`;
      for (const name of ['none', 'malformed', 'unknown', 'revoked', 'expired', 'removed']) {
        // A removed member may still delete the account.
        if (e.id !== 'deleteMe') assert.equal(statuses.get(name), 401, at(name));
      }
      for (const name of permissions.filter((one) => !sufficient.includes(one))) {
        assert.equal(statuses.get(name), 403, at(name));
      }
      for (const role of ['viewer', 'editor', 'owner'] satisfies Role[]) {
        if (session !== null && rightsOf(role).includes(session)) continue;
        const status = statuses.get(role) ?? 0;
        assert.ok(status >= 401 && status <= 404, at(role));
      }
    }
  }
});

for (const e of operations) {
  test(`${nameOf(e)}: refused callers`, async () => {
    if (e.auth === 'none') return;
    const [first] = rowsOf(e);
    await assertPermissionsSuffice(e, first);
    for (const row of rowsOf(e)) {
      const { note, statuses } = row;
      for (const as of fixture.all) {
        const status = statuses.get(as.name) ?? 0;
        const code = codes[status];
        // A further case of an operation concerns the callers whose status differs.
        if (!code || (row !== first && status === first?.statuses.get(as.name))) continue;
        const valid = note.includes('own ') ? await prepare(e, note, as) : await validCall(e, note);
        const what = `${note} as ${as.name}`;
        const response = await send(e, as, valid);
        assertRefused(response, e, { status, code }, what);
        const { agents = [], privateAgents = [], workspace = [] } = valid;
        for (const hidden of [...agents, ...privateAgents, ...workspace]) {
          assert.ok(!JSON.stringify(response.body).includes(hidden), `${what} reveals ${hidden}`);
        }
      }
    }
  });

  test(`${nameOf(e)}: malformed requests`, async () => {
    const as = caller(e.auth === 'none' ? 'none' : keyRight(e) ? 'all' : 'owner');
    const valid = await validCall(e);
    for (const { what, expected, ...difference } of malformedCalls(e, valid)) {
      assertRefused(await send(e, as, valid, difference), e, expected, what);
    }
    if (e.auth === 'none') return;
    const path = `${e.path.replaceAll(/\{\w+\}/g, '%00')}?unknown=%`;
    const malformed = { path, headers: { 'if-match': '1' }, ...(parsesBody(e) && { body: '{' }) };
    // The key is checked first. The table has the other invalid keys.
    for (const name of ['none', 'unknown', 'revoked']) {
      const response = await send(e, caller(name), valid, malformed);
      assertRefused(response, e, { status: 401, code: 'UNAUTHORIZED' }, `malformed as ${name}`);
    }
  });
}

/** Each permission that suffices by itself gets as far as the query. */
async function assertPermissionsSuffice(e: Endpoint, row: Row | undefined) {
  const valid = await validCall(e);
  for (const name of permissions.filter((one) => (row?.statuses.get(one) ?? 0) < 300)) {
    for (const { what, expected, ...query } of malformedQuery(e, valid)) {
      const response = await send(e, caller(name), valid, query);
      assertRefused(response, e, expected, `${what} with ${name}`);
    }
  }
}

test('an invalid key is refused despite a valid session', async () => {
  const { cookie } = caller('owner').headers;
  const headers = { ...caller('malformed').headers, ...(cookie && { cookie }) };
  assert.equal((await service.call('GET', '/api/v1/me', { headers })).status, 401);
});

interface Malformed extends Difference {
  readonly what: string;
  readonly expected: Parameters<typeof assertRefused>[2];
}

const invalid = { status: 400, code: 'INVALID_REQUEST' } as const;

function malformedCalls(e: Endpoint, valid: Call): Malformed[] {
  // Whatever is wrong with an event, its signature is not valid: an unsigned event learns nothing.
  if (e.id === 'receiveWebhook') return [];
  return [
    ...unknownIds(e, valid),
    ...malformedQuery(e, valid),
    ...malformedBodies(e, valid),
    ...tags(e, valid),
  ];
}

function unknownIds(e: Endpoint, valid: Call): Malformed[] {
  if (!(404 in e.responses)) return [];
  const [path = '', query = ''] = valid.path.split(/(?=\?)/);
  const segments = path.split('/');
  return e.path.split('/').flatMap((name, at) => {
    if (!name.startsWith('{')) return [];
    const unknown =
      segments[at]?.replace(/(?<=_)[0-9a-z]{26}$/, '01jd0000000000000000000000') ?? '';
    return [unknown, 'nonsense', '%00']
      .filter((id) => id !== segments[at])
      .map((id) => ({
        what: `${name} is ${id}`,
        path: segments.with(at, id).join('/') + query,
        expected: { status: 404, code: 'NOT_FOUND' } as const,
      }));
  });
}

function malformedQuery(e: Endpoint, { path }: Call): Malformed[] {
  // Parameters that clients of OpenAI add change nothing.
  if (!responsesOf(e).has(400) || e.path.startsWith('/v1/')) return [];
  const what = 'an unknown parameter';
  const expected = { ...invalid, message: /"unknown"/ };
  return [{ what, path: `${path}${path.includes('?') ? '&' : '?'}unknown=1`, expected }];
}

function malformedBodies(e: Endpoint, valid: Call): Malformed[] {
  if (!parsesBody(e)) return [];
  const unsupported = { status: 415, code: 'UNSUPPORTED_MEDIA_TYPE' } as const;
  const plain = { 'content-type': 'text/plain' };
  const type = {
    what: 'another type',
    headers: plain,
    body: valid.body ?? '{}',
    expected: unsupported,
  };
  if (e.consumes) return [type];
  const malformed = { status: 400, code: 'MALFORMED_BODY' } as const;
  const tooLarge = { status: 413, code: 'BODY_TOO_LARGE' } as const;
  const unknown = { ...(valid.body as object), unknown: 1 };
  const expected = { ...invalid, message: /"unknown"/ };
  return [
    type,
    { what: 'no JSON', body: '{"a":', expected: malformed },
    { what: 'an array', body: '[]', expected: invalid },
    { what: 'an unknown field', body: unknown, expected },
    { what: 'a large body', body: ' '.repeat(bodyBytesMax + 1), expected: tooLarge },
    // Clients may always send an object: it is accepted, and the resource is unknown.
    ...(e.body ? [] : unknownIds(e, valid).map((unknownId) => ({ ...unknownId, body: '{}' }))),
    ...(e.body && !e.bodyOptional ? [{ what: 'no body', body: null, expected: malformed }] : []),
  ];
}

function tags(e: Endpoint, valid: Call): Malformed[] {
  if (!responsesOf(e).has(412)) return [];
  const stale = { status: 412, code: 'STALE' } as const;
  return [
    { what: 'a stale tag', headers: { 'if-match': '"0"' }, expected: stale },
    { what: 'a weak tag', headers: { 'if-match': 'W/"1"' }, expected: stale },
    ...unknownIds(e, valid).map((one) => ({ ...one, headers: { 'if-match': '*' } })),
    ...(e.body
      ? [
          {
            what: 'a field before a tag',
            body: '[]',
            headers: { 'if-match': '"0"' },
            expected: invalid,
          },
        ]
      : []),
    { what: 'no tag', headers: { 'if-match': '1' }, expected: invalid },
  ];
}

for (const path of new Set(operations.map((e) => e.path))) {
  test(`${path}: other methods`, async () => {
    const sent = path.replaceAll(/[{}]/g, '');
    const matching = operations.filter(({ path: template }) =>
      new RegExp(`^${template.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(sent),
    );
    const methods = new Set<string>(matching.map(({ method }) => method));
    if (methods.has('GET')) methods.add('HEAD');
    const other = ['PUT', 'PATCH', 'DELETE'].find((method) => !methods.has(method)) ?? '';
    const { status, headers } = await service.call(other, sent);
    assert.equal(status, 405);
    assert.deepEqual(new Set(headers.get('allow')?.split(', ')), methods);
  });
}
