import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type ClientRequest, get } from 'node:http';
import { after, test } from 'node:test';
import { addAgent } from '../../../../harness/agents.ts';
import { startService } from '../../../../harness/service.ts';

const readersOfWorkspaceMax = 90;
const atOnce = 10;

const service = await startService({ shareLimits: { streams: 100 } });
after(service.close);

test('a workspace has as many readers as its share, and again after one has left', async () => {
  const { key } = await service.key();
  const { key: second } = await service.key();
  const agent = await addAgent(service);
  const held = service.models.hold();
  const body = { variables: { name: 'you' } };
  const { statusUrl } = (await service.call('POST', `${agent.path}/execute`, { key, body })).body;
  await held.arrived;

  const path = `${statusUrl}/stream`;
  const open: ClientRequest[] = [];
  /** The status, once the first bytes of the stream are there. */
  const read = async (by: string): Promise<number | undefined> => {
    const headers = { authorization: `Bearer ${by}`, accept: 'text/event-stream' };
    const request = get(service.url + path, { headers, agent: false });
    request.on('error', () => {});
    open.push(request);
    const [response] = await once(request, 'response');
    response.on('error', () => {});
    if (response.statusCode === 200) await once(response, 'data');
    return response.statusCode;
  };
  while (open.length < readersOfWorkspaceMax) {
    const statuses = await Promise.all(Array.from({ length: atOnce }, () => read(key)));
    assert.deepEqual(new Set(statuses), new Set([200]));
  }
  for (const one of [key, second]) {
    const refused = await service.call('GET', path, { key: one });
    assert.deepEqual([refused.status, refused.body.code], [503, 'UNAVAILABLE']);
    assert.match(refused.headers.get('retry-after') ?? '', /^\d+$/);
  }
  assert.equal((await service.call('GET', statusUrl, { key })).body.status, 'processing');

  open[0]?.destroy();
  let status: number | undefined;
  while (status !== 200) status = await read(key);
  held.release();
  for (const request of open) request.destroy();
  const logged = service.faults.splice(0) as { readonly msg: string }[];
  assert.deepEqual(new Set(logged.map(({ msg }) => msg)), new Set(['request rejected']));
});
