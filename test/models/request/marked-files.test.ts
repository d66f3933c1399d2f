import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { askModel } from '../../../harness/ask-model.ts';
import { startFakeProvider } from '../../../harness/fake-provider.ts';
import type { ContentPart } from '../../../src/core/agent/content.ts';
import { languageModel } from '../../../src/models/adapters/language-model.ts';
import { complete } from '../../../src/models/connection/settings.ts';
import { generate } from '../../../src/models/generate.ts';
import { withMarkedFiles } from '../../../src/models/request/marked-files.ts';
import { kinds } from '../wire-request.ts';

/** Long files reach every kind of provider as they are, and no text that is read or written as JSON on the way contains them. */

const base64 = Buffer.alloc(300_000, 7).toString('base64');
const image = (type: string): ContentPart => ({
  image: { variable: 'photo', value: `data:${type};base64,${base64}` },
});
const file = (type: string): ContentPart => ({
  file: { variable: 'contract', value: `data:${type};base64,${base64}` },
});
const plain = { system: null, user: '', temperature: null, maxTokens: null, topP: null };
const callOf = (...content: ContentPart[]) => ({
  ...plain,
  messages: [{ role: 'user', content } as const],
});

const unnamed = { name: 'p', apiKey: 'key', baseURL: null };
const signed = {
  settings: {
    ...{ kind: 'bedrock', apiKey: 'AKIA:secret' },
    baseURL: 'https://bedrock-runtime.us-east-1.amazonaws.com',
  },
  model: kinds.bedrock.model,
} as const;
const ollama = {
  settings: { kind: 'ollama', baseURL: 'http://127.0.0.1:11434' },
  model: 'm',
} as const;

/** The body as it is sent, and the length of the longest text that became JSON. */
async function bodyOf({ settings, model }: (typeof kinds)['chat'], ...content: ContentPart[]) {
  const bodies: string[] = [];
  const send: typeof fetch = async (_url, init) => {
    bodies.push(Buffer.from(init?.body as Uint8Array).toString());
    return Response.json({ error: { message: 'No.' } }, { status: 400 });
  };
  const connection = complete({ ...unnamed, ...settings }, false, '');
  const ready = await languageModel(connection, model, send);
  const { signal } = new AbortController();
  let longest = 0;
  const { stringify } = JSON;
  const counting = mock.method(JSON, 'stringify', (...args: Parameters<typeof stringify>) => {
    const text = stringify(...args);
    longest = Math.max(longest, text?.length ?? 0);
    return text;
  });
  const asking = withMarkedFiles(callOf(...content), (call) => generate(ready, call, signal));
  await assert.rejects(asking).finally(() => counting.mock.restore());
  return { body: bodies[0] ?? '', longest };
}

for (const [name, kind] of Object.entries({ ...kinds, signed, ollama })) {
  test(`an image for ${name}`, async () => {
    const { body, longest } = await bodyOf(kind as never, { text: 'What?' }, image('image/png'));
    assert.equal(body.split(base64).length, 2);
    assert.doesNotMatch(body, /cuelinefile/);
    JSON.parse(body);
    assert.ok(longest < 20_000, `${longest} characters`);
  });
}

test('several files, and texts beyond ASCII', async () => {
  const parts = [{ text: 'é' }, image('image/png'), file('application/pdf'), { text: '語' }];
  const { body } = await bodyOf(kinds.chat as never, ...parts);
  assert.equal(body.split(base64).length, 3);
  const [message] = JSON.parse(body).messages;
  assert.deepEqual([message.content[0].text, message.content[3].text], ['é', '語']);
});

test('a text that a package decodes, and a type that it finds out', async () => {
  const text = Buffer.alloc(100_000, 'x').toString();
  const value = `data:text/plain;base64,${Buffer.from(text).toString('base64')}`;
  const part = { file: { variable: 'contract', value } };
  const { body } = await bodyOf(kinds.anthropic as never, part);
  assert.ok(body.includes(text));
  const png = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.alloc(90_000)]);
  const unknown = `data:image/*;base64,${png.toString('base64')}`;
  const untyped = { image: { variable: 'photo', value: unknown } };
  assert.ok((await bodyOf(kinds.chat as never, untyped)).body.includes('data:image/png;base64'));
});

for (const stream of [false, true]) {
  test(`over HTTP, ${stream ? 'streamed' : 'whole'}, also when the request is sent again in another form`, async () => {
    const fake = await startFakeProvider();
    try {
      const error = {
        message: "Unsupported parameter: 'temperature'.",
        code: 'unsupported_parameter',
      };
      fake.script({ status: 400, body: { error } }, { text: 'A tide.' });
      const call = callOf(image('image/png'));
      await askModel(fake, {}, { messages: call.messages, temperature: 1, stream });
      const urls = fake.calls.map(({ body }) => body.messages[0].content[0].image_url.url);
      const expected = `data:image/png;base64,${base64}`;
      assert.deepEqual([urls.length, ...new Set(urls)], [2, expected]);
    } finally {
      await fake.close();
    }
  });
}
