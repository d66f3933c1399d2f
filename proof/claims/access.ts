import type { Caller } from '../../harness/access/callers.ts';
import { type Call, calls } from '../../harness/access/calls.ts';
import { type AccessFixture, createFixture } from '../../harness/access/fixture.ts';
import { type Row, readTable } from '../../harness/access/table.ts';
import { freePort } from '../../harness/free-port.ts';
import { signIn } from '../../harness/sessions.ts';
import { type Answer, ask } from '../access/ask.ts';
import { changed, type Fingerprints, fingerprints } from '../access/fingerprint.ts';
import { routesOf, uncovered } from '../access/router.ts';
import type { Claim } from '../claim.ts';

/** A round calls every cell of `harness/access/table.csv`. */
export const access: Claim = {
  name: 'access',
  description:
    'Every route gives every caller the status in the access table; a refused call changes and reveals nothing',
  rounds: { test: 1, short: 1, full: 1 },
  roundsPerEnvironment: 1,
  faults: [
    {
      name: 'wrong-permission',
      description: 'one route requires another permission',
      file: 'features/executions/contract/executions-contract.ts',
      find: "auth: 'cancel',",
      replace: "auth: 'read',",
    },
    {
      name: 'missing-workspace-check',
      description: 'agents are found across workspaces',
      file: 'features/people/access/visible-resources.ts',
      find: 'agent?.workspaceId !== caller.workspaceId',
      replace: '!agent',
    },
    {
      name: 'cancel-before-check',
      description: 'an execution is canceled before its agent is checked',
      file: 'features/executions/routes/executions-routes.ts',
      find: `route(app, deps, cancelExecution, async (context) => {`,
      replace: `route(app, deps, cancelExecution, async (context) => {
        await deps.canceler.cancel(fromId('execution', context.params.executionId) ?? '');`,
    },
  ],
  async prove(environment) {
    const rows = readTable();
    const violations = uncovered(await routesOf(environment), rows);
    const { url } = await environment.spawn('api', await signInSettings());
    const fixture = await createFixture({
      ...environment,
      url,
      signIn: async (userId) => (await signIn({ db: environment.db, url }, userId)).cookie,
    });
    const prints = await fingerprints(environment.db, fixture.elsewhereId);
    let cells = 0;
    let wrongRows = 0;
    for (const row of rows) {
      const found = await proveRow(fixture, row, prints);
      violations.push(...found.violations);
      cells += found.cells;
      if (found.violations.length > 0 && ++wrongRows === wrongRowsMax) break;
    }
    return { counts: { routes: rows.length, cells }, violations };
  },
};

/** Configures GitHub sign-in. The proof requests only the redirect, so nothing calls GitHub. */
async function signInSettings() {
  const port = await freePort();
  return {
    PORT: String(port),
    CUELINE_PUBLIC_URL: `http://127.0.0.1:${port}`,
    CUELINE_GITHUB_CLIENT_ID: 'github-client',
    CUELINE_GITHUB_CLIENT_SECRET: 'github-secret',
  };
}

/** Stops here, because a general failure would repeat for every route. */
const wrongRowsMax = 3;

interface Cell {
  readonly caller: Caller;
  readonly expected: number;
  readonly call: Call;
}

/** Fewer than the share of a workspace in anything that requests hold: uploads have eight slots. */
const callsAtOnce = 4;

async function proveRow(fixture: AccessFixture, row: Row, prints: Fingerprints) {
  const { method, path, note, statuses } = row;
  const prepare = calls[`${method} ${path}`];
  if (!prepare) throw new Error(`No call is defined for ${method} ${path}.`);
  const at = `${method} ${path}${note && ` (${note})`}`;
  const violations: string[] = [];
  const inAuth = path.startsWith('/api/auth/');
  const [first] = fixture.all;
  if (!first) throw new Error('no callers');
  if (inAuth) await fixture.restoreSessions();
  // Calls that change nothing share their resources.
  const shared = note.includes('own ') ? null : await prepare(fixture, note, first);
  const cells = await Promise.all(
    fixture.all.map(async (caller): Promise<Cell> => {
      const expected = statuses.get(caller.name);
      if (!expected) throw new Error(`${at} has no cell for ${caller.name}`);
      const fresh = !shared || inAuth || (expected < 400 && isWrite(row));
      return { caller, expected, call: fresh ? await prepare(fixture, note, caller) : shared };
    }),
  );

  const check = async (cell: Cell) => {
    violations.push(...(await callCell(fixture, row, at, cell)));
  };
  const refused = cells.filter(({ expected }) => expected >= 400);
  const admitted = cells.filter(({ expected }) => expected < 400);
  // Sessions and accounts belong to users, not to a workspace, and public routes have no workspace.
  const ofUser = inAuth || path === '/api/v1/me';
  const ofWorkspace = !ofUser && admitted.length < cells.length && isWrite(row);
  const others = admitted.filter(({ caller }) => ofWorkspace && caller.elsewhere);

  const before = await prints.all();
  for (let at = 0; at < refused.length; at += callsAtOnce) {
    await Promise.all(refused.slice(at, at + callsAtOnce).map(check));
  }
  const afterRefused = await prints.all();
  for (const table of changed(before, afterRefused)) {
    violations.push(`${at}: a refused call changed ${table}`);
  }
  if (others.length > 0) {
    const ours = await prints.ours();
    await Promise.all(others.map(check));
    for (const table of changed(ours, await prints.ours())) {
      violations.push(`${at}: a call from another workspace changed ${table}`);
    }
  }
  const own = admitted.filter((cell) => !others.includes(cell));
  for (const cell of own) {
    if (inAuth) await fixture.restoreSessions();
    await check(cell);
  }
  if (own.length > 0 && others.length === 0 && !inAuth) {
    // An export and the test of a provider store only their line in the audit log.
    const written = changed(afterRefused, await prints.all()).filter(
      (table) => isWrite(row) || table !== 'audit',
    );
    if (written.length > 0 !== isWrite(row)) {
      violations.push(`${at}: admitted calls changed ${written.join(', ') || 'nothing'}`);
    }
  }
  return { violations, cells: cells.length };
}

/** These POST routes store nothing. */
const storesNothing: ReadonlySet<string> = new Set([
  'POST /api/v1/providers/{name}/test',
  'POST /api/v1/agents/{agentId}/estimate',
  'POST /api/v1/workflows/validate',
  'POST /api/v1/alerts/preview',
  'POST /api/v1/alerts/{alertId}/preview',
]);

function isWrite({ method, path }: Row): boolean {
  return !['GET', 'HEAD', 'OPTIONS'].includes(method) && !storesNothing.has(`${method} ${path}`);
}

async function callCell(
  { environment: { url } }: AccessFixture,
  { method }: Row,
  at: string,
  cell: Cell,
): Promise<string[]> {
  const { caller, expected, call } = cell;
  // Same origin, so that no key is refused because of a missing origin.
  const headers = { origin: url, ...caller.headers, ...call.headers };
  const who = `${at} as ${caller.name}`;
  const answer = await ask(url + call.path, method, headers, call.body, call.isEndless);
  const found: string[] = [];
  if (answer.status !== expected) {
    found.push(`${who}: ${answer.status} instead of ${expected}: ${answer.text.slice(0, 200)}`);
  }
  const leaked = hiddenTexts(cell, answer).filter((text) => answer.text.includes(text));
  if (leaked.length > 0) found.push(`${who}: the response reveals ${leaked.join(', ')}`);
  if (method === 'GET' && !call.path.startsWith('/api/auth/')) {
    const { status } = await ask(url + call.path, 'HEAD', headers);
    if (status !== answer.status)
      found.push(`${who}: HEAD returns ${status}, GET ${answer.status}`);
  }
  return found;
}

/** The texts that this response must not contain. */
function hiddenTexts({ caller, call }: Cell, { status }: Answer): string[] {
  const { agents = [], privateAgents = [], workspace = [] } = call;
  if (status >= 400 || caller.hidden === 'everything') {
    return [...agents, ...privateAgents, ...workspace];
  }
  if (caller.hidden === 'other agents') return [...agents, ...privateAgents];
  return caller.hidden === 'private agents' ? [...privateAgents] : [];
}
