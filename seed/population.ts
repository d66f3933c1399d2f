import type { Span } from './calendar.ts';
import { type Outcome, outcomes, type Source, sourceWeights } from './outcomes.ts';

/** Whose executions are written, and the lists that a row names its parts from, each by its place. */

export interface SeededAgent {
  readonly id: string;
  readonly name: string;
  readonly workspaceId: string;
  /** The user who runs it from the dashboard and has issued its keys. */
  readonly ownerId: string;
  /** In the order in which they were pinned. */
  readonly versions: readonly SeededVersion[];
  readonly keyIds: readonly string[];
}

export interface SeededVersion {
  readonly id: string;
  readonly label: string;
  readonly system: string;
  /** With `{{customer}}`, and `{{question}}` behind it. */
  readonly user: string;
}

export interface Population {
  readonly own: SeededAgent;
  /** In the order of their ids. They share versions and keys. */
  readonly others: readonly SeededAgent[];
  readonly span: Span;
  readonly nowMs: number;
  /** Which of each kind, counted through, are of the status that is rare. */
  readonly rareOwn: readonly number[];
  readonly rareOthers: readonly number[];
}

/** All of them in the order of their ids, as the service locks their buckets. */
export function agentsOf({ own, others }: Population): SeededAgent[] {
  return [own, ...others].sort((a, b) => (a.id < b.id ? -1 : 1));
}

/** How a call arrives: with one of the keys, or without. */
export interface Way {
  readonly source: Source;
  readonly keyId: string | null;
  readonly userId: string | null;
  readonly userAgent: string | null;
  readonly weight: number;
}

/** In the order of their sources, for the same reason. The first keys are used most. */
export function waysOf({ keyIds, ownerId }: SeededAgent): Way[] {
  const upTo = (count: number) => (count / keyIds.length) ** (2 / 3);
  const byKey = keyIds.map((keyId, at) => ({
    source: 'api' as const,
    keyId,
    userId: ownerId,
    userAgent: userAgents[at % userAgents.length] ?? null,
    weight: sourceWeights.api * (upTo(at + 1) - upTo(at)),
  }));
  const without = { keyId: null, userAgent: null };
  return [
    ...byKey,
    { ...without, source: 'dashboard', userId: ownerId, weight: sourceWeights.dashboard },
    { ...without, source: 'workflow', userId: null, weight: sourceWeights.workflow },
  ];
}

/** Bounds for `width_bucket`, which answers the place of what is drawn, as often as it weighs. */
export function boundsOf(weights: readonly number[]): number[] {
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  let sum = 0;
  return weights.slice(0, -1).map((weight) => {
    sum += weight;
    return sum / total;
  });
}

export function outcomeBounds(): number[] {
  return boundsOf(outcomes.map(({ weight }: Outcome) => weight));
}

/** A few of the others have many executions, and all have some. */
export function otherBounds({ others }: Population): number[] {
  return boundsOf(others.map((_, rank) => 1 / (rank + 10) ** 0.8));
}

const userAgents = ['cueline-client/0.1', 'python-httpx/0.28.1', 'okhttp/5.1.0'];
