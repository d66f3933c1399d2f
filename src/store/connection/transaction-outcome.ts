import { isInvalidParameter } from './database-error.ts';
import type { Send, Statement } from './pipeline.ts';

/**
 * What became of a transaction whose commit was never answered. It is asked by its number first, then by the rows it
 * would have written, in a snapshot of its own: a number alone means nothing after a failover to another server.
 */
export async function findOutcome(
  send: Send,
  xid: string,
  id: string,
  of: keyof typeof findRow = 'execution',
): Promise<'committed' | 'aborted' | 'in progress'> {
  const [status] = await send<{ state: string | null }>(readState, [xid]).catch(neverGiven);
  if (status?.state === 'in progress') return 'in progress';
  const rows = await send(findRow[of], [id]);
  return rows.length > 0 ? 'committed' : 'aborted';
}

/** The server of after a failover may not have given out that number yet, and so never will for that transaction. */
function neverGiven(error: unknown): [] {
  if (isInvalidParameter(error)) return [];
  throw error;
}

const readState: Statement = {
  name: 'outcome-read-state',
  text: `select pg_xact_status($1::xid8) as state`,
};

const findRow = {
  execution: { name: 'outcome-find-execution', text: `select from executions where id = $1` },
  run: { name: 'outcome-find-run', text: `select from workflow_runs where id = $1` },
} satisfies Record<string, Statement>;
