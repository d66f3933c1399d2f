import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { after, test } from 'node:test';
import { addAgent } from '../../../../harness/agents.ts';
import { during, untilBlocked } from '../../../../harness/locks.ts';
import { startService } from '../../../../harness/service.ts';
import { addWorkflow, step } from '../../../../harness/workflow-runs.ts';
import { toId } from '../../../../src/core/id.ts';
import { lockLimits } from '../../../../src/engine/fields/limit-rows.ts';
import { setRole } from '../../../../src/features/people/statements/members.ts';

/** A caller that is removed or revoked while its request arrives is rejected. */

const service = await startService();
after(service.close);
const agent = await addAgent(service, { user: 'Hello' });
const workflow = await addWorkflow(service, { steps: [step({ name: 'only', agent })] });

type Who = Readonly<Record<string, string>>;

/** Sends the headers and the first byte; the returned function sends the rest and reads the response. */
async function begin(method: string, path: string, who: Who, body: object) {
  const whole = JSON.stringify(body);
  const headers = { ...who, 'content-type': 'application/json', 'content-length': whole.length };
  const sending: ClientRequest = request(service.url + path, { method, headers });
  const answered = once(sending, 'response') as Promise<[IncomingMessage]>;
  sending.write(whole.slice(0, 1));
  await once(sending, 'socket');
  // By then the server has processed the headers.
  await service.call('GET', '/healthz');
  return async () => {
    sending.end(whole.slice(1));
    const [response] = await answered;
    return { status: response.statusCode, body: JSON.parse(await text(response)) };
  };
}

const calls: [what: string, method: string, path: string, body: object][] = [
  ['execute', 'POST', `/api/v1/agents/${agent.agentId}/execute`, { variables: {} }],
  ['execute a workflow', 'POST', `/api/v1/workflows/${workflow.workflowId}/execute`, { input: {} }],
  ['change an agent', 'PATCH', `/api/v1/agents/${agent.agentId}`, { project: 'late' }],
  ['make a prompt', 'POST', '/api/v1/prompts', { name: 'Late' }],
];
for (const [what, method, path, body] of calls) {
  test(`${what}: 401 for a key that is revoked before the body is complete`, async () => {
    const { key, apiKeyId } = await service.key();
    const end = await begin(method, path, { authorization: `Bearer ${key}` }, body);
    const user = service.ownerId;
    const revoked = await service.call('POST', `/api/v1/keys/${apiKeyId}/revoke`, { user });
    assert.equal(revoked.status, 200);
    assert.equal((await end()).status, 401);
  });
}

const sessionCalls: [what: string, path: string, body: object][] = [
  ['execute', `/api/agents/${agent.agentId}/execute`, { variables: {} }],
  ['execute a workflow', `/api/workflows/${workflow.workflowId}/execute`, { input: {} }],
  ['make a prompt', '/api/v1/prompts', { name: 'Late' }],
];
for (const [what, path, body] of sessionCalls) {
  test(`${what}: 401 for a member who is removed before the body is complete`, async () => {
    const signedIn = await service.signIn('editor');
    const { body: me } = await service.call('GET', '/api/v1/me', { cookie: signedIn.cookie });
    const who = { cookie: signedIn.cookie, origin: service.url };
    const end = await begin('POST', path, who, body);
    const removed = await service.call('DELETE', `/api/v1/members/${me.user.userId}`, {
      user: service.ownerId,
    });
    assert.equal(removed.status, 204);
    assert.equal((await end()).status, 401);
  });
}

const changes: [what: string, method: string, body: object | undefined, responses: number[]][] = [
  ['removed', 'DELETE', undefined, [204, 401]],
  ['made a viewer', 'PATCH', { role: 'viewer' }, [200, 403]],
];
for (const [what, path, body] of sessionCalls.slice(0, 2)) {
  for (const [changed, method, change, responses] of changes) {
    test(`${what}: the request of a member who is ${changed} waits for the change`, async () => {
      const { cookie, userId } = await service.signIn('editor');
      const member = `/api/v1/members/${toId('user', userId)}`;
      const sent: ReturnType<typeof service.call>[] = [];
      await service.db.transaction(async (trx) => {
        await lockLimits(trx, [service.workspaceId]);
        sent.push(
          service.call(method, member, { user: service.ownerId, ...(change && { body: change }) }),
        );
        await untilBlocked(service.db, 1);
        sent.push(service.call('POST', path, { cookie, body }));
        await untilBlocked(service.db, 2);
      });
      const statuses = (await Promise.all(sent)).map(({ status }) => status);
      assert.deepEqual(statuses, responses);
    });
  }
}

test('a request that waits for a role change uses the new role', async () => {
  const { cookie, userId } = await service.signIn('viewer');
  const path = `/api/agents/${agent.agentId}/execute`;
  const { status } = await during(
    service.db,
    async (trx) => {
      await lockLimits(trx, [service.workspaceId]);
      await setRole(trx, service.workspaceId, userId, 'owner');
    },
    () => service.call('POST', path, { cookie, body: { variables: {} } }),
  );
  assert.equal(status, 202);
});

test('a key that is revoked during a long poll reads no output', async () => {
  // If the execution ends before the first read, nothing has waited, and the test retries.
  for (let tries = 1; ; tries++) {
    const { key, apiKeyId } = await service.key();
    const heldCall = service.models.hold();
    const call = { key, body: { variables: {} } };
    const { body } = await service.call('POST', `${agent.path}/execute`, call);
    await heldCall.arrived;
    const waiting = service.call('GET', `${body.statusUrl}?wait=60`, { key });
    const { body: one } = await service.call('GET', body.statusUrl, { key });
    assert.equal(one.status, 'processing');
    await service.call('POST', `/api/v1/keys/${apiKeyId}/revoke`, { user: service.ownerId });
    heldCall.release({ text: 'secret' });
    const { status } = await waiting;
    if (status === 401) break;
    assert.ok(tries < 10, `answered ${status} each time`);
  }
});
