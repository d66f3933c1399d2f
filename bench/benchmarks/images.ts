import { join } from 'node:path';
import { addKey, addWorkspace } from '../../harness/people.ts';
import type { Benchmark } from '../benchmark.ts';
import { type OpenedCueline, openCueline } from '../contenders/cueline.ts';
import type { BenchEnvironment } from '../environment.ts';
import { figures } from '../goals.ts';
import { spread, warmUps } from '../rounds.ts';
import { serversDir, startServer } from '../server.ts';
import { milliseconds } from '../table.ts';

const imageBytes = 20 * 1_048_576;
/** Fewer calls would base the 99th percentile on a handful of samples. */
const secondsMin = 5;

export const images: Benchmark = {
  name: 'images',
  description:
    'Execute, from the request to the 202, for one caller that calls one after the other, while another workspace executes an agent with an ' +
    'image of 20 MiB, one after the other, whose model is behind HTTP. Rounds without and with images alternate. ms: the median of the rounds.',
  goal: 'images add at most 50 ms (p99)',
  goalChecks: ([table]) => {
    const [quiet = Number.NaN, busy = Number.NaN] = table ? figures(table, 2) : [];
    return [{ what: 'added, p99', unit: 'ms', value: busy - quiet, most: 50 }];
  },
  byDefault: false,
  async run(environment, options) {
    const fixture = await openFixture(environment);
    const seconds = Math.max(options.seconds, secondsMin);
    const samples = { quiet: [] as Times[], busy: [] as Times[] };
    let sent = 0;
    try {
      for (let round = -warmUps; round < options.rounds; round++) {
        const quiet = await time(environment, fixture, seconds);
        const stop = repeat(fixture.sendImage);
        const busy = await time(environment, fixture, seconds);
        const count = await stop();
        if (round < 0) continue;
        samples.quiet.push(quiet);
        samples.busy.push(busy);
        sent += count;
      }
    } finally {
      await fixture.close();
    }
    const row = (name: string, times: readonly Times[]) => [
      name,
      milliseconds(spread(times.map(({ p50Ms }) => p50Ms)).median),
      milliseconds(spread(times.map(({ p99Ms }) => p99Ms)).median),
    ];
    return [
      {
        columns: ['execute', 'p50', 'p99'],
        rows: [row('without images', samples.quiet), row('beside images', samples.busy)],
        notes: [`${sent} images in ${options.rounds} rounds of ${seconds} seconds.`],
      },
    ];
  },
};

interface Times {
  readonly p50Ms: number;
  readonly p99Ms: number;
}

interface Fixture {
  readonly opened: OpenedCueline;
  /** Throws unless the execution succeeds. */
  sendImage(): Promise<void>;
  close(): Promise<void>;
}

async function openFixture(environment: BenchEnvironment): Promise<Fixture> {
  const provider = await startServer({
    command: [join(serversDir, 'slow-model.ts')],
    env: { AFTER_MS: '0' },
    logFile: join(environment.directory, 'slow-model.log'),
  });
  const env = { OLLAMA_BASE_URL: `${provider.url}v1` };
  const opened = await openCueline(environment, { name: 'Cueline', roles: ['start'], env });
  const { workspaceId, ownerId } = await addWorkspace(opened.db);
  const permissions = ['execute', 'manage'] as const;
  const { key } = await addKey(opened.db, { workspaceId, userId: ownerId }, { permissions });
  const origin = `http://${opened.target.host}:${opened.target.port}`;
  const send = async (method: string, path: string, body?: string) => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const response = await fetch(origin + path, { method, headers, ...(body && { body }) });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return JSON.parse(text);
  };
  const { agentId } = await createAgent((path, body) => send('POST', path, JSON.stringify(body)));
  const photo = `data:image/png;base64,${Buffer.alloc(imageBytes, 7).toString('base64')}`;
  const call = JSON.stringify({ variables: { photo } });
  return {
    opened,
    async sendImage() {
      const { executionId } = await send('POST', `/api/v1/agents/${agentId}/execute`, call);
      const path = `/api/v1/agents/${agentId}/executions/${executionId}?wait=60`;
      const { status, error } = await send('GET', path);
      if (status !== 'success') throw new Error(`the execution with an image: ${status} ${error}`);
    },
    async close() {
      await opened.close();
      await provider.stop();
    },
  };
}

type Post = (path: string, body: object) => Promise<Readonly<Record<string, string>>>;

async function createAgent(post: Post) {
  const { promptId } = await post('/api/v1/prompts', { name: 'Photo' });
  const content = [{ text: 'What is this?' }, { image: '{{photo}}' }];
  const { promptVersionId } = await post(`/api/v1/prompts/${promptId}/versions`, {
    messages: [{ role: 'user', content }],
    model: 'ollama/slow',
  });
  const agent = { agentName: 'Photo', promptId, promptVersionId, requiredVariables: ['photo'] };
  const { agentId } = await post('/api/v1/agents', agent);
  await post(`/api/v1/agents/${agentId}/lifecycle`, { action: 'enable-api' });
  await post(`/api/v1/agents/${agentId}/lifecycle`, { action: 'deploy' });
  return { agentId };
}

async function time(
  environment: BenchEnvironment,
  { opened }: Fixture,
  seconds: number,
): Promise<Times> {
  return environment.generator.run({ target: opened.target, connections: 1, seconds });
}

/** Returns a function that stops it and returns how often the work was done. */
function repeat(work: () => Promise<void>): () => Promise<number> {
  let isStopped = false;
  const run = async () => {
    let count = 0;
    while (!isStopped) {
      await work();
      count++;
    }
    return count;
  };
  const running = run();
  return () => {
    isStopped = true;
    return running;
  };
}
