import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { makeAgent, makePrompt, move } from '../../../harness/prompts.ts';
import { startService } from '../../../harness/service.ts';
import { cueline } from '../cueline.ts';

const service = await startService();
const folder = await mkdtemp(join(tmpdir(), 'cueline-files-'));
after(async () => {
  await service.close();
  await rm(folder, { recursive: true });
});

test('exec sends files and lists of messages', async () => {
  const content = [{ image: '{{photo}}' }, { file: '{{contract}}' }];
  const messages = [{ placeholder: 'history' }, { role: 'user', content }];
  const agent = await makeAgent(service, await makePrompt(service, { messages }));
  await move(service, agent, 'enable-api');
  const env = { CUELINE_URL: service.url, CUELINE_KEY: (await service.key()).key };
  const png = Buffer.from('89504e470d0a1a0a', 'hex');
  const [photo, chat, large] = ['a', 'chat.json', 'large'].map((name) => join(folder, name));
  await writeFile(photo ?? '', png);
  await writeFile(chat ?? '', JSON.stringify([{ role: 'assistant', content: 'Hello' }]));
  await writeFile(large ?? '', Buffer.alloc(750_001));
  const exec = (...files: string[]) =>
    cueline(['exec', agent.agentId, '--messages', `history=@${chat}`, ...files, '--wait'], env);
  const url = 'https://files.example/c.pdf';
  const done = await exec('--file', `photo=@${photo}`, '--file', `contract=${url}`);
  assert.equal(done.code, 0, done.stderr);
  const value = `data:image/png;base64,${png.toString('base64')}`;
  assert.deepEqual(service.models.calls.at(-1)?.messages, [
    { role: 'assistant', content: 'Hello' },
    {
      role: 'user',
      content: [
        { image: { variable: 'photo', value } },
        { file: { variable: 'contract', value: url } },
      ],
    },
  ]);
  const wrong: [string, RegExp][] = [
    ['photo=a.png', /needs @ and a path, or an https URL/],
    [`photo=@${join(folder, 'none')}`, /Cannot read/],
    [`photo=@${large}`, /Give an https URL instead/],
  ];
  for (const [given, message] of wrong) {
    const failed = await exec('--file', given);
    assert.equal(failed.code, 1);
    assert.match(failed.stderr, message);
  }
});
