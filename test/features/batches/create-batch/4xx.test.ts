import assert from 'node:assert/strict';
import { request } from 'node:http';
import { after, test } from 'node:test';
import { addAgent } from '../../../../harness/agents.ts';
import { jsonLines, namedLines, unlimited, upload } from '../../../../harness/batches.ts';
import { startService } from '../../../../harness/service.ts';
import { batchBytesMax, batchLinesMax } from '../../../../src/core/batch/batch.ts';
import { sql } from '../../../../src/db/sql.ts';

const service = await startService();
after(service.close);
const { key } = await service.key({ rateLimits: unlimited });
const file = jsonLines(namedLines(2));

async function storedBatches(agentId: string): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from batches where agent_id = ${agentId}`.execute(service.db);
  return rows[0]?.count ?? -1;
}

test('refusals follow the order of an execute call', async () => {
  const agent = await addAgent(service);
  const paused = await addAgent(service, { stage: 'Paused' });
  const { agentId: unknown } = await addAgent(service, {
    workspaceId: (await service.workspace()).workspaceId,
  });
  const { key: reading } = await service.key({ permissions: ['read'] });
  const { key: tied } = await service.key({ agentIds: [agent.agentId] });
  const bad = { path: `/api/v1/agents/${unknown}` };
  const cases: [{ path: string }, string, string, number, string][] = [
    [bad, `${key.slice(0, -1)}x`, '', 401, 'UNAUTHORIZED'],
    [bad, reading, '', 404, 'NOT_FOUND'],
    [paused, tied, '', 401, 'UNAUTHORIZED'],
    [paused, reading, '', 403, 'PERMISSION_DENIED'],
    [paused, key, '', 403, 'AGENT_NOT_ACTIVE'],
    [agent, key, '', 400, 'INVALID_REQUEST'],
    [agent, key, '\n \n', 400, 'INVALID_REQUEST'],
    [agent, key, '\ufeff', 400, 'INVALID_REQUEST'],
  ];
  for (const [target, as, body, status, code] of cases) {
    const response = await upload(service, target, body, { key: as });
    assert.deepEqual([response.status, response.body.code], [status, code]);
  }
  assert.equal(await storedBatches(agent.id), 0);
});

test('accepts JSON Lines only', async () => {
  const agent = await addAgent(service);
  for (const contentType of [
    'application/json',
    'text/plain',
    'application/jsonl; charset=latin1',
  ]) {
    const { status, body } = await upload(service, agent, file, { key, contentType });
    assert.deepEqual([status, body.code], [415, 'UNSUPPORTED_MEDIA_TYPE']);
  }
  const { status } = await service.call('POST', `${agent.path}/batches?x=1`, {
    key,
    body: file,
    headers: { 'content-type': 'application/jsonl' },
  });
  assert.equal(status, 400);
});

test('too many lines are refused as a whole, and none of them runs', async () => {
  const agent = await addAgent(service);
  const body = jsonLines(namedLines(batchLinesMax + 1));
  const response = await upload(service, agent, body, { key, idempotencyKey: 'many' });
  assert.deepEqual([response.status, response.body.code], [413, 'BODY_TOO_LARGE']);
  assert.equal(await storedBatches(agent.id), 0);
  const { rows } = await sql`select from all_executions where agent_id = ${agent.id}`.execute(
    service.db,
  );
  assert.equal(rows.length, 0);
});

test('too many bytes are refused as a whole, whether announced or not', async () => {
  const agent = await addAgent(service);
  const options = {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/jsonl' },
  };
  const announced = { ...options.headers, 'content-length': String(batchBytesMax + 1) };
  const url = `${service.url}${agent.path}/batches`;
  for (const headers of [announced, options.headers]) {
    const status = await new Promise((resolve, reject) => {
      const sending = request(url, { ...options, headers }, (response) => {
        response.resume();
        resolve(response.statusCode);
        sending.destroy();
      });
      sending.on('error', reject);
      const line = `{"id":"1","variables":{"name":"${'x'.repeat(1_000_000)}"}}\n`;
      const send = () => {
        while (!sending.destroyed && sending.write(line));
      };
      sending.on('drain', send);
      send();
    });
    assert.equal(status, 413);
  }
  assert.equal(await storedBatches(agent.id), 0);
});

test('a malformed Idempotency-Key is an error', async () => {
  const agent = await addAgent(service);
  const { status } = await upload(service, agent, file, { key, idempotencyKey: 'x'.repeat(256) });
  assert.equal(status, 400);
});
