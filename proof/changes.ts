import { setTimeout as wait } from 'node:timers/promises';
import type { TestAgent } from '../harness/agents.ts';
import { addMember, addWorkspace, type TestKey } from '../harness/people.ts';
import { toId } from '../src/core/id.ts';
import { readClock } from '../src/db/clock.ts';
import { sql } from '../src/db/sql.ts';
import type { ProofEnvironment } from './environment.ts';

/** Changes after which a key is no longer admitted, mostly made through the API. */

export interface Change {
  readonly what: string;
  readonly key: TestKey;
  readonly agent: TestAgent;
  /** Resolves once the process at that URL has acknowledged the change. */
  readonly make: (url: string) => Promise<void>;
  /** The database's time of the change; null if it stores none. */
  readonly madeAtMs: () => Promise<number | null>;
}

/** One of each kind, each with its own key and agent. */
export async function planChanges(environment: ProofEnvironment): Promise<Change[]> {
  const { db, workspaceId } = environment;
  const owner = await environment.key();
  const byOwner = callWith(owner.key);
  const changes: Change[] = [];

  async function plan(
    what: string,
    made: { key?: TestKey; agent?: TestAgent; madeAt?: 'revoked_at' | 'expires_at' | 'updated_at' },
    make: (url: string, key: TestKey, agent: TestAgent) => Promise<void>,
  ): Promise<void> {
    const key = made.key ?? (await environment.key());
    const agent = made.agent ?? (await environment.agent());
    const { madeAt } = made;
    changes.push({
      what,
      key,
      agent,
      make: (url) => make(url, key, agent),
      madeAtMs: async () => (madeAt ? readTime(environment, madeAt, key, agent) : null),
    });
  }

  const onKey = (action: string, body?: object) => (url: string, key: TestKey) =>
    byOwner(url, 'POST', `/api/v1/keys/${key.apiKeyId}/${action}`, body);
  await plan('revoke', { madeAt: 'revoked_at' }, onKey('revoke'));
  await plan(
    'rotate without grace',
    { madeAt: 'expires_at' },
    onKey('rotate', { graceSeconds: 0 }),
  );

  // Written directly into the table, shortly before the expiry that the claim checks.
  await plan('expire', {}, async (_url, key) => {
    const expiresMs = (await readClock(db)) + 200;
    await sql`
      update api_keys set expires_at = to_timestamp(${expiresMs}::float8 / 1000)
      where id = ${key.id}`.execute(db);
    while ((await readClock(db)) <= expiresMs) await wait(20);
  });

  const onAgent =
    (method: string, rest: string, body?: object) => (url: string, _: TestKey, agent: TestAgent) =>
      byOwner(url, method, `${agent.path}${rest}`, body);
  const move = (action: string) => onAgent('POST', '/lifecycle', { action });
  const patch = (body: object) => onAgent('PATCH', '', body);
  const testing = () => environment.agent({ stage: 'Testing' });
  const madeAt = 'updated_at';
  await plan('disable', { madeAt }, move('disable'));
  await plan('archive', { madeAt, agent: await testing() }, move('archive'));
  await plan('delete', { madeAt, agent: await testing() }, onAgent('DELETE', ''));
  await plan('API disabled', { madeAt }, patch({ apiEnabled: false }));
  await plan('limit lowered', { madeAt }, patch({ rateLimits: { requestsPerDay: 1 } }));

  const memberKey = async (userId: string) => ({ key: await environment.key({ userId }) });
  const editor = () => addMember(db, workspaceId, 'editor');
  const member = (userId: string) => `/api/v1/members/${toId('user', userId)}`;
  await plan(
    'made private',
    { madeAt, ...(await memberKey(await editor())) },
    patch({ visibility: 'private' }),
  );
  const removed = await editor();
  await plan('member removed', { madeAt: 'revoked_at', ...(await memberKey(removed)) }, (url) =>
    byOwner(url, 'DELETE', member(removed)),
  );
  const demoted = await editor();
  await plan('role changed to viewer', await memberKey(demoted), (url) =>
    byOwner(url, 'PATCH', member(demoted), { role: 'viewer' }),
  );

  const other = await addWorkspace(db);
  const owned = { workspaceId: other.workspaceId, userId: other.ownerId };
  const otherOwner = await environment.key(owned);
  const elsewhere = { workspaceId: other.workspaceId, createdBy: other.ownerId };
  await plan(
    'plan lowered',
    { key: await environment.key(owned), agent: await environment.agent(elsewhere) },
    (url) =>
      callWith(otherOwner.key)(url, 'PUT', '/api/v1/plan', { name: 'less', actionsPerMonth: 1 }),
  );
  return changes;
}

function callWith(key: string) {
  return async (url: string, method: string, path: string, body?: object): Promise<void> => {
    const response = await fetch(url + path, {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        ...(body && { 'content-type': 'application/json' }),
      },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
  };
}

async function readTime(
  { db }: ProofEnvironment,
  column: 'revoked_at' | 'expires_at' | 'updated_at',
  key: TestKey,
  agent: TestAgent,
): Promise<number | null> {
  const from =
    column === 'updated_at'
      ? sql`updated_at from agents where id = ${agent.id}`
      : sql`${sql.ref(column)} from api_keys where id = ${key.id}`;
  const { rows } = await sql<{ ms: number | null }>`
    select (extract(epoch from at) * 1000)::float8 as ms from (select ${from}) as found (at)`.execute(
    db,
  );
  return rows[0]?.ms ?? null;
}
