import { sql } from 'kysely';
import type { TestAgent } from '../../harness/agents.ts';
import { freePort } from '../../harness/free-port.ts';
import { fromId, uuid7 } from '../../src/core/id.ts';
import type { ProofEnvironment } from '../environment.ts';
import { ask } from './ask.ts';
import { type Callers, makeCallers } from './callers.ts';

/** The callers of the table, and functions that create resources for them. */
export interface AccessFixture extends Callers {
  readonly environment: ProofEnvironment;
  readonly url: string;
  /** `note` is the case column of the table. Ties `tiedKey` to the agent. */
  agent(note: string): Promise<TestAgent>;
  /** A private agent that no key is restricted to. */
  privateAgent(): Promise<TestAgent>;
  /** Queues an execution, on behalf of the given key (a stored id), and returns its wire id. */
  execute(agent: TestAgent, apiKeyId: string | null): Promise<string>;
  /** Restores the initial sessions and accounts of all users. */
  restoreSessions(): Promise<void>;
}

export async function createFixture(environment: ProofEnvironment): Promise<AccessFixture> {
  const { db, ownerId } = environment;
  const { url } = await environment.spawn('api', await signInSettings());
  const callers = await makeCallers(environment, url);
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

  return {
    ...callers,
    ...{ environment, url },
    async agent(note) {
      const visibility = note.startsWith('private') ? 'private' : 'public';
      const createdBy = note.includes('editor') ? editorId : ownerId;
      const agent = await environment.agent({ visibility, createdBy });
      await sql`
        insert into api_key_agents (api_key_id, agent_id) values (${tiedKey.id}, ${agent.id})`.execute(
        db,
      );
      return agent;
    },
    privateAgent: () => environment.agent({ visibility: 'private' }),
    async execute({ path }, apiKeyId) {
      const headers = { authorization: `Bearer ${fullKey.key}` };
      const body = { variables: { name: 'you' } };
      const { text } = await ask(`${url}${path}/execute`, 'POST', headers, body);
      const { executionId } = JSON.parse(text) as { executionId: string };
      if (apiKeyId !== null) {
        const id = fromId('execution', executionId);
        await sql`update execution_queue set api_key_id = ${apiKeyId} where id = ${id}`.execute(db);
      }
      return executionId;
    },
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
