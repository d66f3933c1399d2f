import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startSystemApp } from '../../../../harness/system-app.ts';
import { sampledOpenapi } from '../../../openapi-samples.ts';

const app = await startSystemApp();
after(app.close);

for (const encoding of ['identity', 'gzip, br']) {
  test(`the description is the one of the declarations, sent as ${encoding}`, async () => {
    const headers = { 'accept-encoding': encoding };
    const response = await fetch(`${app.url}/openapi.json`, { headers });
    assert.equal(response.status, 200);
    assert.equal(response.headers.get('content-type'), 'application/json; charset=utf-8');
    assert.equal(response.headers.get('vary'), 'accept-encoding');
    const expected = encoding === 'identity' ? null : 'gzip';
    assert.equal(response.headers.get('content-encoding'), expected);
    assert.deepEqual(await response.json(), JSON.parse(JSON.stringify(sampledOpenapi('1.2.3'))));
  });
}
