import { fromId, uuid7 } from '../../src/core/id.ts';
import type { Db } from '../../src/db/database.ts';
import { sql } from '../../src/db/sql.ts';
import { addAgent, type TestAgent } from '../agents.ts';
import type { KeyOptions, TestKey } from '../people.ts';
import { type Callers, makeCallers } from './callers.ts';

/** Where the calls are made: processes of a proof, or the service of a test. */
export interface AccessEnvironment {
  readonly url: string;
  readonly db: Db;
  readonly workspaceId: string;
  readonly ownerId: string;
  /** Without limits. */
  key(options?: KeyOptions & { workspaceId?: string; userId?: string }): Promise<TestKey>;
  /** The `Cookie` header of a new session. */
  signIn(userId: string): Promise<string>;
}

/** The callers of the table, and functions that create resources for them. */
export interface AccessFixture extends Callers {
  readonly environment: AccessEnvironment;
  /** `note` is the case column of the table. Ties `tiedKey` to the agent. */
  agent(note: string): Promise<TestAgent>;
  /** A private agent that no key is restricted to. */
  privateAgent(): Promise<TestAgent>;
  /** Queues an execution, on behalf of the given key (a stored id), and returns its wire id. */
  execute(agent: Pick<TestAgent, 'path'>, apiKeyId: string | null): Promise<string>;
  /** Makes a call with all permissions and returns the response body; throws unless it succeeds. */
  post(path: string, body: object): Promise<Readonly<Record<string, string | undefined>>>;
  /** Restores the initial sessions and accounts of all users. */
  restoreSessions(): Promise<void>;
}

export async function createFixture(environment: AccessEnvironment): Promise<AccessFixture> {
  const { db, url, ownerId } = environment;
  const callers = await makeCallers(environment);
  const { fullKey, tiedKey, editorId, signedIn } = callers;
  for (const userId of signedIn) {
    await sql`
      insert into accounts (id, user_id, account_id, provider_id)
      values (${uuid7(Date.now())}, ${userId}, ${userId}, 'github')`.execute(db);
  }
  const readRows = async (table: 'sessions' | 'accounts') =>
    (
      await sql<{ rows: string }>`
        select coalesce(json_agg(t), '[]')::text as rows from ${sql.table(table)} t
        where user_id = any (${signedIn}::uuid[])`.execute(db)
    ).rows[0]?.rows;
  const initial = { sessions: await readRows('sessions'), accounts: await readRows('accounts') };

  const post: AccessFixture['post'] = async (path, body) => {
    const headers = {
      authorization: `Bearer ${fullKey.key}`,
      'content-type': 'application/json',
    };
    const response = await fetch(url + path, {
      ...{ method: 'POST', headers, body: JSON.stringify(body) },
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`POST ${path}: ${response.status} ${text}`);
    return JSON.parse(text);
  };

  return {
    ...callers,
    environment,
    async agent(note) {
      const visibility = note.startsWith('private') ? 'private' : 'public';
      const createdBy = note.includes('editor') ? editorId : ownerId;
      const agent = await addAgent(environment, { visibility, createdBy });
      await sql`
        insert into api_key_agents (api_key_id, agent_id) values (${tiedKey.id}, ${agent.id})`.execute(
        db,
      );
      return agent;
    },
    privateAgent: () => addAgent(environment, { visibility: 'private' }),
    async execute({ path }, apiKeyId) {
      const { executionId = '' } = await post(`${path}/execute`, { variables: { name: 'you' } });
      if (apiKeyId !== null) {
        const id = fromId('execution', executionId);
        await sql`update execution_queue set api_key_id = ${apiKeyId} where id = ${id}`.execute(db);
      }
      return executionId;
    },
    post,
    async restoreSessions() {
      for (const table of ['sessions', 'accounts'] as const) {
        const name = sql.table(table);
        await sql`delete from ${name} where user_id = any (${signedIn}::uuid[])`.execute(db);
        await sql`
          insert into ${name} select * from json_populate_recordset(null::${name}, ${initial[table]}::json)`.execute(
          db,
        );
      }
    },
  };
}
