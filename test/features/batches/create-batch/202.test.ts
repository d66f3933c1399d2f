import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../../../harness/agents.ts';
import {
  batchWhen,
  jsonLines,
  namedLines,
  resultsOf,
  unlimited,
  upload,
} from '../../../../harness/batches.ts';
import { startService } from '../../../../harness/service.ts';
import { inlineCharsMax } from '../../../../src/core/compute.ts';
import { fromId } from '../../../../src/core/id.ts';
import { sql } from '../../../../src/db/sql.ts';

const service = await startService();
after(service.close);
const { key } = await service.key({ rateLimits: unlimited });

test('each line becomes one execution, and the results are in the order of the file', async () => {
  const agent = await addAgent(service, { model: 'cueline/echo' });
  const lines = namedLines(300);
  const { status, body, headers } = await upload(service, agent, jsonLines(lines), { key });
  assert.equal(status, 202);
  const { batchId, statusUrl } = body;
  assert.equal(statusUrl, `${agent.path}/batches/${batchId}`);
  assert.equal(headers.get('location'), statusUrl);
  const batch = await batchWhen(service, statusUrl, key);
  assert.equal(batch.status, 'completed');
  assert.deepEqual(batch.counts, {
    ...{ total: 300, waiting: 0, processing: 0, success: 300, failed: 0, canceled: 0, refused: 0 },
  });
  assert.deepEqual(
    [batch.promptVersionId, batch.promptVersionLabel, batch.waitingFor, batch.canceledBecause],
    [agent.promptVersionId, 'v1', null, null],
  );
  const results = await resultsOf(service, statusUrl, key);
  assert.deepEqual(
    results.map(({ executionId, outputText, ...one }) => {
      assert.match(executionId, /^exe_/);
      assert.match(outputText, /./);
      return one;
    }),
    lines.map(({ id }, index) => {
      return { line: index + 1, id, status: 'success', error: null, errorCode: null };
    }),
  );
  const executionIds = new Set(results.map(({ executionId }) => executionId));
  assert.equal(executionIds.size, 300);
  const { rows } = await sql<{ records: number; used: number }>`
    select (select count(*) from executions where batch_id = ${fromId('batch', batchId)}) as records,
      (select month_used from limits where subject = ${service.workspaceId}) as used`.execute(
    service.db,
  );
  assert.deepEqual(rows[0], { records: 300, used: 300 });
});

test('a long line becomes an execution like any other', async () => {
  const agent = await addAgent(service, { model: 'cueline/echo' });
  const name = 'x'.repeat(inlineCharsMax);
  const { body } = await upload(service, agent, jsonLines([{ id: 'a', variables: { name } }]), {
    key,
  });
  await batchWhen(service, body.statusUrl, key);
  const [result] = await resultsOf(service, body.statusUrl, key);
  assert.deepEqual([result?.id, result?.outputText], ['a', `Hello ${name}`]);
});

test('a record names its batch and has source api, and lists and exports filter by it', async () => {
  const agent = await addAgent(service);
  const lines = [
    {
      id: 'a',
      variables: { name: 'Ada' },
      user: 'u1',
      session: 's1',
      tags: ['t'],
      metadata: { k: 'v' },
    },
  ];
  const { body } = await upload(service, agent, jsonLines(lines), { key });
  await batchWhen(service, body.statusUrl, key);
  await service.call('POST', `${agent.path}/execute`, { key, body: { variables: { name: 'x' } } });
  const path = `${agent.path}/executions?batchId=${body.batchId}`;
  const { body: list } = await service.call('GET', path, { key });
  assert.equal(list.pagination.total, 1);
  const [record] = list.executions;
  const { batchId, source, user, session, tags, metadata } = record;
  assert.deepEqual(
    { batchId, source, user, session, tags, metadata, apiKeyId: record.apiKeyId },
    {
      ...{ batchId: body.batchId, source: 'api', user: 'u1', session: 's1', tags: ['t'] },
      ...{ metadata: { k: 'v' }, apiKeyId: record.apiKeyId },
    },
  );
  const [result] = await resultsOf(service, body.statusUrl, key);
  assert.equal(result.executionId, record.executionId);
  const exported = await fetch(
    `${service.url}${agent.path}/executions/export?batchId=${body.batchId}`,
    { headers: { authorization: `Bearer ${key}` } },
  );
  assert.equal(JSON.parse(await exported.text()).batchId, body.batchId);
});

test('invalid lines are refused alone, and named in the results', async () => {
  const agent = await addAgent(service);
  const file = [
    '{"id":"ok","variables":{"name":"x"}}',
    '',
    'not json',
    '[]',
    '{"variables":{"name":"x"}}',
    '{"id":"","variables":{"name":"x"}}',
    '{"id":"missing","variables":{}}',
    '{"id":"none"}',
    '{"id":"unknown","variables":{"name":"x"},"stream":true}',
    '{"id":"ok","variables":{"name":"y"}}',
    '{"id":"tags","variables":{"name":"x"},"tags":"no"}',
    `{"id":"long","variables":{"name":"${'x'.repeat(1_048_576)}"}}`,
    '{"id":"nul","variables":{"name":"\\u0000"}}',
    '{"id":"last","variables":{"name":"z"}}\r',
  ].join('\n');
  const { body } = await upload(service, agent, file, { key, contentType: 'application/x-ndjson' });
  const { counts, status } = await batchWhen(service, body.statusUrl, key);
  assert.deepEqual(
    [status, counts.total, counts.success, counts.refused],
    ['completed', 13, 2, 11],
  );
  const results = await resultsOf(service, body.statusUrl, key);
  assert.deepEqual(
    results.map(({ line, id, status, errorCode }) => [line, id, status, errorCode]),
    [
      [1, 'ok', 'success', null],
      [3, null, 'refused', 'MALFORMED_BODY'],
      [4, null, 'refused', 'INVALID_REQUEST'],
      [5, null, 'refused', 'INVALID_REQUEST'],
      [6, null, 'refused', 'INVALID_REQUEST'],
      [7, 'missing', 'refused', 'MISSING_VARIABLES'],
      [8, 'none', 'refused', 'MISSING_VARIABLES'],
      [9, 'unknown', 'refused', 'INVALID_REQUEST'],
      [10, 'ok', 'refused', 'DUPLICATE_ID'],
      [11, 'tags', 'refused', 'INVALID_REQUEST'],
      [12, null, 'refused', 'BODY_TOO_LARGE'],
      [13, 'nul', 'refused', 'INVALID_VARIABLES'],
      [14, 'last', 'success', null],
    ],
  );
  const refused = results.filter(({ status }) => status !== 'success');
  const found = await resultsOf(service, body.statusUrl, key, '?status=failed,refused');
  assert.deepEqual(found, refused);
  const unknown = resultsOf(service, body.statusUrl, key, '?status=invalid');
  await assert.rejects(unknown, /^Error: 400 .*must be one of waiting/);
  for (const { error, executionId, outputText } of refused) {
    assert.match(error, /\.$/);
    assert.deepEqual([executionId, outputText], [null, null]);
  }
});

test('a batch without a valid line is completed at once', async () => {
  const agent = await addAgent(service);
  const { body } = await upload(service, agent, '{}\n', { key });
  const { body: batch } = await service.call('GET', body.statusUrl, { key });
  assert.deepEqual([batch.status, batch.counts.refused], ['completed', 1]);
});

test('lines use the version that was pinned at the upload', async () => {
  const agent = await addAgent(service, { rateLimits: { requestsPerDay: 1 } });
  const { body } = await upload(service, agent, jsonLines(namedLines(3)), { key });
  await batchWhen(service, body.statusUrl, key, ({ waitingFor }) => waitingFor === 'rate_limit');
  const other = await addAgent(service, { user: 'Bye {{name}}' });
  await sql`
    update agents set prompt_version_id = ${fromId('version', other.promptVersionId)},
      requests_per_day = null where id = ${agent.id}`.execute(service.db);
  await batchWhen(service, body.statusUrl, key);
  const { body: list } = await service.call('GET', `${agent.path}/executions`, { key });
  assert.deepEqual(
    list.executions.map((one: { promptVersionId: string }) => one.promptVersionId),
    Array(3).fill(agent.promptVersionId),
  );
});

test('the name of the file is stored, and validated', async () => {
  const agent = await addAgent(service);
  const send = (fileName: string) =>
    service.call('POST', `${agent.path}/batches?fileName=${encodeURIComponent(fileName)}`, {
      ...{ key, body: jsonLines(namedLines(1)), headers: { 'content-type': 'application/jsonl' } },
    });
  const name = `${'ü'.repeat(249)}.jsonl`;
  const { body } = await send(name);
  assert.equal((await batchWhen(service, body.statusUrl, key)).fileName, name);
  for (const invalid of ['', ' ', `${name}x`, 'a\nb', 'a\u202eb']) {
    const { status, body } = await send(invalid);
    assert.deepEqual([status, body.code], [400, 'INVALID_REQUEST'], invalid);
    assert.match(body.message, /^Parameter "fileName"/);
  }
  const { body: listed } = await service.call('GET', `${agent.path}/batches`, { key });
  assert.equal(listed.pagination.total, 1);
});
