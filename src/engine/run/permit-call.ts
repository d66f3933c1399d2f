import type { Prompt } from '../../core/agent/prompt.ts';
import { sizeOfPrompt } from '../../core/agent/prompt-size.ts';
import type { ResponseFormat } from '../../core/agent/response-format.ts';
import { addDecimals, toUnits } from '../../core/decimal.ts';
import { costLimitMessage, fitsLimit } from '../../core/execution/check-cost.ts';
import { type Ended, failed } from '../../core/execution/outcome.ts';
import type { QueuedExecution } from '../../core/execution/queued-execution.ts';
import { callBound, defaultOutputTokens, type PriceLookup } from '../../core/model/call-bound.ts';
import type { Cost } from '../../core/model/model-port.ts';
import type { Db } from '../../db/database.ts';
import { writeCallBound } from './queue.ts';

/**
 * Every call of a model passes here before it is sent: the first one, retries, fallbacks, corrections, and each turn of a loop of
 * tools. Under a limit of cost, a call whose bound does not fit into what is left is not sent, and the execution ends.
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
}

export function permits(db: Db, prices: PriceLookup): PermitDeps {
  return { prices, writeBound: (execution, usd) => writeCallBound(db, execution, usd) };
}

export interface NextCall {
  readonly prompt: Prompt;
  readonly format: ResponseFormat | null;
  /** US dollars that earlier calls of this attempt have cost, with what they keep (`keptUsd`). */
  readonly spentUsd?: string;
}

/** @returns how it may be sent, how the execution ends instead, or that it was lost */
export async function permitCall(
  { prices, writeBound }: PermitDeps,
  execution: QueuedExecution,
  { prompt, format, spentUsd: ofAttempt = '0' }: NextCall,
): Promise<CallPermit | Ended | { readonly kind: 'stopped'; readonly sent: null }> {
  const { settings, mismatch, callBoundUsd } = execution;
  const { maxCostUSD, maxTokens: own } = settings;
  if (maxCostUSD === undefined) return { kind: 'permitted', maxTokens: own, boundUsd: null };
  const maxTokens = own ?? defaultOutputTokens;
  const schema = format && JSON.stringify(format.schema);
  const rates = prices.rates({ ...execution, settings: settings.call ?? {} });
  const size = sizeOfPrompt(prompt, { schema, correction: mismatch });
  const bound = rates.kind === 'rates' ? callBound(size, maxTokens, rates) : rates;
  const notSent = { prompt, counted: false };
  if (bound.kind === 'unbounded') return failed('PRICE_UNKNOWN', bound.reason, notSent);
  const { usd: boundUsd } = bound;
  const spentUsd = addDecimals(ofAttempt, execution.spentUsd);
  if (!fitsLimit(maxCostUSD, spentUsd, boundUsd)) {
    const message = costLimitMessage(maxCostUSD, { spentUsd, neededUsd: boundUsd });
    return failed('COST_LIMIT', message, notSent);
  }
  const isWritten = isAtMost(boundUsd, callBoundUsd ?? '0');
  if (!isWritten && !(await writeBound(execution, boundUsd)))
    return { kind: 'stopped', sent: null };
  return { kind: 'permitted', maxTokens, boundUsd };
}

/** What a call keeps spoken for beside its known cost: its bound, if its provider may have charged more than is known. */
export function keptUsd({ known }: Cost, { boundUsd }: CallPermit): string {
  return known ? '0' : (boundUsd ?? '0');
}

function isAtMost(amount: string, most: string): boolean {
  return (toUnits(amount) ?? 0n) <= (toUnits(most) ?? 0n);
}
