import assert from 'node:assert/strict';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { after, test } from 'node:test';
import { addAgent, type TestAgent } from '../../harness/agents.ts';
import { jsonLines, namedLines, upload } from '../../harness/batches.ts';
import { openResponse } from '../../harness/call.ts';
import { untilBlocked } from '../../harness/locks.ts';
import { startService } from '../../harness/service.ts';
import { lockSlugs } from '../../src/features/agents/statements/slugs.ts';
import { lockDeclaration } from '../../src/features/declaration/statements/declaration-statements.ts';
import { uploadsMax } from '../../src/http/contract/contract-limits.ts';

/** What requests of one workspace hold leaves room for another workspace, however many keys they use. */

const service = await startService({ role: 'api', shareLimits: { streams: 3, waits: 3 } });
after(service.close);
const { db, workspaceId } = service;
const agent = await addAgent(service);
const keys = await Promise.all(Array.from({ length: 4 }, () => service.key()));
const keyAt = (at: number) => keys[at % keys.length]?.key ?? '';
const stranger = await service.workspace();
const foreign = await addAgent(service, { ...stranger, createdBy: stranger.ownerId });
const { key: other } = await service.key({ ...stranger, userId: stranger.ownerId });

const share = (resource: string, limit: number) => ({ resource, scope: 'workspace', limit });
const metric = async (line: string) =>
  (await (await fetch(`${service.url}/metrics`)).text()).split('\n').includes(line);

async function execute(target: TestAgent, key: string): Promise<string> {
  const { body } = await service.call('POST', `${target.path}/execute`, {
    ...{ key, body: { variables: { name: 'x' } } },
  });
  return body.statusUrl;
}

/** An upload whose body stays incomplete. Resolves once the server has stored the upload, or with its refusal. */
function openUpload(key: string): { sent: ClientRequest; answer: Promise<IncomingMessage> } {
  const sent = request(`${service.url}${agent.path}/batches`, {
    method: 'POST',
    agent: false,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/jsonl' },
  });
  sent.on('error', () => {});
  sent.write(jsonLines(namedLines(1)));
  const answer = new Promise<IncomingMessage>((resolve) => sent.on('response', resolve));
  return { sent, answer };
}

test('uploads of one workspace leave a slot for another, and a refusal needs no connection', async () => {
  const used = (count: number) => metric(`cueline_share_slots_used{resource="uploads"} ${count}`);
  const uploads = Array.from({ length: uploadsMax - 1 }, (_, at) => openUpload(keyAt(at)));
  while (!(await used(uploadsMax - 1)));
  // Before the agent is looked up.
  const unknown = { path: agent.path.replace(/.$/, 'z') };
  for (const target of [agent, unknown]) {
    const refused = await upload(service, target, '', { key: keyAt(3) });
    assert.deepEqual([refused.status, refused.body.code], [503, 'UNAVAILABLE']);
    assert.match(refused.body.message, /its share of the uploads of batches .* 7 of 8/);
    assert.deepEqual(refused.body.share, share('uploads', uploadsMax - 1));
    assert.ok(Number(refused.headers.get('retry-after')) >= 1);
  }
  assert.ok(await metric('cueline_share_refusals_total{resource="uploads",scope="workspace"} 2'));
  const theirs = await upload(service, foreign, jsonLines(namedLines(1)), { key: other });
  assert.equal(theirs.status, 202);
  for (const { sent } of uploads) sent.destroy();
  while (!(await used(0)));
  assert.equal((await upload(service, agent, '', { key: keyAt(0) })).status, 400);
  // Each refusal logs a warning.
  service.faults.splice(0);
});

test('streams of one workspace leave a slot for another, in each of its protocols', async () => {
  const own = await execute(agent, keyAt(0));
  const theirs = await execute(foreign, other);
  const open = await Promise.all(
    [0, 1].map((at) => openResponse(`${service.url}${own}/stream`, keyAt(at))),
  );
  const refused = await service.call('GET', `${own}/stream`, { key: keyAt(2) });
  assert.deepEqual([refused.status, refused.body.share], [503, share('streams', 2)]);
  const body = { model: agent.agentId, input: 'x', stream: true };
  const call = await service.call('POST', '/v1/responses', { key: keyAt(3), body });
  assert.equal(call.status, 503);
  assert.match(call.body.error.message, /its share of the open streams .* 2 of 3/);
  const followed = await service.call('POST', `${agent.path}/execute`, {
    ...{ key: keyAt(2), body: { variables: { name: 'x' } } },
    headers: { accept: 'text/event-stream' },
  });
  assert.equal(followed.status, 202, 'it is accepted, and not followed');
  const response = await openResponse(`${service.url}${theirs}/stream`, other);
  assert.equal(response.statusCode, 200);
  for (const one of [...open, response]) one.destroy();
  service.faults.splice(0);
});

test('calls that wait leave a slot for another workspace', async () => {
  const own = await execute(agent, keyAt(0));
  const waits = [0, 1].map((at) => service.call('GET', `${own}?wait=60`, { key: keyAt(at) }));
  while (!(await metric('cueline_share_slots_used{resource="waits"} 2')));
  const body = { model: agent.agentId, messages: [{ role: 'user', content: 'x' }] };
  const call = await service.call('POST', '/v1/chat/completions', { key: keyAt(2), body });
  assert.equal(call.status, 503);
  assert.match(call.body.error.message, /its share of the waits for results .* 2 of 3/);
  assert.ok(Number(call.headers.get('retry-after')) >= 1);
  const atOnce = await service.call('GET', `${own}?wait=60`, { key: keyAt(2) });
  assert.equal(atOnce.body.status, 'processing');
  const theirs = await execute(foreign, other);
  const held = service.call('GET', `${theirs}?wait=60`, { key: other });
  while (!(await metric('cueline_share_slots_used{resource="waits"} 3')));
  await service.call('POST', `${theirs}/cancel`, { key: other });
  assert.equal((await held).body.status, 'canceled');
  await service.call('POST', `${own}/cancel`, { key: keyAt(0) });
  await Promise.all(waits);
  service.faults.splice(0);
});

test('requests that wait for a lock of their workspace leave connections for another', async () => {
  const { cookie } = await service.openSession({ userId: stranger.ownerId });
  const declaration = { prompts: [], agents: [], workflows: [] };
  const prompt = await service.call('POST', '/api/v1/prompts', {
    ...{ key: keyAt(0), body: { name: 'P' } },
  });
  const version = await service.call('POST', `/api/v1/prompts/${prompt.body.promptId}/versions`, {
    ...{ key: keyAt(0), body: { user: 'x', model: 'cueline/echo' } },
  });
  const { promptId } = prompt.body;
  const { promptVersionId } = version.body;
  const requests: Promise<{ status: number }>[] = [];
  await db.transaction(async (trx) => {
    await lockDeclaration(trx, workspaceId);
    await lockSlugs(trx, workspaceId);
    for (let at = 0; at < 14; at++) {
      const created = { agentName: `A ${at}`, promptId, promptVersionId };
      requests.push(
        service.call('POST', '/api/v1/declaration', { key: keyAt(at), body: { declaration } }),
        service.call('POST', '/api/v1/agents', { key: keyAt(at), body: created }),
      );
    }
    await untilBlocked(db, 2);
    const theirs = [
      await service.call('GET', '/api/v1/me', { cookie }),
      await service.call('GET', '/api/v1/keys', { key: other }),
      await service.call('POST', `${foreign.path}/execute`, {
        ...{ key: other, body: { variables: { name: 'x' } } },
      }),
      await upload(service, foreign, jsonLines(namedLines(2)), { key: other }),
    ];
    assert.deepEqual(
      theirs.map(({ status }) => status),
      [200, 200, 202, 202],
    );
  });
  // Those that waited too long on a slow machine say for what.
  for (const { status, ...answer } of await Promise.all(requests)) {
    if (status !== 503) assert.ok([200, 201].includes(status), String(status));
    else assert.match(JSON.stringify(answer), /"resource":"(connections|declarations)"/);
  }
  service.faults.splice(0);
});
