import type { Retention } from '../../client/index.ts';
import { type NumberOrNone, noneToNull } from '../arguments.ts';
import { printDone, printNotice, printOne } from './print.ts';
import type { Call } from './run-call.ts';

/** `cueline retention` and `erase`. */

/** Shows the retention, after changing the given settings. */
export async function retention(
  { cueline, signal, json }: Call,
  given: { readonly [Name in keyof Retention]?: NumberOrNone },
): Promise<void> {
  const now = await cueline.retention({ signal });
  const change = Object.entries(given).map(([name, days]) => [name, noneToNull(days)]);
  if (change.length === 0) return printOne(now, json);
  const changed = { ...now, ...Object.fromEntries(change) };
  await printOne(await cueline.setRetention(changed, { signal }), json);
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
  [pair]: readonly (readonly [string, string])[] = [],
  { agent, user, tag, metadata }: EraseOptions,
): Promise<void> {
  const [variable, value] = pair ?? [];
  const labels = { user, tag, metadata: metadata && Object.fromEntries(metadata) };
  const erasure = await cueline.erasures.create(
    { ...labels, variable, value, agentId: agent },
    { signal },
  );
  if (erasure.schedules.length > 0) {
    printNotice(
      `Change these schedules, which name the end user: ${erasure.schedules.join(', ')}.`,
    );
  }
  await printDone(erasure, erasure.erasureId, json);
}
