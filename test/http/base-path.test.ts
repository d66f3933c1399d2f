import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent, ended } from '../../harness/agents.ts';
import { startService } from '../../harness/service.ts';
import { createClient } from '../../src/client/index.ts';
import { cueline, jsonLines } from '../cli/cueline.ts';

/** The service under a path, behind a proxy that removes it and behind one that does not. */

const publicUrl = 'http://cueline.example.com/some/cueline';
const basePath = '/some/cueline';
const service = await startService({ publicUrl });
after(service.close);
const { key } = await service.key();
const agent = await addAgent(service, { user: 'About {{topic}}' });

for (const prefix of ['', basePath]) {
  const proxy = prefix === '' ? 'a proxy that removes the path' : 'a proxy that keeps the path';
  const url = service.url + prefix;

  test(`behind ${proxy} an execution starts and its status is at statusUrl`, async () => {
    const response = await fetch(`${url}${agent.path}/execute`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ variables: { topic: 'tides' } }),
    });
    assert.equal(response.status, 202);
    const { statusUrl, executionId } = (await response.json()) as Record<string, string>;
    assert.equal(statusUrl, `${basePath}${agent.path}/executions/${executionId}`);
    assert.equal(response.headers.get('location'), statusUrl);
    const stripped = (statusUrl ?? '').slice(basePath.length);
    const record = await ended(service, stripped, key);
    assert.equal(record.status, 'success');
    const direct = await fetch(service.url + statusUrl, {
      headers: { authorization: `Bearer ${key}` },
    });
    assert.equal(((await direct.json()) as { status: string }).status, 'success');
  });

  test(`behind ${proxy} pages name their files and the API with the path`, async () => {
    for (const path of ['/', '/agents/x', '/docs']) {
      const page = await (await fetch(url + path, { headers: { accept: 'text/html' } })).text();
      const files = [...page.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, file = '']) => file);
      assert.ok(files.length > 0);
      for (const file of files) {
        assert.ok(file.startsWith(`${basePath}/assets/`), file);
        assert.equal((await fetch(service.url + file)).status, 200);
      }
      assert.doesNotMatch(page, /\{\{base-path\}\}/);
    }
    const home = await (await fetch(`${url}/`)).text();
    assert.match(home, new RegExp(`data-base-path="${basePath}"`));
    const document = await (await fetch(`${url}/openapi.json`)).json();
    assert.equal((document as { servers: { url: string }[] }).servers[0]?.url, basePath);
  });

  test(`behind ${proxy} health, readiness and unknown paths respond`, async () => {
    for (const path of ['/healthz', '/readyz']) assert.equal((await fetch(url + path)).status, 200);
    assert.equal((await fetch(`${url}/api/v1/nothing`)).status, 404);
    assert.equal((await fetch(`${url}/api/v1/agents`, { method: 'PUT' })).status, 405);
  });

  test(`behind ${proxy} the client and the command line work`, async () => {
    const client = createClient({ baseURL: `${url}/`, key });
    const execution = await client.executeAndWait(agent.agentId, { topic: 'tides' });
    assert.equal(execution.status, 'success');
    const listed = await cueline(['history', agent.agentId, '--json'], {
      CUELINE_URL: url,
      CUELINE_KEY: key,
    });
    assert.equal(listed.code, 0, listed.stderr);
    assert.ok(jsonLines(listed).length > 0);
  });
}

test('sign-in works under the path, and links begin with it', async () => {
  const { email, cookie } = await service.signIn('owner');
  assert.ok(email);
  const session = await fetch(`${service.url}${basePath}/api/auth/get-session`, {
    headers: { cookie },
  });
  assert.equal(session.status, 200);
  assert.equal(((await session.json()) as { user: { email: string } }).user.email, email);
  const invited = await fetch(`${service.url}${basePath}/api/v1/invitations`, {
    method: 'POST',
    headers: {
      cookie,
      'content-type': 'application/json',
      origin: new URL(publicUrl).origin,
    },
    body: JSON.stringify({ email: 'new@example.com', role: 'viewer' }),
  });
  assert.equal(invited.status, 201);
  const { url } = (await invited.json()) as { url: string };
  assert.ok(url.startsWith(`${publicUrl}/invitations/`), url);
});

test('the Location of what was created begins with the path', async () => {
  const owner = await service.key({ permissions: ['execute', 'manage', 'own'] });
  const post = (path: string, body: object) =>
    fetch(service.url + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${owner.key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  const prompt = await post('/api/v1/prompts', { name: 'Located' });
  const created = [prompt, await post('/api/v1/erasures', { variable: 'email', value: 'a' })];
  const { promptId } = (await prompt.json()) as { promptId: string };
  created.push(
    await post(`/api/v1/prompts/${promptId}/versions`, { user: 'Hi', model: 'cueline/echo' }),
  );
  const steps = [{ name: 'one', agentId: agent.agentId, variables: { topic: 'tides' } }];
  const workflow = await post('/api/v1/workflows', { name: 'Located', definition: { steps } });
  const { workflowId } = (await workflow.json()) as { workflowId: string };
  created.push(
    workflow,
    await post(`/api/v1/workflows/${workflowId}/schedules`, { cron: '0 0 1 1 *' }),
  );
  created.push(await post(`/api/v1/workflows/${workflowId}/execute`, { input: {} }));
  for (const { status, headers } of created) {
    assert.ok(status === 201 || status === 202, String(status));
    assert.match(headers.get('location') ?? '', new RegExp(`^${basePath}/api/v1/`));
    const found = await fetch(service.url + headers.get('location'), {
      headers: { authorization: `Bearer ${(await service.key()).key}` },
    });
    assert.notEqual(found.status, 404);
  }
});

test('a path that only begins like the base path is another path', async () => {
  const { status } = await fetch(`${service.url}${basePath}x/healthz`);
  assert.equal(status, 404);
  const query = await fetch(`${service.url}${basePath}?a=1`, { headers: { accept: 'text/html' } });
  assert.equal(query.status, 200);
});
