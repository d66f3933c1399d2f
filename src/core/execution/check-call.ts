import { type KeyWindows, type RateLimits, spendKeys, type WindowState } from '../agent/limits.ts';
import type { BudgetRefusal, BudgetWindow } from '../budget/reserve.ts';
import type { CallFailureCode, ExecutionErrorCode } from '../failure.ts';
import type { Caller } from '../people/caller.ts';
import type { EndStatus } from './execution.ts';
import { deniedMessage, limitFields, limitMessage, reportedLimits } from './refusal-messages.ts';

/**
 * The checks that calls of agents and starts of workflows begin with: the caller, the limits of its keys, the
 * Idempotency-Key, then whether the caller may call the target now. Their order is part of the API.
 */

/** What is known about every call, read under the locks. */
export interface CallFacts {
  readonly nowMs: number;
  readonly caller: Caller;
  /** Of a key and the keys that issued it; empty for other callers. Spent in place. */
  readonly keyWindows: readonly KeyWindows[];
  readonly idempotencyProblem: string | null;
  /** The call that first used the idempotency key, if any. `sameBody` is null if the body was not hashed yet. */
  readonly replay: { readonly sameBody: boolean | null } | null;
}

/** What a call addresses. */
export interface CallTarget<Found> {
  readonly noun: 'agent' | 'workflow';
  /** Null if it does not exist or the caller cannot see it. */
  readonly found: Found | null;
  /** Whether refusals can leave a record. */
  readonly isRecorded: boolean;
  /** The message if the caller's key does not reach it; null if it does. */
  readonly unreached: (found: Found) => string | null;
  /** Why it accepts no call of the caller now; null if it does. */
  readonly inactive: (found: Found) => string | null;
  /** The message if the Idempotency-Key was used with another body. */
  readonly reused: string;
}

export interface Refusal {
  readonly kind: 'refused';
  readonly code: CallFailureCode;
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly states: readonly WindowState[];
  /** The record of this refusal; null if it leaves none. */
  readonly record: { readonly status: EndStatus; readonly errorCode: ExecutionErrorCode } | null;
  /** The budget that refused it. */
  readonly budget?: RefusedByBudget;
}

export interface RefusedByBudget extends Omit<BudgetRefusal, 'message' | 'fields'> {
  readonly window: BudgetWindow;
}

export type Refuse = (
  code: CallFailureCode,
  message: string,
  fields?: Readonly<Record<string, unknown>>,
) => Refusal;

export interface Replay {
  readonly kind: 'replayed';
  readonly states: readonly WindowState[];
}

/** A call that passed all checks up to its body, which must be read, hashed or examined before it is judged. */
export interface Unprepared {
  readonly kind: 'unprepared';
}

export interface PassedCall<Found> {
  readonly kind: 'passed';
  readonly found: Found;
  /** Later checks add theirs. */
  readonly states: WindowState[];
  readonly refuse: Refuse;
}

export function checkCall<Found>(
  facts: CallFacts,
  target: CallTarget<Found>,
): Refusal | Replay | Unprepared | PassedCall<Found> {
  const { caller, nowMs } = facts;
  const { noun, found } = target;
  const states: WindowState[] = [];
  const refuse: Refuse = (code, message, fields = {}) => {
    const record = (target.isRecorded && records[code]) || null;
    return { kind: 'refused', code, message, fields, states, record };
  };

  if (caller.ended || caller.role === null) {
    return refuse('UNAUTHORIZED', 'The API key is not valid.');
  }
  const verdict = spendKeys(facts.keyWindows, nowMs);
  states.push(...verdict.states);
  if (!verdict.passed) return refuseLimited(refuse, { ...facts, agent: null }, verdict.by);
  if (facts.idempotencyProblem) return refuse('INVALID_REQUEST', facts.idempotencyProblem);
  if (facts.replay) {
    const { sameBody } = facts.replay;
    if (sameBody === null) return { kind: 'unprepared' };
    if (sameBody) return { kind: 'replayed', states };
    return refuse('IDEMPOTENCY_KEY_REUSED', target.reused);
  }
  if (found === null) return refuse('NOT_FOUND', `There is no such ${noun}.`);
  const unreached = target.unreached(found);
  if (unreached !== null) return refuse('UNAUTHORIZED', unreached);
  if (!caller.rights.includes('execute')) {
    return refuse('PERMISSION_DENIED', deniedMessage(caller, 'execute'));
  }
  const inactive = target.inactive(found);
  if (inactive !== null) return refuse(inactiveCodes[noun], inactive);
  return { kind: 'passed', found, states, refuse };
}

/** The refusal of a call that found a window full. */
export function refuseLimited(
  refuse: Refuse,
  facts: Pick<CallFacts, 'nowMs' | 'caller'> & {
    readonly agent: { readonly limits: RateLimits } | null;
  },
  by: WindowState,
): Refusal {
  const fields = limitFields(reportedLimits(facts, by), by, facts.nowMs);
  return refuse('RATE_LIMIT_EXCEEDED', limitMessage(by, facts.caller.id), fields);
}

const inactiveCodes = { agent: 'AGENT_NOT_ACTIVE', workflow: 'WORKFLOW_NOT_ACTIVE' } as const;

/** The refusals that leave a record, and how the record ends. */
const records: Partial<Record<CallFailureCode, Refusal['record']>> = {
  UNAUTHORIZED: { status: 'unauthorized', errorCode: 'KEY_NOT_AUTHORIZED' },
  AGENT_NOT_ACTIVE: { status: 'unauthorized', errorCode: 'AGENT_NOT_ACTIVE' },
  RATE_LIMIT_EXCEEDED: { status: 'rate_limited', errorCode: 'RATE_LIMIT_EXCEEDED' },
  BUDGET_EXCEEDED: { status: 'rate_limited', errorCode: 'BUDGET_EXCEEDED' },
  QUOTA_EXCEEDED: { status: 'rate_limited', errorCode: 'QUOTA_EXCEEDED' },
};
