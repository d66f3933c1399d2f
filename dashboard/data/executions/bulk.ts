import type { Action } from '../../kit/resource.ts';
import { cueline } from '../client/client.ts';
import { type Execution, isInProgress, rerunOf } from './executions.ts';
import { execute } from './start-execution.ts';

/** Actions on several executions. Each is a call of its own, a few at a time: one that fails does not stop the others. */

export type BulkAction = 'cancel' | 'run again' | 'delete';
export type BulkTarget = Pick<Execution, 'agentId' | 'executionId' | 'status'>;

export interface BulkResult {
  readonly done: readonly BulkTarget[];
  readonly failed: readonly { readonly target: BulkTarget; readonly message: string }[];
}

const atOnce = 4;

const calls: Readonly<Record<BulkAction, (target: BulkTarget) => Promise<unknown>>> = {
  cancel: ({ agentId, executionId }) => cueline.cancel(agentId, executionId),
  delete: ({ agentId, executionId }) => cueline.deleteExecution(agentId, executionId),
  'run again': runAgain,
};

/** Those of the executions that an action can apply to. */
export function targetsOf<Row extends BulkTarget>(action: BulkAction, rows: readonly Row[]): Row[] {
  if (action === 'run again') return [...rows];
  return rows.filter((row) => isInProgress(row) === (action === 'cancel'));
}

/** One action on several executions. `onProgress` gets how many it is through. */
export const bulkAction = (
  action: BulkAction,
  rows: readonly BulkTarget[],
  onProgress: (count: number) => void,
): Action<void, BulkResult> => ({
  run: () => {
    let count = 0;
    onProgress(count);
    return runAll(rows, calls[action], () => onProgress(++count));
  },
  ...{ saved: '', stale: [['executions']] },
});

async function runAll(
  targets: readonly BulkTarget[],
  call: (target: BulkTarget) => Promise<unknown>,
  onDone: () => void,
): Promise<BulkResult> {
  const [done, failed]: [BulkTarget[], { target: BulkTarget; message: string }[]] = [[], []];
  const left = targets.values();
  const worker = async () => {
    for (const target of left) {
      try {
        await call(target);
        done.push(target);
      } catch (error) {
        failed.push({ target, message: error instanceof Error ? error.message : String(error) });
      }
      onDone();
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return { done, failed };
}

/** With the variables and labels of the record, which lists leave out. */
async function runAgain({ agentId, executionId }: BulkTarget): Promise<void> {
  const record = await cueline.status(agentId, executionId);
  const { inputVariables, user, session, tags, metadata, playground } = record;
  if (!inputVariables) throw new Error('Its variables are not stored.');
  const labels = {
    ...(user !== undefined && { user }),
    ...(session !== undefined && { session }),
    ...(tags && { tags }),
    ...(metadata && { metadata }),
  };
  await execute(agentId, inputVariables, labels, rerunOf(executionId, playground));
}
