import { type Answer, ask } from '../access/ask.ts';
import type { Caller } from '../access/callers.ts';
import { type Call, calls } from '../access/calls.ts';
import { changed, type Fingerprints, fingerprints } from '../access/fingerprint.ts';
import { type AccessFixture, createFixture } from '../access/fixture.ts';
import { routesOf, uncovered } from '../access/router.ts';
import { type Row, readTable } from '../access/table.ts';
import type { Claim } from '../claim.ts';

/** A round calls every cell of `access/table.csv`. */
export const access: Claim = {
  name: 'access',
  description:
    'Every route answers every caller with the status in the access table; a refused call changes and shows nothing',
  rounds: { test: 1, short: 1, full: 1 },
  roundsPerEnvironment: 1,
  faults: [
    {
      name: 'wrong-right',
      description: 'one route requires another permission',
      file: 'contract/executions/executions.ts',
      find: "auth: 'cancel',",
      replace: "auth: 'read',",
    },
    {
      name: 'any-workspace',
      description: 'agents are found across workspaces',
      file: 'api/access/visible-resources.ts',
      find: 'agent?.workspaceId !== caller.workspaceId',
      replace: '!agent',
    },
    {
      name: 'cancel-first',
      description: 'an execution is canceled before its agent is checked',
      file: 'api/routes/executions/executions.ts',
      find: `route(app, deps, cancelExecution, async (context) => {`,
      replace: `route(app, deps, cancelExecution, async (context) => {
        await deps.canceler.cancel(fromId('execution', context.params.executionId) ?? '');`,
    },
  ],
  async prove(environment) {
    const rows = readTable();
    const violations = uncovered(await routesOf(environment), rows);
    const fixture = await createFixture(environment);
    const prints = await fingerprints(environment.db, fixture.elsewhereId);
    let cells = 0;
    let red = 0;
    for (const row of rows) {
      const found = await proveRow(fixture, row, prints);
      violations.push(...found.violations);
      cells += found.cells;
      // What is wrong everywhere need not be told of each route.
      if (found.violations.length > 0 && ++red === redRowsMax) break;
    }
    return { counts: { routes: rows.length, cells }, violations };
  },
};

const redRowsMax = 3;

interface Cell {
  readonly caller: Caller;
  readonly expected: number;
  readonly call: Call;
}

async function proveRow(fixture: AccessFixture, row: Row, prints: Fingerprints) {
  const { method, path, note, statuses } = row;
  const prepare = calls[`${method} ${path}`];
  if (!prepare) throw new Error(`nobody knows how to call ${method} ${path}`);
  const at = `${method} ${path}${note && ` (${note})`}`;
  const violations: string[] = [];
  const inAuth = path.startsWith('/api/auth/');
  const [first] = fixture.all;
  if (!first) throw new Error('nobody calls');
  if (inAuth) await fixture.restoreSessions();
  // What changes nothing leaves for the next what it found.
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
  // Sessions and accounts belong to people, not to a workspace; and what is open to anyone asks for none.
  const ofPerson = inAuth || path === '/api/v1/me';
  const apart = !ofPerson && admitted.length < cells.length && isWrite(row);
  const others = admitted.filter(({ caller }) => apart && caller.elsewhere);

  const before = await prints.all();
  await Promise.all(refused.map(check));
  const afterRefused = await prints.all();
  for (const table of changed(before, afterRefused)) {
    violations.push(`${at}: a refused call has changed ${table}`);
  }
  if (others.length > 0) {
    const ours = await prints.ours();
    await Promise.all(others.map(check));
    for (const table of changed(ours, await prints.ours())) {
      violations.push(`${at}: a call from another workspace has changed ${table}`);
    }
  }
  const own = admitted.filter((cell) => !others.includes(cell));
  for (const cell of own) {
    if (inAuth) await fixture.restoreSessions();
    await check(cell);
  }
  if (own.length > 0 && others.length === 0 && !inAuth) {
    const written = changed(afterRefused, await prints.all());
    if (written.length > 0 !== isWrite(row)) {
      violations.push(`${at}: those let in have changed ${written.join(', ') || 'nothing'}`);
    }
  }
  return { violations, cells: cells.length };
}

/** What others are asked, or only checked, of which nothing is kept here. */
const asks: ReadonlySet<string> = new Set([
  'POST /api/v1/providers/{name}/test',
  'POST /api/v1/workflows/validate',
]);

function isWrite({ method, path }: Row): boolean {
  return !['GET', 'HEAD', 'OPTIONS'].includes(method) && !asks.has(`${method} ${path}`);
}

async function callCell(
  { url }: AccessFixture,
  { method }: Row,
  at: string,
  cell: Cell,
): Promise<string[]> {
  const { caller, expected, call } = cell;
  // From a page of its own: where a key is refused, it is not for want of an origin.
  const headers = { origin: url, ...caller.headers, ...call.headers };
  const who = `${at} as ${caller.name}`;
  const answer = await ask(url + call.path, method, headers, call.body);
  const found: string[] = [];
  if (answer.status !== expected) {
    found.push(`${who}: ${answer.status} instead of ${expected}: ${answer.text.slice(0, 200)}`);
  }
  const shown = hidden(cell, answer).filter((text) => answer.text.includes(text));
  if (shown.length > 0) found.push(`${who}: the answer shows ${shown.join(', ')}`);
  if (method === 'GET' && !call.path.startsWith('/api/auth/')) {
    const { status } = await ask(url + call.path, 'HEAD', headers);
    if (status !== answer.status)
      found.push(`${who}: HEAD answers ${status}, GET ${answer.status}`);
  }
  return found;
}

/** What this answer must not hold. */
function hidden({ caller, call }: Cell, { status }: Answer): string[] {
  const { agents = [], privateAgents = [], workspace = [] } = call;
  if (status >= 400 || caller.blindTo === 'everything') {
    return [...agents, ...privateAgents, ...workspace];
  }
  if (caller.blindTo === 'other agents') return [...agents, ...privateAgents];
  return caller.blindTo === 'private agents' ? [...privateAgents] : [];
}
