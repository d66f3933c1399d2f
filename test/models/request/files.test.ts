import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Message } from '../../../src/core/agent/messages.ts';
import { ModelFailure } from '../../../src/core/model/model-port.ts';
import { ByteBudget } from '../../../src/models/capacity/byte-budget.ts';
import { toFailure } from '../../../src/models/failure/model-failure.ts';
import { OutboundFailure } from '../../../src/net/outbound-failure.ts';
import { kinds, wireRequests } from '../wire-request.ts';

/** Images and files: the exact request of each provider kind, and how URLs are fetched for those that need bytes. */

const png = Buffer.from('89504e470d0a1a0a', 'hex').toString('base64');
const pdf = Buffer.from('%PDF-1.7').toString('base64');
const imageUrl = 'https://cdn.example/a.png?v=1';
const pdfUrl = 'https://cdn.example/contract.pdf';

const all = {
  ...kinds,
  ollama: {
    settings: { kind: 'ollama', apiKey: null, baseURL: 'https://ollama.example' },
    model: 'm',
  },
} as const;
type Kind = keyof typeof all;

/** One message of the user; `image` and `file` are values. */
function messageOf(...parts: ({ image: string } | { file: string })[]): Message[] {
  const files = parts.map((part) =>
    'image' in part
      ? { image: { variable: 'photo', value: part.image } }
      : { file: { variable: 'contract', value: part.file } },
  );
  return [{ role: 'user', content: [{ text: 'What is this?' }, ...files] }];
}

const question = 'What is this?';
const dataOf = (type: string, data: string) => `data:${type};base64,${data}`;
const image = { image: dataOf('image/png', png) };
const file = { file: dataOf('application/pdf', pdf) };

describe('data URLs in the request', () => {
  const chatContent = [
    { type: 'text', text: question },
    { type: 'image_url', image_url: { url: image.image } },
    { type: 'file', file: { filename: 'contract.pdf', file_data: file.file } },
  ];
  const bodies: Readonly<Record<Exclude<Kind, 'ollama'>, object>> = {
    responses: {
      ...{ model: 'gpt-4o', store: false },
      input: [
        {
          role: 'user',
          content: [
            { type: 'input_text', text: question },
            { type: 'input_image', image_url: image.image },
            { type: 'input_file', filename: 'contract.pdf', file_data: file.file },
          ],
        },
      ],
    },
    chat: { model: 'gpt-4o', messages: [{ role: 'user', content: chatContent }] },
    anthropic: {
      ...{ model: 'claude-sonnet-4-5', max_tokens: 64_000 },
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: question },
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: png } },
            {
              ...{ type: 'document', title: 'contract.pdf' },
              source: { type: 'base64', media_type: 'application/pdf', data: pdf },
            },
          ],
        },
      ],
    },
    google: {
      generationConfig: {},
      contents: [
        {
          role: 'user',
          parts: [
            { text: question },
            { inlineData: { mimeType: 'image/png', data: png } },
            { inlineData: { mimeType: 'application/pdf', data: pdf } },
          ],
        },
      ],
    },
    bedrock: {
      system: [],
      messages: [
        {
          role: 'user',
          content: [
            { text: question },
            { image: { format: 'png', source: { bytes: png } } },
            { document: { format: 'pdf', name: 'contract', source: { bytes: pdf } } },
          ],
        },
      ],
      additionalModelResponseFieldPaths: ['/delta/stop_sequence'],
    },
    compatible: { model: 'm', messages: [{ role: 'user', content: chatContent }] },
  };
  for (const [kind, body] of Object.entries(bodies)) {
    test(kind, async () => {
      const { settings, model } = all[kind as Kind];
      const { sent, generated } = await wireRequests(settings, model, {
        messages: messageOf(image, file),
      });
      assert.deepEqual(sent[0]?.body, body);
      assert.equal(generated.text, 'hi');
    });
  }

  test('ollama: images only', async () => {
    const { settings, model } = all.ollama;
    const { sent } = await wireRequests(settings, model, { messages: messageOf(image) });
    assert.deepEqual(sent[0]?.body, {
      ...{ model: 'm', stream: false },
      messages: [{ role: 'user', content: question, images: [png] }],
    });
    const failed = await failureOf(wireRequests(settings, model, { messages: messageOf(file) }));
    assert.deepEqual([failed.code, failed.retryable], ['PROVIDER_ERROR', false]);
    assert.match(failed.message, /takes texts and images, no other files/);
  });

  test('a type that the provider cannot take is a final failure that costs nothing', async () => {
    const csv = { file: dataOf('text/csv', 'YQ==') };
    for (const kind of ['chat', 'anthropic'] as const) {
      const { settings, model } = all[kind];
      const error = await wireRequests(settings, model, { messages: messageOf(csv) }).then(
        () => assert.fail('it was sent'),
        (reason: unknown) => reason,
      );
      const failed = toFailure(error, [], 0);
      assert.deepEqual([failed.code, failed.retryable], ['PROVIDER_ERROR', false]);
      assert.deepEqual(failed.cost, { usd: '0', known: true });
      assert.match(failed.message, /text\/csv/);
    }
  });

  test('two files of one variable have two names', async () => {
    const { settings, model } = all.responses;
    const { sent } = await wireRequests(settings, model, { messages: messageOf(file, file) });
    const [message] = sent[0]?.body.input ?? [];
    assert.deepEqual(
      message.content.slice(1).map(({ filename }: { filename: string }) => filename),
      ['contract.pdf', 'contract-2.pdf'],
    );
  });

  test('a message whose only text is empty keeps its image', async () => {
    const messages: Message[] = [
      {
        role: 'user',
        content: [{ text: ' ' }, { image: { variable: 'photo', value: image.image } }],
      },
      { role: 'user', content: [] },
    ];
    const { settings, model } = all.anthropic;
    const { sent } = await wireRequests(settings, model, { messages });
    assert.equal(sent[0]?.body.messages.length, 1);
    assert.equal(sent[0]?.body.messages[0].content.length, 1);
  });
});

describe('URLs', () => {
  /** How each kind takes an image and a PDF by URL; null if its bytes are sent. */
  const passed: Readonly<Record<Kind, readonly [object | null, object | null]>> = {
    responses: [
      { type: 'input_image', image_url: imageUrl },
      { type: 'input_file', file_url: pdfUrl },
    ],
    chat: [{ type: 'image_url', image_url: { url: imageUrl } }, null],
    anthropic: [
      { type: 'image', source: { type: 'url', url: imageUrl } },
      {
        ...{ type: 'document', title: 'contract.pdf' },
        source: { type: 'url', url: pdfUrl },
      },
    ],
    google: [
      { fileData: { mimeType: 'image/png', fileUri: imageUrl } },
      { fileData: { mimeType: 'application/pdf', fileUri: pdfUrl } },
    ],
    bedrock: [null, null],
    compatible: [{ type: 'image_url', image_url: { url: imageUrl } }, null],
    ollama: [null, null],
  };
  const values = [
    { part: { image: imageUrl }, same: image, body: Buffer.from(png, 'base64'), type: 'image/png' },
    {
      ...{ part: { file: pdfUrl }, same: file },
      ...{ body: Buffer.from(pdf, 'base64'), type: 'application/pdf' },
    },
  ];
  for (const [kind, expected] of Object.entries(passed)) {
    for (const [index, { part, same, body, type }] of values.entries()) {
      if (kind === 'ollama' && index === 1) continue;
      const form = expected[index];
      const { settings, model } = all[kind as Kind];
      test(`${kind}: ${Object.keys(part)} is ${form ? 'passed on' : 'fetched'}`, async () => {
        const fetched: string[] = [];
        const download: typeof fetch = async (url) => {
          fetched.push(String(url));
          return new Response(body, { headers: { 'content-type': type } });
        };
        const call = { messages: messageOf(part) };
        const { sent } = await wireRequests(settings, model, call, undefined, download);
        if (form) {
          assert.deepEqual(fetched, []);
          assert.deepEqual(partsOf(sent[0]?.body).at(-1), form);
        } else {
          assert.deepEqual(fetched, Object.values(part));
          const direct = await wireRequests(settings, model, { messages: messageOf(same) });
          assert.deepEqual(sent[0]?.body, direct.sent[0]?.body);
        }
      });
    }
  }

  test('a URL with a scheme in capitals is passed on', async () => {
    const { settings, model } = all.compatible;
    const call = { messages: messageOf({ image: imageUrl.replace('https', 'HTTPS') }) };
    const download = () => assert.fail('it was fetched');
    const { sent } = await wireRequests(settings, model, call, undefined, download);
    assert.deepEqual(partsOf(sent[0]?.body).at(-1), {
      ...{ type: 'image_url', image_url: { url: imageUrl } },
    });
  });

  test('one URL is fetched once for a call', async () => {
    let fetches = 0;
    const { settings, model } = all.bedrock;
    const messages = messageOf({ image: imageUrl }, { image: imageUrl });
    const { sent } = await wireRequests(settings, model, { messages }, undefined, async () => {
      fetches++;
      return new Response(Buffer.from(png, 'base64'));
    });
    assert.equal(fetches, 1);
    assert.equal(sent[0]?.body.messages[0].content.length, 3);
  });

  const types = [
    ['image', 'https://cdn.example/a', '', png, 'png'],
    ['image', 'https://cdn.example/a', 'binary/octet-stream', png, 'png'],
    ['image', 'https://cdn.example/a.jpg', '', 'AAAA', 'jpeg'],
    ['image', 'https://cdn.example/a', 'image/webp; q=1', png, 'webp'],
    ['file', 'https://cdn.example/a', 'application/octet-stream', pdf, 'pdf'],
    ['file', 'https://cdn.example/a.csv', '', 'AAAA', 'csv'],
  ] as const;
  for (const [name, url, type, data, format] of types) {
    test(`the type of ${url} sent as "${type}" is ${format}`, async () => {
      const headers: [string, string][] = type ? [['content-type', type]] : [];
      const { settings, model } = all.bedrock;
      const messages = messageOf(name === 'image' ? { image: url } : { file: url });
      const { sent } = await wireRequests(settings, model, { messages }, undefined, async () => {
        return new Response(Buffer.from(data, 'base64'), { headers });
      });
      const [, part] = sent[0]?.body.messages[0].content ?? [];
      assert.equal((part.image ?? part.document).format, format);
    });
  }
});

describe('a URL that cannot be fetched is FILE_UNAVAILABLE', () => {
  const redirect = (location: string) => new Response(null, { status: 302, headers: { location } });
  const cases: [string, () => Response, RegExp, boolean][] = [
    ['404', () => new Response(null, { status: 404 }), /answered 404/, false],
    ['403', () => new Response(null, { status: 403 }), /answered 403/, false],
    ['429', () => new Response(null, { status: 429 }), /answered 429/, true],
    ['503', () => new Response(null, { status: 503 }), /answered 503/, true],
    ['nothing', () => new Response(null, { status: 204 }), /is empty/, false],
    [
      'a page instead of an image',
      () => new Response('<html>', { headers: { 'content-type': 'text/html' } }),
      /is no image, but text\/html/,
      false,
    ],
    ['plain http', () => redirect('http://cdn.example/a.png'), /no https URL/, false],
    ['a loop', () => redirect(imageUrl), /redirects more than 3 times/, false],
    ['a redirect to nowhere', () => new Response(null, { status: 302 }), /answered 302/, false],
    ['a private address', () => fail('refused'), /is not at a public address/, false],
    ['no connection', () => fail('unreached'), /was not reached/, true],
    ['silence', () => fail('timeout'), /stopped sending/, true],
    ['a broken connection', () => fail('broken'), /broke/, true],
    ['too many bytes', () => fail('malformed'), /at most 20 MiB/, false],
  ];
  for (const [name, answer, message, retryable] of cases) {
    test(name, async () => {
      const { settings, model } = all.bedrock;
      const call = { messages: messageOf({ image: imageUrl }) };
      const sending = wireRequests(
        settings,
        model,
        call,
        () => assert.fail('the model is called'),
        async () => answer(),
      );
      const failed = await failureOf(sending);
      assert.equal(failed.code, 'FILE_UNAVAILABLE');
      assert.match(failed.message, message);
      assert.match(failed.message, /variable "photo"/);
      assert.ok(!failed.message.includes('cdn.example'), 'a URL may be a secret');
      assert.deepEqual([failed.retryable, failed.cost], [retryable, { usd: '0', known: true }]);
    });
  }

  test('a retry waits as long as the server says', async () => {
    const { settings, model } = all.bedrock;
    const call = { messages: messageOf({ image: imageUrl }) };
    const headers = { 'retry-after': '7' };
    const failed = await failureOf(
      wireRequests(settings, model, call, undefined, async () => {
        return new Response(null, { status: 503, headers });
      }),
    );
    assert.equal(failed.retryAfterMs, 7_000);
  });

  test('redirects within https are followed, each through the guard', async () => {
    const fetched: string[] = [];
    const { settings, model } = all.bedrock;
    const call = { messages: messageOf({ image: imageUrl }) };
    await wireRequests(settings, model, call, undefined, async (url) => {
      fetched.push(String(url));
      return fetched.length < 3
        ? redirect(`/hop${fetched.length}`)
        : new Response(Buffer.from(png, 'base64'));
    });
    assert.deepEqual(fetched, [imageUrl, 'https://cdn.example/hop1', 'https://cdn.example/hop2']);
  });
});

describe('the budget for fetched bytes', () => {
  const { signal } = new AbortController();

  test('calls wait in order until there is room', async () => {
    const budget = new ByteBudget(10);
    const first = await budget.reserve(8, signal);
    const started: string[] = [];
    const second = budget.reserve(6, signal).then((room) => {
      started.push('second');
      return room;
    });
    // It would fit, but others wait.
    const third = budget.reserve(1, signal).then((room) => {
      started.push('third');
      return room;
    });
    first.shrinkTo(5);
    first.release();
    first.release();
    (await second).release();
    (await third).release();
    assert.deepEqual(started, ['second', 'third']);
    await budget.reserve(10, signal);
  });

  test('an aborted call gives up its place', async () => {
    const budget = new ByteBudget(10);
    const first = await budget.reserve(10, signal);
    const aborted = new AbortController();
    const second = budget.reserve(10, aborted.signal);
    const third = budget.reserve(1, signal);
    aborted.abort(new Error('canceled'));
    await assert.rejects(second, /canceled/);
    first.release();
    (await third).release();
    await budget.reserve(10, signal);
    await assert.rejects(budget.reserve(1, AbortSignal.abort(new Error('before'))), /before/);
  });
});

// biome-ignore lint/suspicious/noExplicitAny: any kind's request
function partsOf(body: any): object[] {
  const message = (body.input ?? body.messages ?? body.contents).at(-1);
  return message.parts ?? message.content;
}

function fail(kind: OutboundFailure['kind']): never {
  throw new OutboundFailure(kind, 'The base URL …');
}

async function failureOf(call: Promise<unknown>): Promise<ModelFailure> {
  const error = await call.then(
    () => assert.fail('no failure'),
    (reason: unknown) => reason,
  );
  const found = error instanceof ModelFailure ? error : (error as Error).cause;
  assert.ok(found instanceof ModelFailure, String(error));
  return found;
}
