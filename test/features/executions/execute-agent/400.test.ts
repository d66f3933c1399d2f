import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../../../harness/agents.ts';
import { startService } from '../../../../harness/service.ts';
import { sql } from '../../../../src/db/sql.ts';

const service = await startService();
after(service.close);
const { key, id } = await service.key();
const agent = await addAgent(service, {
  user: '{{a}} {{b}} {{c}}',
  requiredVariables: ['a', 'b'],
  optionalVariables: ['c'],
  defaultVariableValues: { b: 'default' },
});
const execute = (body: unknown, headers = {}) =>
  service.call('POST', `${agent.path}/execute`, { key, body, headers });

test('names the missing variables; a null value is missing', async () => {
  const { status, body } = await execute({ variables: { a: null, c: 'x' } });
  assert.equal(status, 400);
  assert.equal(body.code, 'MISSING_VARIABLES');
  assert.deepEqual(body.missingVariables, ['a', 'b']);
  assert.deepEqual(body.requiredVariables, ['a', 'b']);
});

test('a body without variables supplies none', async () => {
  const { status, body } = await execute({});
  assert.equal(status, 400);
  assert.equal(body.code, 'MISSING_VARIABLES');
  assert.deepEqual(body.missingVariables, ['a', 'b']);
  const undemanding = await addAgent(service, { user: 'Hello' });
  const other = await service.call('POST', `${undemanding.path}/execute`, { key, body: {} });
  assert.equal(other.status, 400);
  assert.equal(other.body.code, 'INVALID_REQUEST');
});

const broken: [string, string, string][] = [
  ['variables that are no object', '{"variables":"a"}', 'INVALID_REQUEST'],
  ['a number as user', '{"variables":{"a":1,"b":1},"user":5}', 'INVALID_REQUEST'],
  ['a NUL', '{"variables":{"a":"\\u0000","b":1}}', 'INVALID_VARIABLES'],
  [
    'a lone surrogate deep inside',
    '{"variables":{"a":{"x":["\\udfff"]},"b":1}}',
    'INVALID_VARIABLES',
  ],
  [
    'very deep nesting',
    `{"variables":{"a":${'['.repeat(50_000)}${']'.repeat(50_000)},"b":1}}`,
    'INVALID_REQUEST',
  ],
];
test('names the unknown field and the allowed ones', async () => {
  const field = await execute({ variables: {}, model: 'x' });
  assert.equal(
    field.body.message,
    'Unknown field "model". Allowed: variables, user, session, tags, metadata, stream, rerunOf, playground, draft, maxCostUSD.',
  );
  const path = `${agent.path}/execute?wait=1`;
  const parameter = await service.call('POST', path, { key, body: { variables: {} } });
  assert.equal(parameter.body.message, 'Unknown parameter "wait". Allowed: none.');
});

for (const [what, text, code] of broken) {
  test(`refuses ${what}`, async () => {
    const { status, body } = await execute(text);
    assert.equal(status, 400);
    assert.equal(body.code, code);
  });
}

test('rejects a body that is not UTF-8', async () => {
  const bytes = Buffer.concat([
    Buffer.from('{"variables":{"a":"'),
    Buffer.of(0xc3, 0x28),
    Buffer.from('","b":1}}'),
  ]);
  assert.equal((await execute(bytes)).body.code, 'MALFORMED_BODY');
});

test('names the variable that cannot be stored', async () => {
  assert.equal((await execute('{"variables":{"a":1,"b":"\\u0000"}}')).body.variable, 'b');
});

test('rejects an Idempotency-Key that is too long', async () => {
  const { status, body } = await execute(
    { variables: { a: 1, b: 1 } },
    { 'idempotency-key': 'x'.repeat(256) },
  );
  assert.equal(status, 400);
  assert.equal(body.code, 'INVALID_REQUEST');
});

test('counts towards the limits, writes no record and counts no action', async () => {
  const { rows } = await sql<{ executions: number; actions: number; used: number }>`
    select (select count(*) from all_executions) as executions,
      (select month_used from limits where subject = ${service.workspaceId}) as actions,
      (select sum(day_used) from limits where subject = ${id}) as used`.execute(service.db);
  assert.equal(rows[0]?.executions, 0);
  assert.equal(rows[0]?.actions, 0);
  assert.ok(Number(rows[0]?.used) > 0);
});
