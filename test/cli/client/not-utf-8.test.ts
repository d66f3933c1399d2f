import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { addAgent } from '../../../harness/agents.ts';
import { makePrompt } from '../../../harness/prompts.ts';
import { startService } from '../../../harness/service.ts';
import { cueline, jsonLines } from '../cueline.ts';

const service = await startService();
const folder = mkdtempSync(join(tmpdir(), 'cueline-'));
after(async () => {
  rmSync(folder, { recursive: true });
  await service.close();
});
const { key } = await service.key();
const agent = await addAgent(service);
const { promptId, path } = await makePrompt(service);
const file = join(folder, 'input');

const call = (args: readonly string[], input?: Uint8Array) =>
  cueline(args, { CUELINE_URL: service.url, CUELINE_KEY: key }, input);

test('files that are not UTF-8 are rejected with their name and the offset, and nothing is sent', async () => {
  const latin1 = (text: string) => Buffer.from(text, 'latin1');
  const addVersion = ['prompts', 'add-version', promptId, '--model', 'cueline/echo'];
  for (const [args, bytes, offset, byte] of [
    [['apply', file], latin1('prompts: [{name: "é"}]'), 18, 'e9'],
    [['diff', file], Buffer.from([0xff, 0xfe, 0x70, 0x00]), 0, 'ff'],
    [[...addVersion, '--user-file', file], latin1('Où est {{name}}?'), 1, 'f9'],
    // The replacement character begins with the same byte, and a sequence that is cut off.
    [[...addVersion, '--user-file', file], Buffer.from([0xc3, 0xa9, 0xef, 0x41]), 2, 'ef'],
    [[...addVersion, '--user-file', file], Buffer.from([0x41, 0xef, 0xbf]), 1, 'ef'],
    [['exec', agent.agentId, '--vars-file', file], latin1('{"name": "José"}'), 13, 'e9'],
  ] as const) {
    writeFileSync(file, bytes);
    const { code, stdout, stderr } = await call(args);
    assert.deepEqual([code, stdout], [1, ''], args.join(' '));
    const place = `Cannot read ${file}: it is not UTF-8. The byte at offset ${offset} is 0x${byte}.`;
    assert.ok(stderr.includes(place), stderr);
  }
  const piped = await call([...addVersion, '--user-file', '-'], latin1('Où'));
  assert.match(piped.stderr, /Cannot read standard input: it is not UTF-8\. .* offset 1 is 0xf9/);
  const { body } = await service.call('GET', path, { key });
  assert.equal(body.versionCount, 0);
});

test('every UTF-8 text is sent unchanged, also the replacement character', async () => {
  const user = 'Où est \ufffd {{name}}, 👩‍🚀?\r\n';
  writeFileSync(file, `\ufeff${user}`);
  const args = ['prompts', 'add-version', promptId, '--user-file', file, '--json'];
  assert.equal(jsonLines(await call([...args, '--model', 'cueline/echo']))[0].user, user);
});
