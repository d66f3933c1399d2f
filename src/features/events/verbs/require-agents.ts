import { notFound } from '../../../core/failure.ts';
import type { Caller } from '../../../core/people/caller.ts';
import type { Trx } from '../../../db/database.ts';
import { countVisibleAgents } from '../../people/statements/keys.ts';

/** Throws 404 unless the caller sees all these agents; null means all that it sees. */
export async function requireAgents(
  trx: Trx,
  caller: Caller,
  agentIds: readonly string[] | null,
): Promise<void> {
  const { role } = caller;
  if (agentIds === null || role === null) return;
  const visible = await countVisibleAgents(trx, { ...caller, role }, agentIds);
  if (visible < agentIds.length) throw notFound('agent');
}
