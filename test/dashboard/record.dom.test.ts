import assert from 'node:assert/strict';
import { test } from 'node:test';
import { refusingLimit } from '../../dashboard/pages/history/refusing-limit.ts';
import { addAgent, run } from '../../harness/agents.ts';
import { makeAgent, makePrompt, move } from '../../harness/prompts.ts';
import type { WindowState } from '../../src/core/agent/limits.ts';
import { limitMessage } from '../../src/core/execution/refusal-messages.ts';
import { fromId } from '../../src/core/id.ts';
import { ModelFailure } from '../../src/core/model/model-port.ts';
import { sql } from '../../src/db/sql.ts';
import { openPages } from './in-dom.ts';

const { service, visit } = await openPages();

test('the record puts the reason before everything else', async () => {
  const { key } = await service.key();
  const agent = await addAgent(service, { config: { maxAttempts: 1 } });
  service.models.script(new ModelFailure('MODEL_TIMEOUT', 'It took too long.'));
  const { executionId } = await run(service, agent, key);
  const { page, check } = await visit(`/history/${agent.agentId}/${executionId}`, { as: 'editor' });
  await page.getByRole('region', { name: 'Error' }).getByText('It took too long.').waitFor();
  const text = await page.getByRole('article').innerText();
  // The header of the page says what it is; the article begins with the reason.
  assert.match(text, /^It took too long\..*MODEL_TIMEOUT.*exe_.*Queued/s);
  await page.getByRole('link', { name: 'Raise the timeout of the agent' }).waitFor();
  await check();
});

test('the advice for a limit names the one that refused, and leads to it', async () => {
  const { key } = await service.key();
  const agent = await addAgent(service, { config: { maxAttempts: 1 } });
  service.models.script(new ModelFailure('PROVIDER_ERROR', 'Down.'));
  const { executionId } = await run(service, agent, key);
  const path = `/history/${agent.agentId}/${executionId}`;
  for (const [whose, link] of [
    ['the agent', 'Raise the limit of the agent'],
    ['the API key', 'Raise the limit of the API key'],
    ['the Testing stage', 'Deploy the agent, which lifts the limits of the Testing stage'],
  ] as const) {
    const error = `Rate limit of ${whose} exceeded: 5 per minute.`;
    await sql`update executions set status = 'rate_limited', error_code = 'RATE_LIMIT_EXCEEDED', error = ${error}
      where id = ${fromId('execution', executionId)}`.execute(service.db);
    const { page } = await visit(path, { as: 'editor' });
    await page.getByText(error).waitFor();
    await page.getByRole('link', { name: link }).waitFor();
    const viewer = await visit(path, { as: 'viewer' });
    await viewer.page.getByText(error).waitFor();
    assert.equal(await viewer.page.getByRole('link', { name: link }).count(), 0);
  }
});

test('every limit that the server names is recognized', () => {
  const window = { limit: 5, window: 'minute', resetAtMs: 0, remaining: 0 };
  const limitOf = (scope: string, apiKeyId?: string) =>
    refusingLimit(limitMessage({ ...window, scope, apiKeyId } as unknown as WindowState, 'own'));
  assert.equal(limitOf('key', 'own'), 'key');
  assert.equal(limitOf('key', 'issuer'), 'key');
  assert.equal(limitOf('agent'), 'agent');
  assert.equal(limitOf('stage'), 'stage');
});

test('shows stored images and files, and earlier answers as Markdown', async () => {
  const { key } = await service.key();
  const prompt = await makePrompt(service, {
    messages: [
      { role: 'user', content: 'Begin.' },
      { role: 'assistant', content: '# Earlier\n\n- answer' },
      {
        role: 'user',
        content: [{ text: 'Look' }, { image: '{{picture}}' }, { file: '{{report}}' }],
      },
    ],
  });
  const agent = await makeAgent(service, prompt, { visibility: 'public' });
  await move(service, agent, 'enable-api');
  const picture = `data:image/png;base64,${Buffer.from('not really').toString('base64')}`;
  const report = `data:text/plain;base64,${Buffer.from('A report').toString('base64')}`;
  const { executionId } = await run(service, agent, key, { picture, report });
  const { page, check } = await visit(`/history/${agent.agentId}/${executionId}`, { as: 'viewer' });
  const files = page.getByRole('list', { name: 'Images and files' });
  await files.getByRole('img', { name: 'Contents of picture' }).waitFor();
  await files.getByRole('link', { name: 'Download text/plain' }).waitFor();
  await page.getByRole('region', { name: 'Message 2: assistant' }).getByText('Markdown').click();
  await page.getByRole('heading', { name: 'Earlier' }).waitFor();
  await check();
});
