import type { Span } from './calendar.ts';
import { type Outcome, outcomes, type Source, sourceWeights } from './outcomes.ts';

/** Agents whose executions are written, and the lists that rows reference by index. */

export interface SeededAgent {
  readonly id: string;
  readonly name: string;
  readonly workspaceId: string;
  /** User who executes it from the dashboard and issued its keys. */
  readonly ownerId: string;
  /** In pin order. */
  readonly versions: readonly SeededVersion[];
  readonly keyIds: readonly string[];
}

export interface SeededVersion {
  readonly id: string;
  readonly label: string;
  readonly system: string;
  /** Contains `{{customer}}`, followed by `{{question}}`. */
  readonly user: string;
}

export interface Population {
  readonly own: SeededAgent;
  /** Sorted by id. They share versions and keys. */
  readonly others: readonly SeededAgent[];
  readonly span: Span;
  readonly nowMs: number;
  /** Indexes of the executions with the rare status, per kind. */
  readonly rareOwn: readonly number[];
  readonly rareOthers: readonly number[];
}

/** All agents sorted by id, in the lock order of the service. */
export function agentsOf({ own, others }: Population): SeededAgent[] {
  return [own, ...others].sort((a, b) => (a.id < b.id ? -1 : 1));
}

/** Origin of a call: one of the keys, or a session. */
export interface Origin {
  readonly source: Source;
  readonly keyId: string | null;
  readonly userId: string | null;
  readonly userAgent: string | null;
  readonly weight: number;
}

/** Sorted by source, in the lock order of the service. The first keys are used most. */
export function originsOf({ keyIds, ownerId }: SeededAgent): Origin[] {
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

/** Bounds for `width_bucket`, which maps a random value to an index according to the weights. */
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

/** A few other agents have many executions; every one has some. */
export function otherBounds({ others }: Population): number[] {
  return boundsOf(others.map((_, rank) => 1 / (rank + 10) ** 0.8));
}

const userAgents = ['cueline-client/0.1', 'python-httpx/0.28.1', 'okhttp/5.1.0'];
