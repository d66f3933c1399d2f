import { setTimeout as wait } from 'node:timers/promises';
import type { TestAgent } from '../harness/agents.ts';
import { messagesIn, modernRequest, withTasks } from '../harness/mcp.ts';
import { type OpenEvents, openEvents } from '../harness/read-events.ts';
import { fromId } from '../src/core/id.ts';

/**
 * Clients that follow streams: each starts one execution, cuts its connection at random moments and continues in any
 * process at the position where it was.
 */

/** How an execution is started and followed. */
export const interfaces = ['execute', 'events', 'task', 'response', 'chat'] as const;
type Interface = (typeof interfaces)[number];

export interface Reading {
  readonly interface: Interface;
  /** The stored id. */
  readonly executionId: string;
  /** What the reader has at the end. Null if the OpenAI API reported that the text was replaced by another. */
  readonly text: string | null;
  readonly connections: number;
  /** Each text that does not begin where the one before ended. */
  readonly problems: readonly string[];
}

export interface ReaderOptions {
  /** Read before each connection: the processes that accept calls now. */
  readonly urls: () => readonly string[];
  readonly key: string;
  readonly agent: TestAgent;
  readonly random: () => number;
}

/** Of one connection, at most. */
const eventsMax = 60;
/** The first pause after a failed connection; each further one is twice as long, up to a second. */
const retryMs = 50;
const retryMsMax = 1_000;
/** Far more than any stream takes. */
const readMsMax = 300_000;

export async function follow(
  options: ReaderOptions,
  kind: Interface,
  name: string,
): Promise<Reading> {
  const reader = readerOf(options, kind, name);
  const until = performance.now() + readMsMax;
  let pauseMs = retryMs;
  for (let connections = 1; performance.now() < until; connections++) {
    const urls = options.urls();
    const url = urls[Math.floor(options.random() * urls.length)];
    try {
      if (url === undefined) throw new Error('no process accepts calls');
      if (await readSome(await reader.open(url), reader.take, options)) {
        const { executionId, text, problems } = reader.result();
        return { interface: kind, executionId, text, problems, connections };
      }
      pauseMs = retryMs;
    } catch {
      // The process was killed: continue in another one.
      pauseMs = Math.min(retryMsMax, 2 * pauseMs);
    }
    await wait(pauseMs);
  }
  throw new Error(`the stream of ${name} did not end`);
}

function readerOf(options: ReaderOptions, kind: Interface, name: string) {
  if (kind === 'response') return responseReader(options, name);
  return kind === 'chat' ? chatReader(options, name) : eventReader(options, kind, name);
}

/** True at the end of the stream. The connection is closed after a random number of events. */
async function readSome(
  events: OpenEvents,
  take: (event: Received) => boolean,
  { random }: ReaderOptions,
): Promise<boolean> {
  try {
    if (events.status !== 200) throw new Error(`status ${events.status}`);
    let left = Math.ceil(random() * eventsMax);
    for await (const event of events) {
      if (take(event)) return true;
      if (--left === 0) return false;
    }
    return false;
  } finally {
    events.close();
  }
}

type Received = { readonly event: string; readonly id: string | null; readonly data: Data };
// biome-ignore lint/suspicious/noExplicitAny: events of several protocols
type Data = any;

/** Starts through execute or a task of MCP, and reads the events of Cueline. */
function eventReader({ key, agent }: ReaderOptions, kind: Interface, name: string) {
  let executionId: string | null = null;
  let last: string | null = null;
  let text = '';
  const problems: string[] = [];
  const idempotent = { authorization: `Bearer ${key}`, 'idempotency-key': name };
  const body = { variables: { name }, stream: true };
  return {
    async open(url: string): Promise<OpenEvents> {
      if (executionId === null && kind === 'events') {
        const headers = { 'idempotency-key': name };
        return openEvents(`${url}${agent.path}/execute`, { method: 'POST', key, headers, body });
      }
      executionId ??= await (kind === 'task' ? startTask : start)(url);
      const after: Record<string, string> = last === null ? {} : { 'last-event-id': last };
      const path = `${agent.path}/executions/${executionId}/stream`;
      return openEvents(`${url}${path}`, { key, headers: after });
    },
    take({ event, id, data }: Received): boolean {
      last = id ?? last;
      if (event === 'accepted') executionId = data.executionId;
      if (event === 'restart') text = '';
      if (event === 'gone') problems.push(`${executionId}: gone`);
      if (event === 'text') {
        if (data.offset !== text.length) {
          problems.push(`${executionId}: text at ${data.offset} after ${text.length} units`);
        }
        text += data.text;
      }
      return event === 'end';
    },
    result: () => ({ executionId: storedId(executionId), text, problems }),
  };

  async function start(url: string): Promise<string> {
    return accepted(
      await fetch(`${url}${agent.path}/execute`, {
        method: 'POST',
        headers: { ...idempotent, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      }),
      202,
      ({ executionId: id }) => id,
    );
  }

  async function startTask(url: string): Promise<string> {
    const params = { name: `agent-${agent.id}`, arguments: { name } };
    const { message, headers } = modernRequest('tools/call', params, withTasks);
    const own = { authorization: `Bearer ${key}`, accept: 'application/json, text/event-stream' };
    return accepted(
      await fetch(`${url}/mcp`, {
        method: 'POST',
        headers: { ...headers, ...own, 'content-type': 'application/json' },
        body: JSON.stringify(message),
      }),
      200,
      ({ result }) => result.taskId,
    );
  }
}

/** Starts and reads a response of the OpenAI API. */
function responseReader({ key, agent }: ReaderOptions, name: string) {
  let id: string | null = null;
  let last = -1;
  let text: string | null = '';
  return {
    open(url: string): Promise<OpenEvents> {
      if (id !== null) {
        return openEvents(`${url}/v1/responses/${id}?stream=true&starting_after=${last}`, { key });
      }
      return openEvents(`${url}/v1/responses`, {
        method: 'POST',
        key,
        headers: { 'idempotency-key': name },
        body: { model: agent.agentId, input: name, stream: true },
      });
    },
    take({ event, data }: Received): boolean {
      if (event === 'response.created') id = data.response.id;
      last = Math.max(last, data.sequence_number);
      if (event === 'response.output_text.delta' && text !== null) text += data.delta;
      if (event === 'error') text = null;
      return event === 'error' || event === 'response.completed' || event === 'response.failed';
    },
    result: () => ({ executionId: storedId(id), text, problems: [] }),
  };
}

/**
 * Starts and reads a chat completion of the OpenAI API. It cannot be continued: the same call, with its idempotency key,
 * returns the same execution from the beginning of its text.
 */
function chatReader({ key, agent }: ReaderOptions, name: string) {
  let id: string | null = null;
  let text = '';
  let isReplaced = false;
  const problems: string[] = [];
  const messages = [{ role: 'user', content: name }];
  return {
    open(url: string): Promise<OpenEvents> {
      text = '';
      isReplaced = false;
      return openEvents(`${url}/v1/chat/completions`, {
        method: 'POST',
        key,
        headers: { 'idempotency-key': name },
        body: { model: agent.agentId, messages, stream: true },
      });
    },
    take({ data }: Received): boolean {
      if (data === '[DONE]') return !isReplaced;
      if (data.error) {
        isReplaced = data.error.code === 'RESTARTED';
        return !isReplaced;
      }
      if (id !== null && id !== data.id) problems.push(`${id}: its call is now ${data.id}`);
      id = data.id;
      text += data.choices[0]?.delta.content ?? '';
      return false;
    },
    result: () => ({ executionId: storedId(id), text, problems }),
  };
}

async function accepted(
  response: Response,
  status: number,
  idOf: (body: Data) => unknown,
): Promise<string> {
  const body = messagesIn(await response.text()).at(-1);
  const id = response.status === status ? idOf(body) : undefined;
  if (typeof id !== 'string') throw new Error(`not accepted: ${response.status}`);
  return id;
}

function storedId(id: string | null): string {
  const stored = fromId('execution', id ?? '');
  if (stored === null) throw new Error(`a stream without an execution: ${id}`);
  return stored;
}
