import { requireFound } from '../../../core/failure.ts';
import { uuid7 } from '../../../core/id.ts';
import type { Caller } from '../../../core/people/caller.ts';
import { type Precondition, refuseStale } from '../../../core/precondition.ts';
import { readClock } from '../../../db/clock.ts';
import { type Db, inTransaction } from '../../../db/database.ts';
import { auditChange } from '../../people/verbs/audit-change.ts';
import { insertPrompt, lockPrompt, type PromptRow, updatePrompt } from '../statements/prompts.ts';

/** Creates prompts and changes their names, descriptions, visibility and archived states. */

export async function createPrompt(
  db: Db,
  caller: Caller,
  input: Pick<PromptRow, 'name' | 'description' | 'visibility'> & { readonly id?: string },
): Promise<PromptRow> {
  const { workspaceId, userId } = caller;
  return inTransaction(db, async (trx) => {
    const id = input.id ?? uuid7(await readClock(trx));
    await auditChange(trx, caller, 'prompt.create', id, { name: input.name });
    return insertPrompt(trx, { ...input, id, workspaceId, createdBy: userId });
  });
}

type PromptChange = Partial<Pick<PromptRow, 'name' | 'description' | 'visibility' | 'archived'>>;

/**
 * Idempotent: a change to the current values does nothing, so an `ETag` stays valid. Archiving and restoring are audited as
 * actions of their own.
 */
export async function changePrompt(
  db: Db,
  caller: Caller,
  promptId: string,
  change: PromptChange,
  isCurrent: Precondition = () => true,
): Promise<PromptRow> {
  return inTransaction(db, async (trx) => {
    const prompt = requireFound(await lockPrompt(trx, caller, promptId), 'prompt');
    refuseStale(prompt.revision, isCurrent);
    const fields = Object.keys(change) as (keyof PromptChange)[];
    const changed = fields.filter((field) => change[field] !== prompt[field]);
    if (changed.length === 0) return prompt;
    const others = changed.filter((field) => field !== 'archived');
    if (others.length > 0) {
      await auditChange(trx, caller, 'prompt.change', prompt.id, { fields: others });
    }
    if (changed.includes('archived')) {
      const action = change.archived ? 'prompt.archive' : 'prompt.restore';
      await auditChange(trx, caller, action, prompt.id);
    }
    return updatePrompt(trx, { ...prompt, ...change });
  });
}
