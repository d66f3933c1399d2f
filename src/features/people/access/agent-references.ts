import { fromId, toId } from '../../../core/id.ts';
import type { Caller } from '../../../core/people/caller.ts';
import type { SharedReads } from '../../../engine/read/shared-reads.ts';
import { type AgentPaths, eachItem } from '../../../http/request/agent-paths.ts';
import { findAgentId } from './visible-resources.ts';

/**
 * Slugs and aliases in requests. The contract marks the fields that name agents. What they hold becomes identifiers before a
 * handler sees it, so handlers and records know identifiers only. A name that the caller does not see stays as it is: like a
 * malformed identifier, it is unknown.
 */

/** Replaces the slugs and aliases at these paths in place. Reads nothing if there are none. */
export async function resolveAgents(
  reads: SharedReads,
  caller: Caller,
  paths: AgentPaths,
  value: unknown,
): Promise<void> {
  const named = paths
    .flatMap((path) => [...referencesAt(value, path)])
    .filter(({ holder, key }) => fromId('agent', holder[key] ?? '') === null);
  if (named.length === 0) return;
  const resolve = async ({ holder, key }: Reference) => {
    const id = await findAgentId(reads, caller, holder[key] ?? '');
    if (id !== null) holder[key] = toId('agent', id);
  };
  await Promise.all(named.map(resolve));
  // Two names of one agent are one item.
  for (const holder of new Set(named.map((one) => one.holder))) {
    if (Array.isArray(holder)) holder.splice(0, holder.length, ...new Set(holder));
  }
}

/** A text in an object or a list. */
interface Reference {
  readonly holder: Record<string, string>;
  readonly key: string;
}

function* referencesAt(holder: unknown, [key, ...rest]: AgentPaths[number]): Generator<Reference> {
  if (typeof holder !== 'object' || holder === null || key === undefined) return;
  for (const one of key === eachItem ? Object.keys(holder) : [key]) {
    const value = Object.hasOwn(holder, one) ? (holder as Record<string, unknown>)[one] : null;
    if (rest.length > 0) yield* referencesAt(value, rest);
    else if (typeof value === 'string') {
      yield { holder: holder as Record<string, string>, key: one };
    }
  }
}
