import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../../harness/agents.ts';
import { post } from '../../../harness/mcp.ts';
import { startService } from '../../../harness/service.ts';
import { ResponseBudget } from '../../../src/faces/mcp/response-budget.ts';
import {
  mcpProgressBytesMax,
  mcpResponseBytesMax,
} from '../../../src/http/contract/contract-limits.ts';

/** Batches of JSON-RPC: each message counts, and the response of all of them is bounded. */

const listPerMinute = 12;
const service = await startService({ config: { listPerMinute } });
after(service.close);
const headers = { 'mcp-protocol-version': '2025-03-26' };
const lists = (count: number) =>
  Array.from({ length: count }, (_, id) => ({ jsonrpc: '2.0', id, method: 'tools/list' }));

test('each list of a batch counts, and a batch beyond the limit is refused as a whole', async () => {
  const { key } = await service.key();
  const remaining = async (count: number) => {
    const response = await post(service, lists(count), { key, headers });
    assert.equal(response.status, 200);
    return response.headers.get('x-ratelimit-remaining');
  };
  // A new minute may begin between two of them.
  assert.equal(await remaining(5), String(listPerMinute - 5));
  const refused = await post(service, lists(listPerMinute + 1), { key, headers });
  assert.deepEqual([refused.status, refused.body.code], [429, 'RATE_LIMIT_EXCEEDED']);
  assert.ok(Number(refused.headers.get('retry-after')) >= 1);
});

test('a batch has at most 100 messages, and a longer one does nothing', async () => {
  await addAgent(service, { slug: 'called' });
  const params = { name: 'called', arguments: { name: 'x' } };
  const calls = Array.from({ length: 101 }, (_, id) => {
    return { jsonrpc: '2.0', id, method: 'tools/call', params };
  });
  const { key } = await service.key();
  const { status, body } = await post(service, calls, { key, headers });
  assert.deepEqual([status, body.error.code], [400, -32600]);
  // Of a key without `execute`, each of the first hundred calls is refused and counted.
  const rateLimits = { requestsPerMinute: 100, requestsPerHour: null, requestsPerDay: null };
  const { key: reading } = await service.key({ permissions: ['read'], rateLimits });
  assert.equal((await post(service, calls, { key: reading, headers })).status, 403);
});

test('the results of a batch have at most 8 MiB, and the lists beyond are errors', async () => {
  const strange = await service.workspace();
  const { key } = await service.key({ ...strange, userId: strange.ownerId });
  const large = 'x'.repeat(60_000);
  for (let one = 0; one < 36; one++) {
    await addAgent(service, {
      ...{ ...strange, createdBy: strange.ownerId, slug: `large-${one}` },
      ...{ optionalVariables: ['a'], defaultVariableValues: { a: large } },
    });
  }
  const response = await post(service, lists(8), { key, headers });
  const messages = [...response.notifications, response.body].flat();
  assert.equal(messages.length, 8);
  const bytes = messages.reduce((sum, one) => sum + JSON.stringify(one).length, 0);
  assert.ok(bytes <= mcpResponseBytesMax + 8 * 1_000, String(bytes));
  const failed = messages.filter(({ error }) => error !== undefined);
  assert.ok(failed.length >= 3 && failed.length < 8);
  for (const { error } of failed) assert.match(error.message, /exceed 8388608 bytes/);
});

test('the lists of a request run one after another', async () => {
  const budget = new ResponseBudget();
  const events: string[] = [];
  const first = Promise.withResolvers<void>();
  const work = (name: string, until: Promise<void>) => async () => {
    events.push(`${name} begins`);
    await until;
    events.push(`${name} ends`);
    return {};
  };
  const all = [
    budget.inTurn(work('first', first.promise)),
    budget.inTurn(async () => assert.fail('a failure delays nothing')).catch(() => {}),
    budget.inTurn(work('second', Promise.resolve())),
  ];
  await Promise.resolve();
  first.resolve();
  await Promise.all(all);
  assert.deepEqual(events, ['first begins', 'first ends', 'second begins', 'second ends']);
});

test('messages about progress leave room for a result, and a lost result keeps its links', () => {
  const budget = new ResponseBudget();
  assert.ok(budget.spendOnProgress('x'.repeat(mcpProgressBytesMax)));
  assert.ok(!budget.spendOnProgress('x'));
  budget.spend({ text: 'x'.repeat(6 * 1_048_576) });
  const _meta = { statusUrl: '/there' };
  assert.throws(() => budget.spend({ text: 'x'.repeat(1_048_576), _meta }), { data: _meta });
});
