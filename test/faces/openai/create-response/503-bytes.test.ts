import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { modern } from '../../../../harness/mcp.ts';
import { singleAgent } from '../../../../harness/openai-agents.ts';
import { startService } from '../../../../harness/service.ts';
import { readMetric } from '../../../../harness/unread-client.ts';

/** A quarter of these is for what open calls keep of their requests. */
const service = await startService({ config: { streamBytes: 1_600_000 } });
after(service.close);
const { key } = await service.key();
await singleAgent(service, { agentName: 'One', allowInstructions: true });

const long = 'x'.repeat(150_000);
const call = (body: object) =>
  service.call('POST', '/v1/responses', { key, body: { model: 'one', input: 'Hi', ...body } });

test('open calls keep their share of instructions, and no messages', async () => {
  const waiting = service.models.hold();
  const first = call({ instructions: long });
  await waiting.arrived;
  const used = await readMetric(service.url, 'cueline_stream_bytes_held');
  assert.ok(used >= 2 * long.length && used < 2 * long.length + 2_000, `${used} bytes`);

  for (const stream of [false, true]) {
    const refused = await call({ instructions: long, stream });
    assert.equal(refused.status, 503);
    assert.match(
      refused.body.error.message,
      /their share of the memory .*: 360000 of 400000 bytes/,
    );
    assert.match(refused.headers.get('retry-after') ?? '', /^\d+$/);
  }
  assert.equal((await call({ input: long })).status, 200);

  waiting.release();
  assert.equal((await first).status, 200);
  assert.equal((await call({ instructions: long })).status, 200);
  assert.equal(await readMetric(service.url, 'cueline_stream_bytes_held'), 0);
  const logged = service.faults.splice(0) as { readonly msg: string }[];
  assert.deepEqual(new Set(logged.map(({ msg }) => msg)), new Set(['request rejected']));
});

test('a call over MCP keeps its request without its arguments until it ends', async () => {
  const waiting = service.models.hold();
  const params = { name: 'one', arguments: { question: 'Hi' }, _meta: { long } };
  const first = modern(service, 'tools/call', params, { key });
  await waiting.arrived;
  const used = await readMetric(service.url, 'cueline_stream_bytes_held');
  assert.ok(used >= 2 * long.length && used < 2 * long.length + 2_000, `${used} bytes`);
  const refused = await modern(service, 'tools/call', params, { key });
  assert.equal(refused.status, 503);
  waiting.release();
  assert.equal((await first).status, 200);
  while ((await readMetric(service.url, 'cueline_stream_bytes_held')) > 0);
  service.faults.splice(0);
});
