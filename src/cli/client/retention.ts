import type { Retention } from '../../client/index.ts';
import { allPages } from './pages.ts';
import { printDone, printList, printNotice, printOne } from './print.ts';
import type { Call } from './run-call.ts';

/** `cueline retention`, `delete`, `erase` and `erasures`. */

/** Shows the retention, after applying the given changes. */
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
  await printDone({ executionId }, `Deleted the record of ${executionId}.`, json);
}

export interface EraseOptions {
  readonly agent?: string;
  readonly user?: string;
  readonly tag?: string;
  /** The name and the value of the metadata. */
  readonly metadata?: readonly (readonly [string, string])[];
}

/** Starts an erasure and returns immediately. */
export async function erase(
  { cueline, signal, json }: Call,
  pair: readonly [string, string] | undefined,
  { agent, user, tag, metadata }: EraseOptions,
): Promise<void> {
  const body = {
    ...(user !== undefined && { user }),
    ...(tag !== undefined && { tag }),
    ...(metadata && { metadata: Object.fromEntries(metadata) }),
    ...(pair && { variable: pair[0], value: pair[1] }),
    ...(agent !== undefined && { agentId: agent }),
  };
  const erasure = await cueline.erasures.create(body, { signal });
  if (erasure.schedules.length > 0) {
    printNotice(
      `Change these schedules, which name the end user: ${erasure.schedules.join(', ')}.`,
    );
  }
  await printDone(erasure, erasure.erasureId, json);
}

export async function listErasures({ cueline, signal, json }: Call): Promise<void> {
  const rows = allPages(async (page) => {
    const { erasures, pagination } = await cueline.erasures.list(page, { signal });
    return { rows: erasures, total: pagination.total };
  });
  const fields = [
    'erasureId',
    'status',
    'by',
    'variable',
    'metadata',
    'deleted',
    'waiting',
    'requestedAt',
  ] as const;
  await printList(rows, fields, json);
}
