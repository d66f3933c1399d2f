import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { addAgent } from '../../harness/agents.ts';
import { addWorkspace } from '../../harness/people.ts';
import { signIn } from '../../harness/sessions.ts';
import { seed } from '../../seed/seed.ts';
import { firstOwner } from '../../src/cli/server/first-workspace.ts';
import { openDatabase } from '../../src/store/connection/database.ts';
import type { Bed } from '../bed.ts';
import { startCueline } from '../contenders/cueline.ts';
import { env } from '../history/stage.ts';

/** A server with the dashboard as it is now, an owner who is signed in, one agent with a long history and one without. */
export interface Stage {
  readonly url: string;
  /** What the owner's browser sends. */
  readonly cookie: string;
  /** Wire ids. */
  readonly longAgentId: string;
  readonly emptyAgentId: string;
  close(): Promise<void>;
}

const days = 90;
/** Of 1,000 other agents together, so that the list of agents is one. */
const othersRecords = 10_000;

export async function openStage(bed: Bed, records: number): Promise<Stage> {
  await promisify(execFile)(process.execPath, [
    join(import.meta.dirname, '../../dashboard/build.ts'),
  ]);
  const { connection, drop } = await bed.database();
  const db = openDatabase({ connection, poolMax: 2, statementMsMax: 0, onError: () => {} });
  const { workspaceId, ownerId } = await addWorkspace(db);
  const parts = {
    db,
    connection,
    owner: await firstOwner(db, undefined),
    signal: new AbortController().signal,
    setTotal() {},
    addRows() {},
    setPhase() {},
  };
  const { agent } = await seed(parts, {
    executions: records,
    others: othersRecords,
    days,
    queued: 0,
  });
  const empty = await addAgent({ db, workspaceId, ownerId });
  await bed.ask('checkpoint');
  const server = await startCueline(bed, connection, 'start', env);
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
