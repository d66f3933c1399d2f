import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { singleAgent } from '../../../../harness/openai-agents.ts';
import { startService } from '../../../../harness/service.ts';
import { ModelFailure } from '../../../../src/core/model/model-port.ts';

const service = await startService();
after(service.close);
const { key } = await service.key();
await singleAgent(service, { agentName: 'One' });

test('calls of the OpenAI API count as accepted, or as refused by their code', async () => {
  const call = (path: string, body: object, by = key) =>
    service.call('POST', path, { key: by, body });
  const messages = [{ role: 'user', content: 'x' }];
  await call('/v1/responses', { model: 'one', input: 'x' });
  service.models.script(new ModelFailure('PROVIDER_AUTH', 'No.'));
  await call('/v1/chat/completions', { model: 'one', messages });
  await call('/v1/responses', { model: 'one', input: 'x', foo: 1 });
  await call('/v1/responses', { model: 'nothing', input: 'x' });
  const limited = await service.key({ rateLimits: { requestsPerDay: 0 } });
  await call('/v1/responses', { model: 'one', input: 'x' }, limited.key);
  const text = await (await fetch(`${service.url}/metrics`)).text();
  assert.match(text, /^cueline_executions_accepted_total 2$/m);
  for (const code of ['INVALID_REQUEST', 'NOT_FOUND', 'RATE_LIMIT_EXCEEDED']) {
    assert.match(text, new RegExp(`^cueline_executions_refused_total\\{code="${code}"\\} 1$`, 'm'));
  }
});
