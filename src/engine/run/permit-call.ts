import type { Prompt } from '../../core/agent/prompt.ts';
import { sizeOfPrompt } from '../../core/agent/prompt-size.ts';
import type { ResponseFormat } from '../../core/agent/response-format.ts';
import { toUnits } from '../../core/decimal.ts';
import { costLimitMessage, fitsLimit } from '../../core/execution/check-cost.ts';
import { type Ended, failed } from '../../core/execution/outcome.ts';
import type { QueuedExecution } from '../../core/execution/queued-execution.ts';
import {
  type CallBound,
  callBound,
  defaultOutputTokens,
  type PriceLookup,
  type Unbounded,
} from '../../core/model/call-bound.ts';
import type { Cost } from '../../core/model/model-port.ts';
import type { Db } from '../../db/database.ts';
import type { ReserveCall } from '../budgets/reserve-calls.ts';
import { writeCallBound } from './queue.ts';
import { reserveNext } from './reserve-next.ts';

/**
 * Every call of a model passes here before it is sent: the first one, retries, fallbacks, corrections, and each turn of a loop of
 * tools. Under a limit of cost or a budget, a call whose bound does not fit into what is left is not sent, and the execution ends.
 *
 * Invariants
 * - While a call runs, the row in the queue has a bound that is not lower than that of the call. If the worker is lost, the sweep
 *   counts it as spent (`workers.ts`).
 * - A call whose cost is unknown counts with its bound (`keptUsd`).
 *
 * Admission has written the bound of the first call. It is written again only where a call may cost more: with another model or price,
 * a correction, or messages of earlier turns.
 */
export interface CallPermit {
  readonly kind: 'permitted';
  /** The limit of its output. */
  readonly maxTokens: number | null;
  /** What it may cost, in US dollars; null without a limit of cost. */
  readonly boundUsd: string | null;
}

export interface PermitDeps {
  readonly prices: PriceLookup;
  /** Writes the bound of the next call into the queue; false if the worker does not own the execution any more. */
  readonly writeBound: (execution: QueuedExecution, boundUsd: string) => Promise<boolean>;
  /** Reserves it in the budgets of its workspace. */
  readonly reserve: ReserveCall;
}

export function permits(db: Db, prices: PriceLookup, reserve: ReserveCall): PermitDeps {
  return { prices, reserve, writeBound: (execution, usd) => writeCallBound(db, execution, usd) };
}

export interface NextCall {
  readonly prompt: Prompt;
  readonly format: ResponseFormat | null;
}

/** @returns how it may be sent, how the execution ends instead, or that it was lost */
export async function permitCall(
  deps: PermitDeps,
  execution: QueuedExecution,
  call: NextCall,
): Promise<CallPermit | Ended | typeof lost> {
  const { maxCostUSD, maxTokens: own } = execution.settings;
  const isBudgeted = execution.mustReserve || execution.reservedUsd !== null;
  if (maxCostUSD === undefined && !isBudgeted) {
    return { kind: 'permitted', maxTokens: own, boundUsd: null };
  }
  const maxTokens = own ?? defaultOutputTokens;
  const bound = boundOf(deps.prices, execution, call, maxTokens);
  const refused = maxCostUSD === undefined ? null : refuseBeyond(maxCostUSD, execution, bound);
  const notSent = { prompt: call.prompt, counted: false };
  if (refused) return { ...refused, ...notSent };
  const boundUsd = bound.kind === 'bound' ? bound.usd : null;
  if (isBudgeted) {
    const ended = await reserveNext(deps.reserve, execution, bound);
    if (ended === 'lost') return lost;
    if (ended) return { ...ended, ...notSent };
  }
  const isWritten = maxCostUSD === undefined || isAtMost(boundUsd, execution.callBoundUsd);
  if (!isWritten && !(await deps.writeBound(execution, boundUsd ?? '0'))) return lost;
  return { kind: 'permitted', maxTokens, boundUsd };
}

const lost = { kind: 'stopped', sent: null } as const;

function boundOf(
  prices: PriceLookup,
  execution: QueuedExecution,
  { prompt, format }: NextCall,
  maxTokens: number,
): CallBound | Unbounded {
  const { settings, mismatch } = execution;
  const rates = prices.rates({ ...execution, settings: settings.call ?? {} });
  if (rates.kind === 'unbounded') return rates;
  const schema = format && JSON.stringify(format.schema);
  return callBound(sizeOfPrompt(prompt, { schema, correction: mismatch }), maxTokens, rates);
}

/** Null if the call fits into the limit of its execution. */
function refuseBeyond(
  maxCostUSD: number,
  { spentUsd }: QueuedExecution,
  bound: CallBound | Unbounded,
): Ended | null {
  if (bound.kind === 'unbounded') return failed('PRICE_UNKNOWN', bound.reason);
  if (fitsLimit(maxCostUSD, spentUsd, bound.usd)) return null;
  const message = costLimitMessage(maxCostUSD, { spentUsd, neededUsd: bound.usd });
  return failed('COST_LIMIT', message);
}

/** What a call keeps spoken for beside its known cost: its bound, if its provider may have charged more than is known. */
export function keptUsd({ known }: Cost, { boundUsd }: CallPermit): string {
  return known ? '0' : (boundUsd ?? '0');
}

function isAtMost(amount: string | null, most: string | null): boolean {
  // The usual case: admission has computed the same bound.
  return amount === most || (toUnits(amount ?? '0') ?? 0n) <= (toUnits(most ?? '0') ?? 0n);
}
