import type { ExecuteCall } from '../../core/execution/decide.ts';
import type { Send } from '../../db/pipeline.ts';
import { statement } from '../../db/statement.ts';
import type { AdmissionBatch, KeySubjects } from './admission-batch.ts';

/**
 * Reads and folds the windows of budgets that the calls of an admission may need, under the limits that it has locked. Calls of
 * workspaces without budgets send nothing, unless their workflow run has a limit of cost. The others cost one round trip, and
 * beside budgets, workflow runs that a key has started one more.
 */
export async function readBudgetWindows(
  send: Send,
  batch: AdmissionBatch,
  calls: readonly ExecuteCall[],
): Promise<void> {
  const budgeted = calls.filter((call) => batch.isBudgeted(call));
  if (budgeted.length === 0) return;
  const keyIds = budgeted.flatMap(({ credential }) =>
    credential.kind === 'workflow' && batch.windows.of(credential.caller.workspaceId).length > 0
      ? (credential.apiKeyId ?? [])
      : [],
  );
  if (keyIds.length > 0) batch.keySubjects(await send(readKeySubjects, [...new Set(keyIds)]));
  for (const call of budgeted) batch.needWindows(call);
  await batch.windows.read(send);
}

const readKeySubjects = statement<readonly string[], KeySubjects>('admission-read-key-subjects')`
  select id, limit_subjects from api_keys where id = any(${(ids) => ids}::uuid[])`;
