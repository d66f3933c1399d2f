import { addAgent } from '../../harness/agents.ts';
import { addKey, addMember, addWorkspace } from '../../harness/people.ts';
import { password, signIn } from '../../harness/sessions.ts';
import { seed } from '../../seed/seed.ts';
import { openDatabase } from '../../src/db/database.ts';
import type { Benchmark } from '../benchmark.ts';
import { startCueline } from '../contenders/cueline.ts';
import type { BenchEnvironment } from '../environment.ts';
import { figures } from '../goals.ts';
import { env, seedDeps } from '../history/fixture.ts';
import { spread } from '../rounds.ts';
import { hundredths, type Table, whole } from '../table.ts';

const searches = 10;
const searchKinds = [
  { kind: 'words that the index does not have', query: 'q=unfindable' },
  { kind: 'a cost that none has, so that each record is read', query: 'costUSDMin=1000000' },
] as const;
const callsEach = 20;
/** The server compiles hot code in these rounds. */
const warmUps = 2;

export const isolation: Benchmark = {
  name: 'isolation',
  description:
    `Calls of one workspace while a viewer of another runs ${searches} searches that find nothing, each again once it has its ` +
    `response, compared with the same calls without searches. Sequential calls, ${callsEach} per round and kind of call; rounds ` +
    'without and with either kind of search alternate. ms: the median of the rounds.',
  goal: 'no call takes more than twice its time without searches',
  goalChecks: (tables) =>
    tables.map((table, n) => {
      const what = `slowest call beside searches for ${searchKinds[n]?.kind}`;
      return { what, unit: '×', value: Math.max(...figures(table, 3)), most: 2 };
    }),
  byDefault: false,
  executions: 100_000,
  async run(environment, { executions, rounds, note }) {
    const fixture = await openFixture(environment, executions);
    try {
      const samples = searchKinds.map(({ kind, query }) => {
        return { kind, query, times: [] as { quiet: Times; busy: Times }[] };
      });
      for (let round = -warmUps; round < rounds; round++) {
        note(`round ${round + warmUps + 1} of ${rounds + warmUps}`);
        for (const { query, times } of samples) {
          const quiet = await timeCalls(fixture.calls);
          const stop = startSearches(() => fixture.search(query));
          const busy = await timeCalls(fixture.calls).finally(stop);
          if (round >= 0) times.push({ quiet, busy });
        }
      }
      return samples.map(({ kind, times }) => {
        return tableOf(fixture, times, `Searches in ${whole(executions)} records for ${kind}`);
      });
    } finally {
      await fixture.close();
    }
  },
};

/** Median milliseconds, by the name of the call. */
type Times = ReadonlyMap<string, number>;
type Call = () => Promise<unknown>;

interface Fixture {
  /** Each throws unless it succeeds. */
  readonly calls: ReadonlyMap<string, Call>;
  /** One search of the viewer. It may be rejected, because the viewer has too few slots. */
  search(query: string): Promise<unknown>;
  close(): Promise<void>;
}

async function openFixture(environment: BenchEnvironment, records: number): Promise<Fixture> {
  const { connection, drop } = await environment.database();
  const db = openDatabase({ connection, poolMax: 2, statementMsMax: 0, onError: () => {} });
  const searched = await addWorkspace(db);
  const seeding = { executions: records, others: 0, days: 90, queued: 0 };
  const { agent } = await seed(await seedDeps(db, connection), seeding);
  const { workspaceId, ownerId } = await addWorkspace(db);
  const own = await addAgent({ db, workspaceId, ownerId }, { model: 'cueline/echo' });
  const { key } = await addKey(
    db,
    { workspaceId, userId: ownerId },
    { rateLimits: { requestsPerMinute: 1_000_000, requestsPerHour: 1_000_000 } },
  );
  const server = await startCueline(environment, connection, 'start', { env });
  const url = server.url.origin;
  const viewer = await signIn({ db, url }, await addMember(db, searched.workspaceId, 'viewer'));
  const { cookie } = await signIn({ db, url }, ownerId);
  // Another user: each sign-in ends the oldest of a user's hundred sessions.
  const colleague = await signIn({ db, url }, await addMember(db, workspaceId, 'viewer'));
  const ask = async (path: string, options: RequestInit = {}) => {
    const response = await fetch(url + path, options);
    const text = await response.text();
    if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`);
  };
  const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
    ask(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
  const bearer = { authorization: `Bearer ${key}` };
  return {
    calls: new Map<string, Call>([
      ['GET /api/v1/me', () => ask('/api/v1/me', { headers: { cookie } })],
      ['sign-in', () => post('/api/auth/sign-in/email', { email: colleague.email, password })],
      ['execute', () => post(`${own.path}/execute`, { variables: { name: 'tide' } }, bearer)],
      ['own list', () => ask(`${own.path}/executions`, { headers: bearer })],
      ['GET /readyz', () => ask('/readyz')],
    ]),
    async search(query) {
      const path = `/api/v1/agents/${agent.wireId}/executions?${query}`;
      const response = await fetch(url + path, { headers: { cookie: viewer.cookie } });
      const text = await response.text();
      if (![200, 503].includes(response.status)) throw new Error(`${response.status} ${text}`);
    },
    async close() {
      await server.stop();
      await db.destroy();
      await drop();
    },
  };
}

async function timeCalls(calls: Fixture['calls']): Promise<Times> {
  const times = new Map([...calls.keys()].map((name) => [name, [] as number[]]));
  for (let n = 0; n < callsEach; n++) {
    for (const [name, call] of calls) {
      const startedMs = performance.now();
      await call();
      times.get(name)?.push(performance.now() - startedMs);
    }
  }
  return new Map([...times].map(([name, values]) => [name, spread(values).median]));
}

/** Returns a function that ends them. */
function startSearches(search: Call): () => Promise<unknown> {
  let stopped = false;
  const repeat = async () => {
    while (!stopped) await search();
  };
  const running = Promise.all(Array.from({ length: searches }, repeat));
  return () => {
    stopped = true;
    return running;
  };
}

function tableOf(
  { calls }: Fixture,
  samples: readonly { quiet: Times; busy: Times }[],
  title: string,
): Table {
  const median = (name: string, of: 'quiet' | 'busy') =>
    spread(samples.map((one) => one[of].get(name) ?? Number.NaN)).median;
  return {
    title,
    columns: ['call', 'without searches, ms', 'with searches, ms', 'times'],
    rows: [...calls.keys()].map((name) => [
      name,
      hundredths(median(name, 'quiet')),
      hundredths(median(name, 'busy')),
      hundredths(median(name, 'busy') / median(name, 'quiet')),
    ]),
  };
}
