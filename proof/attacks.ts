import { setTimeout as wait } from 'node:timers/promises';
import { sendUnread } from '../harness/unread-client.ts';
import { generateKey } from '../src/core/people/key.ts';

/** Requests of one caller that once stopped, delayed or filled the server for others. */
export interface Attack {
  readonly name: string;
  /** How many callers repeat it at once. */
  readonly callers: number;
  /** One request with its response. Statuses do not matter: the attacker may be refused. */
  send(target: AttackTarget): Promise<void>;
}

export interface AttackTarget {
  readonly url: string;
  /** Of the attacker's workspace. */
  readonly key: string;
}

/** Nearly as large as a schema may be: 60 kB, 450 names, 90 patterns. */
const largeSchema = {
  type: 'object',
  properties: Object.fromEntries(
    Array.from({ length: 450 }, (_, n) => [
      `p${n}`,
      { type: 'string', pattern: `^[ab]*c${n % 90}$`, description: 'x'.repeat(80) },
    ]),
  ),
};

const what = { text: 'What is this?' };

/** The agents of the attacker, by slug: a plain one, one with a large schema, and one with long answers. */
export const attackersDeclaration = {
  prompts: [
    { name: 'plain', versions: [{ label: 'v1', user: 'Hello {{name}}' }] },
    {
      name: 'judged',
      versions: [{ label: 'v1', user: 'Hello {{name}}', variableSchemas: { name: largeSchema } }],
    },
    {
      name: 'long',
      versions: [{ label: 'v1', user: '{{name}}{{name}}{{name}}{{name}}' }],
    },
    {
      name: 'photo',
      versions: [
        { label: 'v1', messages: [{ role: 'user', content: [what, { image: '{{photo}}' }] }] },
      ],
    },
    { name: 'chat', versions: [{ label: 'v1', messages: [{ placeholder: 'history' }] }] },
  ],
  agents: ['plain', 'judged', 'long', 'photo', 'chat'].map((name) => ({
    ...{ name, slug: name, prompt: name, version: 'v1', stage: 'Deployed' },
    agentConfig: { model: 'cueline/echo' },
  })),
};

/** Well-formed, so that only the database knows that there is none. */
const unknownKey = generateKey();

/** 67 kB of schema that must be compiled to be used. */
const patternSchema = {
  type: 'object',
  patternProperties: Object.fromEntries(
    Array.from({ length: 2_600 }, (_, n) => [`^a${n}(b|c)*$`, { type: 'string' }]),
  ),
};
const functionCalls = Array.from({ length: 12_000 }, (_, n) => ({
  ...{ type: 'function_call', call_id: `c${n}`, name: 'f', arguments: '{}' },
}));

const listMessages = Array.from({ length: 100 }, (_, id) => ({
  ...{ jsonrpc: '2.0', id, method: 'tools/list' },
}));

const batchLines = Array.from({ length: 2_000 }, (_, n) =>
  JSON.stringify({ id: `line-${n}`, variables: { name: 'x'.repeat(2_000) } }),
).join('\n');

/** A schema whose names depend on each other. */
const dependentSchema = {
  type: 'object',
  dependentRequired: Object.fromEntries(
    Array.from({ length: 5_000 }, (_, n) => [`a${n}`, [`a${n + 1}`]]),
  ),
};

/** Each is sent as text, so that the sender spends little on it. */
const bodies = {
  patterns: responseBody({ text: formatOf(patternSchema) }),
  dependent: responseBody({ text: formatOf(dependentSchema) }),
  functionCalls: responseBody({ input: functionCalls }),
  blanks: `{"model":"any","input":"x"${' '.repeat(1_000_000)}}`,
  longInput: JSON.stringify({ variables: { name: 'x'.repeat(1_000_000) } }),
  longStream: { ...{ model: 'long', stream: true, input: 'x'.repeat(1_000_000) } },
  longChat: {
    ...{
      model: 'long',
      stream: true,
      messages: [{ role: 'user', content: 'x'.repeat(1_000_000) }],
    },
  },
  longTool: JSON.stringify({
    ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
    params: { name: 'long', arguments: { name: 'x'.repeat(1_000_000) } },
  }),
  manyAgents: JSON.stringify({ declaration: manyAgents(300) }),
};

/** An image of 20 MiB as a data URL, in a message and as a variable. Each attacking thread makes its own. */
const largeImage = (() => {
  let text: string | null = null;
  return () => {
    text ??= `data:image/png;base64,${Buffer.alloc(20 * 1_048_576, 7).toString('base64')}`;
    return text;
  };
})();

export const attacks: readonly Attack[] = [
  {
    name: 'images of 20 MiB',
    callers: 1,
    async send({ url, key }) {
      const variables = { photo: largeImage() };
      await post(`${url}/api/v1/agents/photo/execute`, key, { variables });
      const part = { type: 'image_url', image_url: { url: largeImage() } };
      const messages = [{ role: 'user', content: [{ type: 'text', text: 'What?' }, part] }];
      await post(`${url}/v1/chat/completions`, key, { model: 'chat', messages });
      const parts = [
        { type: 'input_text', text: 'What?' },
        { type: 'input_image', image_url: largeImage() },
      ];
      const input = [{ role: 'user', content: parts }];
      await post(`${url}/v1/responses`, key, { model: 'chat', input });
    },
  },
  {
    name: 'schemas without a key',
    callers: 4,
    send: ({ url }) => post(`${url}/v1/responses`, unknownKey, bodies.patterns),
  },
  {
    name: 'function calls without a key',
    callers: 4,
    send: ({ url }) => post(`${url}/v1/responses`, unknownKey, bodies.functionCalls),
  },
  {
    name: 'blanks without a key',
    callers: 16,
    send: ({ url }) => post(`${url}/v1/responses`, unknownKey, bodies.blanks),
  },
  {
    name: 'small requests without a key',
    callers: 40,
    send: ({ url }) =>
      post(`${url}/v1/chat/completions`, unknownKey, {
        ...{ model: 'any', messages: [{ role: 'user', content: 'x'.repeat(16_000) }] },
      }),
  },
  {
    name: 'bodies without an end',
    callers: 200,
    send: ({ url }) => openUnendedBody(url, unknownKey),
  },
  {
    name: 'schemas with a key',
    callers: 4,
    send: async ({ url, key }) => {
      await post(`${url}/v1/responses`, key, bodies.patterns);
      await post(`${url}/v1/responses`, key, bodies.dependent);
    },
  },
  {
    name: 'function calls with a key',
    callers: 4,
    send: ({ url, key }) => post(`${url}/v1/responses`, key, bodies.functionCalls),
  },
  {
    name: 'variables with a large schema',
    callers: 400,
    send: ({ url, key }) =>
      post(`${url}/api/v1/agents/judged/execute`, key, {
        variables: { name: { p1: 'abc', p399: 'x'.repeat(1_000) } },
      }),
  },
  {
    name: 'long bodies with an idempotency key',
    callers: 8,
    send: ({ url, key }) =>
      post(`${url}/api/v1/agents/plain/execute`, key, bodies.longInput, {
        'idempotency-key': 'the same',
      }),
  },
  {
    name: 'long prompts and answers',
    callers: 100,
    send: ({ url, key }) => post(`${url}/api/v1/agents/long/execute`, key, bodies.longInput),
  },
  {
    name: 'lists in a batch of JSON-RPC',
    callers: 4,
    send: ({ url, key }) => post(`${url}/mcp`, key, listMessages),
  },
  {
    name: 'calls of tools with long arguments',
    callers: 100,
    send: ({ url, key }) => post(`${url}/mcp`, key, bodies.longTool),
  },
  {
    name: 'declarations',
    callers: 14,
    send: ({ url, key }) => post(`${url}/api/v1/declaration`, key, bodies.manyAgents),
  },
  {
    name: 'long polls',
    callers: 300,
    send: async ({ url, key }) => {
      const path = `${url}/api/v1/agents/plain`;
      await get(`${path}/executions/exe_01jd0000000000000000000000?wait=5`, key);
    },
  },
  {
    name: 'uploads of batches',
    callers: 12,
    send: ({ url, key }) =>
      post(`${url}/api/v1/agents/plain/batches`, key, batchLines, {
        'content-type': 'application/jsonl',
      }),
  },
  {
    name: 'uploads without an end',
    callers: 12,
    send: ({ url, key }) => openUnendedBody(url, key, '/api/v1/agents/plain/batches'),
  },
  {
    name: 'responses that nobody reads',
    callers: 250,
    send: (target) => openUnread(target, '/v1/responses', bodies.longStream),
  },
  {
    name: 'chats that nobody reads',
    callers: 250,
    send: (target) => openUnread(target, '/v1/chat/completions', bodies.longChat),
  },
  {
    name: 'streams of executions that nobody reads',
    callers: 100,
    send: openUnreadStream,
  },
];

function responseBody(fields: object): string {
  return JSON.stringify({ model: 'plain', input: 'x', ...fields });
}

function formatOf(schema: object) {
  return { format: { type: 'json_schema', name: 'a', schema } };
}

/** As many agents as fit into a body, each with a schema. */
function manyAgents(count: number) {
  const schema = { type: 'object', properties: { a: { type: 'string', pattern: '^[ab]*c$' } } };
  const names = Array.from({ length: count }, (_, n) => `many-${n}`);
  return {
    prompts: names.map((name) => ({
      name,
      versions: [{ label: 'v1', user: 'Hello {{name}}', variableSchemas: { name: schema } }],
    })),
    agents: names.map((name) => ({
      ...{ name, slug: name, prompt: name, version: 'v1', stage: 'Deployed' },
      agentConfig: { model: 'cueline/echo' },
    })),
  };
}

async function post(
  url: string,
  key: string,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<void> {
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      ...{ authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      accept: 'application/json, text/event-stream',
      ...headers,
    },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  await response.arrayBuffer();
}

async function get(url: string, key: string): Promise<void> {
  const response = await fetch(url, { headers: { authorization: `Bearer ${key}` } });
  await response.arrayBuffer();
}

/** Asks for an answer of 4 MB, and reads none of it. */
async function openUnread({ url, key }: AttackTarget, path: string, body: object): Promise<void> {
  const headers = { authorization: `Bearer ${key}` };
  const { close } = await sendUnread(url, { method: 'POST', path, headers, body });
  await wait(unreadMs);
  close();
}

/** Reads none of the stream of an execution with an answer of 4 MB. */
async function openUnreadStream({ url, key }: AttackTarget): Promise<void> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const path = `${url}/api/v1/agents/long/execute`;
  const response = await fetch(path, { method: 'POST', headers, body: bodies.longInput });
  const { statusUrl } = (await response.json()) as { statusUrl?: string };
  if (!statusUrl) return;
  const stream = { headers: { ...headers, accept: 'text/event-stream' } };
  const { close } = await sendUnread(url, { ...stream, path: `${statusUrl}/stream` });
  await wait(unreadMs);
  close();
}

/** Sends 900 kB of a body of 1 MB, then nothing. */
async function openUnendedBody(url: string, key: string, path = '/v1/responses'): Promise<void> {
  const type = path.startsWith('/v1') ? 'application/json' : 'application/jsonl';
  const headers = { authorization: `Bearer ${key}`, 'content-type': type };
  const body = 'x'.repeat(900_000);
  const unended = { ...headers, 'content-length': '1000000' };
  const { close } = await sendUnread(url, { method: 'POST', path, headers: unended, body });
  await wait(unreadMs);
  close();
}

/** Long enough for the server to have all answers. */
const unreadMs = 5_000;
