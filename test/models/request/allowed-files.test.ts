import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import { askModel } from '../../../harness/ask-model.ts';
import { startFakeProvider } from '../../../harness/fake-provider.ts';

/** Files at hosts that only this machine reaches: the provider gets their bytes. */

const png = Buffer.from('89504e470d0a1a0a', 'hex');
const requested: string[] = [];
const files = createServer((request, response) => {
  requested.push(request.url ?? '');
  if (request.url === '/moved') response.writeHead(302, { location: '/a.png' }).end();
  else response.setHeader('content-type', 'image/png').end(png);
});
files.listen(0, '127.0.0.1');
await once(files, 'listening');
after(() => files.close());
const host = `127.0.0.1:${(files.address() as AddressInfo).port}`;
const fake = await startFakeProvider();
after(fake.close);

const ask = (path: string, allowedHosts: readonly string[]) =>
  askModel(
    fake,
    {},
    {
      allowedHosts,
      messages: [
        {
          role: 'user',
          content: [
            { text: 'What?' },
            { image: { variable: 'photo', value: `http://${host}${path}` } },
          ],
        },
      ],
    },
  );

for (const path of ['/a.png', '/moved']) {
  test(`${path} at an allowed host is fetched, also for a provider that takes URLs`, async () => {
    await ask(path, [fake.host, host]);
    const [, part] = fake.calls.at(-1)?.body.messages.at(-1).content ?? [];
    assert.equal(part.image_url.url, `data:image/png;base64,${png.toString('base64')}`);
    assert.ok(requested.includes(path));
  });
}

test('a host that is not allowed is not asked', async () => {
  requested.length = 0;
  await assert.rejects(ask('/a.png', [fake.host]), /CUELINE_ALLOWED_HOSTS|public address/);
  assert.deepEqual(requested, []);
});
