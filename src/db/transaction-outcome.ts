import { isInvalidParameter } from './database-error.ts';
import type { PlainStatement, Send } from './pipeline.ts';

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
  const [status] = await send<{ state: string | null }>(readState, [xid]).catch(unknownId);
  if (status?.state === 'in progress') return 'in progress';
  const rows = await send(findRow[kind], [id]);
  if (rows.length === 0) return 'aborted';
  await send(confirm);
  return 'committed';
}

/** After a failover the new server may not have assigned that id yet. */
function unknownId(error: unknown): [] {
  if (isInvalidParameter(error)) return [];
  throw error;
}

const readState: PlainStatement = {
  name: 'outcome-read-state',
  text: `select pg_xact_status($1::xid8) as state`,
};

/** Writes to the log of the server alone. */
const confirm: PlainStatement = {
  name: 'outcome-confirm',
  text: `select pg_logical_emit_message(true, 'cueline', '')`,
};

const findRow = {
  execution: { name: 'outcome-find-execution', text: `select from all_executions where id = $1` },
  workflowRun: {
    name: 'outcome-find-workflow-run',
    text: `select from workflow_runs where id = $1`,
  },
} satisfies Record<string, PlainStatement>;
