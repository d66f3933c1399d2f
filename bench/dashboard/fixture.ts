import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { addAgent } from '../../harness/agents.ts';
import { addWorkspace } from '../../harness/people.ts';
import { signIn } from '../../harness/sessions.ts';
import { seed } from '../../seed/seed.ts';
import { openDatabase } from '../../src/db/database.ts';
import { startCueline } from '../contenders/cueline.ts';
import type { BenchEnvironment } from '../environment.ts';
import { env, seedDeps } from '../history/fixture.ts';

/** A server with the current dashboard, a signed-in owner, an agent with a long history and one without records. */
export interface Fixture {
  readonly url: string;
  /** The `Cookie` header of the owner's browser. */
  readonly cookie: string;
  /** Wire ids. */
  readonly longAgentId: string;
  readonly emptyAgentId: string;
  close(): Promise<void>;
}

const days = 90;
/** The number of records of 1,000 other agents, which fill the list of agents. */
const othersRecords = 10_000;

export async function openFixture(
  environment: BenchEnvironment,
  records: number,
): Promise<Fixture> {
  await promisify(execFile)(process.execPath, [
    join(import.meta.dirname, '../../dashboard/build.ts'),
  ]);
  const { connection, drop } = await environment.database();
  const db = openDatabase({ connection, poolMax: 2, statementMsMax: 0, onError: () => {} });
  const { workspaceId, ownerId } = await addWorkspace(db);
  const options = { executions: records, others: othersRecords, days, queued: 0 };
  const { agent } = await seed(await seedDeps(db, connection), options);
  const empty = await addAgent({ db, workspaceId, ownerId });
  await environment.ask('checkpoint');
  const server = await startCueline(environment, connection, 'start', { env });
  const url = server.url.origin;
  const { cookie } = await signIn({ db, url }, ownerId);
  return {
    url,
    cookie,
    longAgentId: agent.wireId,
    emptyAgentId: empty.agentId,
    async close() {
      await server.stop();
      await db.destroy();
      await drop();
    },
  };
}
