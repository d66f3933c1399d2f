import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../../harness/agents.ts';
import { legacy, modern } from '../../../harness/mcp.ts';
import { startService } from '../../../harness/service.ts';

const service = await startService();
after(service.close);
const { key } = await service.key();
const greeter = await addAgent(service, { slug: 'greeter' });
const hello = { name: 'greeter', arguments: { name: 'Ada' } };

for (const [era, send] of [
  ['2026-07-28', modern],
  ['an earlier revision', legacy],
] as const) {
  test(`a process that shuts down leaves the calls of ${era} to the others`, async () => {
    const second = await startService({ sharedWith: service, role: 'api' });
    const held = service.models.hold();
    const answered = send(second, 'tools/call', hello, { key });
    await held.arrived;
    await second.close();
    const { result } = (await answered).body;
    assert.equal(result.isError, true);
    assert.match(result.content[0].text, /shuts down.*continues: read its result at/s);
    held.release();
    const { executionId } = result._meta;
    const path = `${greeter.path}/executions/${executionId}?wait=60`;
    assert.equal((await service.call('GET', path, { key })).body.status, 'success');
  });
}
