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
  ],
  agents: ['plain', 'judged', 'long'].map((name) => ({
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
const schemaFormat = { type: 'json_schema', name: 'a', schema: patternSchema };

const functionCalls = Array.from({ length: 12_000 }, (_, n) => ({
  ...{ type: 'function_call', call_id: `c${n}`, name: 'f', arguments: '{}' },
}));

const listMessages = Array.from({ length: 100 }, (_, id) => ({
  ...{ jsonrpc: '2.0', id, method: 'tools/list' },
}));

const batchLines = Array.from({ length: 2_000 }, (_, n) =>
  JSON.stringify({ id: `line-${n}`, variables: { name: 'x'.repeat(2_000) } }),
).join('\n');

export const attacks: readonly Attack[] = [
  {
    name: 'schemas without a key',
    callers: 4,
    send: ({ url }) =>
      post(`${url}/v1/responses`, unknownKey, {
        ...{ model: 'any', input: 'x', text: { format: schemaFormat } },
      }),
  },
  {
    name: 'function calls without a key',
    callers: 4,
    send: ({ url }) =>
      post(`${url}/v1/responses`, unknownKey, { model: 'any', input: functionCalls }),
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
    name: 'schemas with a key',
    callers: 4,
    send: ({ url, key }) =>
      post(`${url}/v1/responses`, key, {
        ...{ model: 'plain', input: 'x', text: { format: schemaFormat } },
      }),
  },
  {
    name: 'variables with a large schema',
    callers: 100,
    send: ({ url, key }) =>
      post(`${url}/api/v1/agents/judged/execute`, key, {
        variables: { name: { p1: 'abc', p399: 'x'.repeat(1_000) } },
      }),
  },
  {
    name: 'lists in a batch of JSON-RPC',
    callers: 4,
    send: ({ url, key }) => post(`${url}/mcp`, key, listMessages),
  },
  {
    name: 'declarations',
    callers: 14,
    send: ({ url, key }) =>
      post(`${url}/api/v1/declaration`, key, { declaration: attackersDeclaration }),
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
      post(`${url}/api/v1/agents/plain/batches`, key, batchLines, 'application/jsonl'),
  },
  {
    name: 'streams that nobody reads',
    callers: 250,
    send: (target) => openUnreadStream(target),
  },
];

async function post(
  url: string,
  key: string,
  body: unknown,
  type = 'application/json',
): Promise<void> {
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      ...{ authorization: `Bearer ${key}`, 'content-type': type },
      accept: 'application/json, text/event-stream',
    },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  await response.arrayBuffer();
}

async function get(url: string, key: string): Promise<void> {
  const response = await fetch(url, { headers: { authorization: `Bearer ${key}` } });
  await response.arrayBuffer();
}

/** Asks for an answer of 400 kB, and reads none of it. */
async function openUnreadStream({ url, key }: AttackTarget): Promise<void> {
  const { close } = await sendUnread(url, {
    ...{ method: 'POST', path: '/v1/responses', headers: { authorization: `Bearer ${key}` } },
    body: { model: 'long', stream: true, input: 'x'.repeat(100_000) },
  });
  await wait(unreadMs);
  close();
}

/** Long enough for the server to have all answers. */
const unreadMs = 5_000;
