import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { program } from 'commander';
import { startServer } from '../../bench/server.ts';
import { checkOut } from '../../bench/source-state.ts';
import { createTestDatabase, shareCluster } from '../../harness/database.ts';
import { startFakeProvider } from '../../harness/fake-provider.ts';
import { databaseUrl } from '../../harness/process.ts';
import { createRecording, type Recording } from './recorder.ts';
import { type Callers, pageOrigin, runScenario } from './scenario.ts';

/**
 * `npm run test:wire -- --base REV` records the responses of another state of the source and of this one, and prints where they
 * differ: for changes that must not change the API. Exits with 1 if a response differs.
 */
const { base } = program
  .name('npm run test:wire --')
  .description('Compares the responses of this state of the source with those of another one.')
  .requiredOption('--base <revision>', 'the state to compare with')
  .parse()
  .opts<{ base: string }>();

/** They describe the process, belong to the built dashboard, or end the session that the scenario needs. */
const unrecorded: ReadonlySet<string> = new Set(['GET /metrics', 'GET /docs', 'DELETE /api/v1/me']);
/** Reached, but not with success. */
const unsuccessful: ReadonlyMap<string, string> = new Map([
  [
    'POST /api/v1/workflows/{workflowId}/runs/{workflowRunId}/cancel',
    'shows a step that is stopping or has stopped, as chance will have it',
  ],
  [
    'POST /api/v1/endpoints/{endpointId}/deliveries/{eventId}/resend',
    'needs a delivery, which is sent and retried at times of its own',
  ],
]);
const openapi: { readonly paths: Readonly<Record<string, object>> } = JSON.parse(
  readFileSync(join(import.meta.dirname, '../../docs/openapi.json'), 'utf8'),
);
const ownerPassword = 'correct horse battery';
const root = join(import.meta.dirname, '../..');
const directory = await mkdtemp(join(tmpdir(), 'cueline-wire-'));
const cluster = await shareCluster();
const state = await checkOut(base);
try {
  const before = await record(state.folder, 'before');
  const after = await record(root, 'after');
  checkCoverage(after.responses);
  const differs = await printDifferences(before.file, after.file);
  process.exitCode = differs ? 1 : 0;
} finally {
  await state.remove();
  await cluster.stop();
  await rm(directory, { recursive: true, force: true });
}

interface Recorded {
  /** It contains the responses. */
  readonly file: string;
  readonly responses: readonly string[];
}

async function record(folder: string, name: string): Promise<Recorded> {
  const database = await createTestDatabase({ isEmpty: true });
  const provider = await startFakeProvider();
  const server = await startServer({
    command: [join(folder, 'src/main.ts'), 'start'],
    logFile: join(directory, `${name}.log`),
    env: {
      DATABASE_URL: databaseUrl(database.connection),
      CUELINE_SECRET: 'a secret that is used only by tests',
      CUELINE_OWNER_PASSWORD: ownerPassword,
      CUELINE_ALLOWED_HOSTS: provider.host,
      PORT: '0',
    },
  });
  try {
    const { origin } = server.url;
    const recording = createRecording(origin, { '<server>': origin, '<provider>': provider.host });
    const { responses } = recording;
    try {
      await runScenario(await createCallers(origin, recording), { providerUrl: provider.url });
    } catch (error) {
      console.error(responses.slice(-5).join('\n'));
      throw error;
    }
    console.log(`${name}: ${responses.length} responses`);
    const file = join(directory, name);
    await writeFile(file, responses.join('\n'));
    return { file, responses };
  } finally {
    await server.stop();
    await provider.close();
    await database.drop();
  }
}

async function createCallers(origin: string, recording: Recording): Promise<Callers> {
  const post = (path: string, body: object, headers: Record<string, string>) =>
    fetch(origin + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin, ...headers },
      body: JSON.stringify(body),
    });
  const account = { email: 'owner@cueline.local', password: ownerPassword };
  const signedIn = await post('/api/auth/sign-in/email', account, {});
  const cookie = signedIn.headers
    .getSetCookie()
    .map((text) => text.split(';')[0])
    .join('; ');
  const keyFor = async (permissions: readonly string[], allowedOrigins: readonly string[] = []) => {
    const rateLimits = { requestsPerMinute: null, requestsPerHour: null, requestsPerDay: null };
    const created = await post(
      '/api/v1/keys',
      { name: 'Scenario', agentIds: null, permissions, rateLimits, allowedOrigins },
      { cookie },
    );
    if (!created.ok) throw new Error(`no key: ${await created.text()}`);
    const { key } = (await created.json()) as { key: string };
    return { authorization: `Bearer ${key}` };
  };
  return {
    owner: recording.caller('owner', { cookie, origin }),
    full: recording.caller(
      'full key',
      await keyFor(['execute', 'read', 'cancel', 'manage', 'own']),
    ),
    executing: recording.caller('executing key', await keyFor(['execute'])),
    browser: recording.caller('browser key', {
      ...(await keyFor(['execute'], [pageOrigin])),
      origin: pageOrigin,
    }),
    anonymous: recording.caller('nobody', {}),
  };
}

/** Throws if no call of some operation succeeds. */
function checkCoverage(responses: readonly string[]): void {
  const failing = Object.entries(openapi.paths).flatMap(([path, methods]) =>
    Object.keys(methods)
      .map((method) => `${method.toUpperCase()} ${path}`)
      .filter((operation) => !unrecorded.has(operation))
      .filter((operation) => {
        const pattern = operation.replace(/\{\w+\}/g, '[^/?\\n]+');
        const status = unsuccessful.has(operation) ? '' : '\\n2';
        const succeeded = new RegExp(`^[a-z ]+: ${pattern}(?:[? ].*)?${status}`);
        return !responses.some((response) => succeeded.test(response));
      }),
  );
  if (failing.length > 0) throw new Error(`without a successful call: ${failing.join(', ')}`);
}

/** Returns whether there are any. */
async function printDifferences(before: string, after: string): Promise<boolean> {
  const diff = ['diff', '--no-index', '--word-diff=plain', '--unified=3', before, after];
  const { promise, resolve } = Promise.withResolvers<string>();
  execFile('git', diff, { maxBuffer: 2 ** 28 }, (_error, output) => resolve(output));
  const differences = await promise;
  console.log(differences === '' ? 'No response differs.' : differences);
  return differences !== '';
}
