import { setTimeout as wait } from 'node:timers/promises';
import type { TestAgent } from '../harness/agents.ts';
import { readEvents } from '../harness/read-events.ts';
import type { TestWorkflow } from '../harness/workflow-runs.ts';
import { fromId } from '../src/core/id.ts';

/** Callers that poll, wait, stream, cancel, list, run workflows and batches, one call after the other, and retry like the client does. */
export interface MixedCalls {
  /** Stored ids of the executions that were accepted. */
  readonly accepted: readonly string[];
  readonly counts: Readonly<Record<string, number>>;
  readonly violations: readonly string[];
  /** Waits for the open calls. */
  stop(): Promise<void>;
}

export interface MixedOptions {
  readonly urls: () => readonly string[];
  readonly key: string;
  readonly agent: TestAgent;
  /** Its calls take seconds, so that they are in flight when something fails. */
  readonly slowAgent: TestAgent;
  readonly workflow: TestWorkflow;
}

interface Answer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: reads any field
  readonly body: any;
}

const retryMs = 100;
const pauseMs = 50;
const pollMs = 100;
const batchLines = 20;
/** After the end of the load. */
const patienceMs = 60_000;

export function startMixedCalls({
  urls,
  key,
  agent,
  slowAgent,
  workflow,
}: MixedOptions): MixedCalls {
  const accepted: string[] = [];
  const counts: Record<string, number> = {};
  const violations: string[] = [];
  let stopped = false;
  let stoppedMs = Number.POSITIVE_INFINITY;
  let names = 0;
  const authorization = `Bearer ${key}`;

  /** Repeats a call while there is no process, no database or no complete response. */
  async function call(method: string, path: string, body?: object | string): Promise<Answer> {
    const idempotencyKey = `mixed-${names++}`;
    for (let tries = 0; ; tries++) {
      const all = urls();
      const url = all[(names + tries) % Math.max(1, all.length)];
      const answer = url && (await once(`${url}${path}`, method, body, idempotencyKey));
      if (answer) return answer;
      if (performance.now() > stoppedMs + patienceMs) throw new Error(`no answer: ${path}`);
      await wait(retryMs);
    }
  }

  async function once(
    url: string,
    method: string,
    body: object | string | undefined,
    idempotencyKey: string,
  ): Promise<Answer | null> {
    const isText = typeof body === 'string';
    const contentType = isText ? 'application/jsonl' : 'application/json';
    try {
      const response = await fetch(url, {
        method,
        headers: {
          authorization,
          ...(body && { 'content-type': contentType, 'idempotency-key': idempotencyKey }),
        },
        ...(body && { body: isText ? body : JSON.stringify(body) }),
      });
      const answer = { status: response.status, body: await readBody(response) };
      if (response.status !== 503) return answer;
      if (response.headers.get('retry-after') === null)
        violations.push('a 503 without Retry-After');
      return null;
    } catch {
      return null;
    }
  }

  async function execute(one: TestAgent): Promise<string> {
    const name = `mixed-${names}`;
    const { status, body } = await call('POST', `${one.path}/execute`, { variables: { name } });
    if (status !== 202) throw new Error(`execute: ${status} ${JSON.stringify(body)}`);
    accepted.push(fromId('execution', body.executionId) ?? '');
    return body.statusUrl;
  }

  async function ended(statusUrl: string): Promise<string> {
    for (;;) {
      const { status, body } = await call('GET', `${statusUrl}?wait=30`);
      if (status !== 200) throw new Error(`status: ${status} ${JSON.stringify(body)}`);
      if (body.status !== 'processing') return body.status;
    }
  }

  async function completed(batchUrl: string) {
    for (;;) {
      const { status, body } = await call('GET', batchUrl);
      if (status !== 200) throw new Error(`batch: ${status} ${JSON.stringify(body)}`);
      if (body.completedAt !== null) return body;
      await wait(pollMs);
    }
  }

  const kinds: Record<string, () => Promise<void>> = {
    async polls() {
      const statusUrl = await execute(agent);
      for (;;) {
        const { status, body } = await call('GET', statusUrl);
        if (status !== 200) throw new Error(`poll: ${status} ${JSON.stringify(body)}`);
        if (body.status === 'success') return;
        if (body.status !== 'processing') throw new Error(`a poll ended with ${body.status}`);
        await wait(pollMs);
      }
    },
    async waits() {
      const status = await ended(await execute(agent));
      if (status !== 'success') throw new Error(`a wait ended with ${status}`);
    },
    async streams() {
      const statusUrl = await execute(agent);
      for (;;) {
        const url = urls()[0];
        const options = { key };
        const events = url
          ? await readEvents(`${url}${statusUrl}/stream`, options).catch(() => [])
          : [];
        const end = events.find(({ event }) => event === 'end');
        if (end?.data.status === 'success') return;
        if (end) throw new Error(`a stream ended with ${end.data.status}`);
        if (performance.now() > stoppedMs + patienceMs) throw new Error('a stream without an end');
        // Its process has ended.
        await wait(retryMs);
      }
    },
    async cancels() {
      const statusUrl = await execute(slowAgent);
      const { status } = await call('POST', `${statusUrl}/cancel`);
      if (status !== 200 && status !== 409) throw new Error(`cancel: ${status}`);
      const end = await ended(statusUrl);
      if (end !== 'canceled' && end !== 'success') throw new Error(`a cancel ended with ${end}`);
    },
    async workflows() {
      const path = `/api/v1/workflows/${workflow.workflowId}/execute`;
      const input = { name: `workflow-${names}` };
      const { status, body } = await call('POST', path, { input });
      if (status !== 202) throw new Error(`workflow: ${status} ${JSON.stringify(body)}`);
      const end = await ended(body.statusUrl);
      if (end !== 'success') throw new Error(`a workflow run ended with ${end}`);
    },
    async batches() {
      const lines = Array.from({ length: batchLines }, (_, at) =>
        JSON.stringify({ id: `${at}`, variables: { name: `batch-${names}-${at}` } }),
      );
      const { status, body } = await call('POST', `${agent.path}/batches`, lines.join('\n'));
      if (status !== 202) throw new Error(`batch: ${status} ${JSON.stringify(body)}`);
      const batch = await completed(body.statusUrl);
      const { status: read, body: results } = await call('GET', `${body.statusUrl}/results`);
      if (read !== 200) throw new Error(`results: ${read} ${JSON.stringify(results)}`);
      for (const line of results) {
        const { executionId, status: end } = line;
        if (end !== 'success') {
          const seen = JSON.stringify({ batch, line });
          throw new Error(`a line of a batch ended with ${end}: ${seen}`);
        }
        accepted.push(fromId('execution', executionId) ?? '');
      }
      if (results.length !== batchLines) throw new Error(`a batch has ${results.length} results`);
    },
    async lists() {
      const { status } = await call('GET', `${agent.path}/executions?limit=5`);
      if (status !== 200) throw new Error(`list: ${status}`);
      await wait(200);
    },
  };

  async function loop(kind: string, work: () => Promise<void>): Promise<void> {
    while (!stopped) {
      try {
        await work();
        counts[kind] = (counts[kind] ?? 0) + 1;
      } catch (error) {
        violations.push((error as Error).message);
      }
      await wait(pauseMs);
    }
  }

  const loops = Object.entries(kinds).map(([kind, work]) => loop(kind, work));
  return {
    ...{ accepted, counts, violations },
    async stop() {
      stopped = true;
      stoppedMs = performance.now();
      await Promise.all(loops);
    },
  };
}

/** A list for JSON lines. Fails if the connection ends before the last one. */
async function readBody(response: Response): Promise<unknown> {
  if (!response.headers.get('content-type')?.startsWith('application/jsonl'))
    return response.json();
  const lines = (await response.text()).trim().split('\n');
  return lines.map((line) => JSON.parse(line));
}
