import { requireFound } from '../../core/failure.ts';
import { toId, uuid7 } from '../../core/id.ts';
import { type AuditAction, actorOf } from '../../core/people/audit.ts';
import type { Caller } from '../../core/people/caller.ts';
import { readClock } from '../../db/clock.ts';
import { type Db, inTransaction } from '../../db/database.ts';
import {
  insertPrompt,
  lockPrompt,
  type PromptRow,
  updatePrompt,
} from '../../store/agent/prompts.ts';
import { writeAudit } from '../../store/people/audit.ts';
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
    const line = { subject: toId('prompt', id), details: { name: input.name } };
    await writeAudit(trx, actorOf(caller), { action: 'prompt.create', ...line });
    return insertPrompt(trx, { ...input, id, workspaceId, createdBy: userId });
  });
}

type PromptChange = Partial<Pick<PromptRow, 'name' | 'description' | 'visibility' | 'archived'>>;

/** Idempotent: a change to the current values does nothing, so an `ETag` stays valid. */
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
    const subject = toId('prompt', prompt.id);
    for (const entry of auditEntries(change, changed)) {
      await writeAudit(trx, actorOf(caller), { subject, ...entry });
    }
    return updatePrompt(trx, { ...prompt, ...change });
  });
}

/** Records the names of the changed fields; archiving and restoring are actions of their own. */
function auditEntries(
  { archived }: PromptChange,
  changed: readonly (keyof PromptChange)[],
): { readonly action: AuditAction; readonly details?: Record<string, unknown> }[] {
  const fields = changed.filter((field) => field !== 'archived');
  return [
    ...(fields.length > 0 ? [{ action: 'prompt.change' as const, details: { fields } }] : []),
    ...(changed.includes('archived')
      ? [{ action: archived ? ('prompt.archive' as const) : ('prompt.restore' as const) }]
      : []),
  ];
}
