import type { Retention } from '../../client/index.ts';
import type { Call } from './call.ts';
import { everyPage } from './pages.ts';
import { printDone, printList, printOne } from './print.ts';

/** How long records are kept, and deleting them before that. */

/** Shows it, changed first where something is given. */
export async function retention(
  { cueline, signal, json }: Call,
  change: Partial<Retention>,
): Promise<void> {
  const now = await cueline.retention({ signal });
  if (Object.keys(change).length === 0) return printOne(now, json);
  await printOne(await cueline.setRetention({ ...now, ...change }, { signal }), json);
}

export async function deleteExecution(
  { cueline, signal, json }: Call,
  agentId: string,
  executionId: string,
): Promise<void> {
  await cueline.deleteExecution(agentId, executionId, { signal });
  await printDone({ executionId }, `The record of ${executionId} is deleted.`, json);
}

/** Begins an erasure, and returns at once: it goes on in the background. */
export async function erase(
  { cueline, signal, json }: Call,
  [variable, value]: readonly [string, string],
  { agent }: { readonly agent?: string },
): Promise<void> {
  const body = { variable, value, ...(agent !== undefined && { agentId: agent }) };
  const erasure = await cueline.erasures.create(body, { signal });
  await printDone(erasure, erasure.erasureId, json);
}

export async function listErasures({ cueline, signal, json }: Call): Promise<void> {
  const rows = everyPage(async (page) => {
    const { erasures, pagination } = await cueline.erasures.list(page, { signal });
    return { rows: erasures, total: pagination.total };
  });
  const fields = ['erasureId', 'status', 'variable', 'deleted', 'waiting', 'requestedAt'] as const;
  await printList(rows, fields, json);
}
