import type { Caller } from '../../core/execution/caller.ts';
import { CallFailure } from '../../core/failure.ts';
import { uuid7 } from '../../core/id.ts';
import {
  insertPrompt,
  lockPrompt,
  type PromptRow,
  updatePrompt,
} from '../../store/agent/prompts.ts';
import { readClock } from '../../store/connection/clock.ts';
import { type Db, inTransaction } from '../../store/connection/database.ts';
import { type Precondition, refuseStale } from './precondition.ts';

/** Creates prompts and changes their names, descriptions, visibility and archived states. */

export async function createPrompt(
  db: Db,
  caller: Caller,
  input: Pick<PromptRow, 'name' | 'description' | 'visibility'> & { readonly id?: string },
): Promise<PromptRow> {
  const { workspaceId, userId } = caller;
  return inTransaction(db, async (trx) => {
    const id = input.id ?? uuid7(await readClock(trx));
    return insertPrompt(trx, { ...input, id, workspaceId, createdBy: userId });
  });
}

type PromptChange = Partial<Pick<PromptRow, 'name' | 'description' | 'visibility' | 'archived'>>;

/** Idempotent: a change to the current values does nothing, so an `ETag` stays valid. */
export async function changePrompt(
  db: Db,
  caller: Caller,
  promptId: string | null,
  change: PromptChange,
  isCurrent: Precondition = () => true,
): Promise<PromptRow> {
  return inTransaction(db, async (trx) => {
    const prompt = promptId && (await lockPrompt(trx, caller, promptId));
    if (!prompt) throw new CallFailure('NOT_FOUND', 'There is no such prompt.');
    refuseStale(prompt.revision, isCurrent);
    const fields = Object.keys(change) as (keyof PromptChange)[];
    if (fields.every((field) => change[field] === prompt[field])) return prompt;
    return updatePrompt(trx, { ...prompt, ...change });
  });
}
