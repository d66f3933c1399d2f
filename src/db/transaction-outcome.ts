import { isInvalidParameter } from './database-error.ts';
import type { Send } from './pipeline.ts';
import { statement } from './statement.ts';

/**
 * Finds the outcome of a transaction whose commit got no response. Reads the status of its transaction id first, then the
 * row that it would have written, in a new snapshot: after a failover to another server the id alone is meaningless.
 *
 * A committed row may still be lost with this server: the wait for a synchronous standby may have been interrupted. Our own
 * commit after it waits for the same standby, so that its response confirms both.
 */
export async function findOutcome(
  send: Send,
  xid: string,
  id: string,
  kind: keyof typeof findRow = 'execution',
): Promise<'committed' | 'aborted' | 'in progress'> {
  const [status] = await send(readState, xid).catch(unknownId);
  if (status?.state === 'in progress') return 'in progress';
  const rows = await send(findRow[kind], id);
  if (rows.length === 0) return 'aborted';
  await send(confirm);
  return 'committed';
}

/** After a failover the new server may not have assigned that id yet. */
function unknownId(error: unknown): [] {
  if (isInvalidParameter(error)) return [];
  throw error;
}

const readState = statement<string, { state: string | null }>('outcome-read-state')`
  select pg_xact_status(${(xid) => xid}::xid8) as state`;

/** Writes to the log of the server alone. */
const confirm = statement<void>('outcome-confirm')`
  select pg_logical_emit_message(true, 'cueline', '')`;

const findRow = {
  execution: statement<string>('outcome-find-execution')`
    select from all_executions where id = ${(id) => id}`,
  workflowRun: statement<string>('outcome-find-workflow-run')`
    select from workflow_runs where id = ${(id) => id}`,
};
