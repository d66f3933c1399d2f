import { createHash } from 'node:crypto';
import type { ExecutionErrorCode } from '../failure.ts';
import { uuid7, uuid7Time } from '../id.ts';
import { isObject } from '../is-object.ts';
import type { ExecutedTool } from './executed-tool.ts';
import type { ToolOutcome } from './tool-port.ts';
import { parallelCallsMax, safeSendsMax, type ToolSettings } from './tool-settings.ts';

/**
 * The states of a call of a tool, and what follows each.
 *
 *     (turn committed) ─────────────▼
 *     ready ──dispatch committed──▶ dispatched ──result committed──▶ done
 *      ▲ │                           │ │ │ process lost, or an answer that does not tell
 *      │ └─ cancel, deadline, limit  │ │ └─ not safe ──▶ unknown
 *      │         ▼                   │ └─ safe, at most three times ──▶ ready
 *      │      canceled               │
 *      └─────────────────────────────┘ refused before any work: the request is given back
 *
 * The first calls of a turn are dispatched by its own commit, the others once one of these has ended.
 *
 * Invariants: a request leaves only after its dispatch is committed, under the claim of its worker. A call that is not safe leaves
 * once. What is `done`, `unknown` or `canceled` changes no more.
 */
export const callStates = ['ready', 'dispatched', 'done', 'unknown', 'canceled'] as const;
export type CallState = (typeof callStates)[number];

/** A call of a turn, as the steps of its execution have it. */
export interface Call {
  /** From 1, in the order of the model. */
  readonly part: number;
  /** The stored id: the idempotency key at its server. */
  readonly toolCallId: string;
  /** The model's id of it. */
  readonly callId: string;
  readonly name: string;
  readonly arguments: unknown;
  /** The stored id; null for a tool that the version does not have. */
  readonly server: string | null;
  readonly safe: boolean;
  readonly state: CallState;
  readonly sent: number;
  /** For the model; null until the call has ended. */
  readonly result: string | null;
  readonly isError: boolean;
  readonly errorCode: ExecutionErrorCode | null;
}

/** Whether it counts: it was or will be sent. */
export function isMade({ state, sent }: Pick<Call, 'state' | 'sent'>): boolean {
  return state === 'ready' || sent > 0;
}

/** How the state of a call changes. */
export interface Settlement {
  readonly state: CallState;
  /** Whether its last request counts as not sent. */
  readonly givenBack: boolean;
  readonly result: string | null;
  readonly isError: boolean;
  readonly errorCode: ExecutionErrorCode | null;
}

const settlement: Settlement = {
  ...{ state: 'done', givenBack: false },
  ...{ result: null, isError: false, errorCode: null },
};

/** What follows the outcome of a request. */
export function settle(call: Pick<Call, 'safe' | 'sent'>, outcome: ToolOutcome): Settlement {
  if (outcome.kind === 'refused') return { ...settlement, state: 'ready', givenBack: true };
  if (outcome.kind === 'unknown') return settleUnknown(call);
  const { result, isError } = outcome;
  return {
    ...settlement,
    ...{ result, isError },
    errorCode: isError ? 'TOOL_SERVER_ERROR' : null,
  };
}

/** What follows a request of which nobody knows whether it arrived. */
export function settleUnknown({ safe, sent }: Pick<Call, 'safe' | 'sent'>): Settlement {
  if (!safe) return { ...settlement, state: 'unknown', errorCode: 'TOOL_OUTCOME_UNKNOWN' };
  return sent < safeSendsMax
    ? { ...settlement, state: 'ready' }
    : failedCall(
        `The call was sent ${safeSendsMax} times, and nobody knows whether it took effect.`,
      );
}

/** A call that ends with an error of its server, or before it. */
export function failedCall(result: string): Settlement {
  return { ...settlement, result, isError: true, errorCode: 'TOOL_SERVER_ERROR' };
}

/** What the model asked for. */
export interface AskedCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: unknown;
}

/**
 * The calls of a turn. What cannot be sent has ended: the model reads why.
 * @param limited why none of them is sent; null if they are
 */
export function plannedCalls(
  { executionId, n }: { readonly executionId: string; readonly n: number },
  asked: readonly AskedCall[],
  tools: readonly ExecutedTool[],
  limited: string | null,
): Call[] {
  let dispatched = 0;
  return asked.map(({ id: callId, name, arguments: given }, index) => {
    const part = index + 1;
    const tool = toolOf(tools, name);
    const unsent = limited ?? unsentBecause(tool, given);
    const isSent = unsent === null && ++dispatched <= parallelCallsMax;
    return {
      ...{ part, callId, name, arguments: given, errorCode: null },
      toolCallId: toolCallIdOf(executionId, n, part),
      server: tool?.server ?? null,
      safe: tool?.safe ?? false,
      state: isSent ? 'dispatched' : limited !== null ? 'canceled' : unsent ? 'done' : 'ready',
      sent: Number(isSent),
      result: unsent,
      isError: unsent !== null,
    };
  });
}

/** What the model calls by this name. Undefined if its version has no such tool, which nobody can call then. */
export function toolOf(tools: readonly ExecutedTool[], name: string): ExecutedTool | undefined {
  return tools.find((tool) => tool.name === name);
}

function unsentBecause(tool: ExecutedTool | undefined, given: unknown): string | null {
  if (!tool) return 'There is no tool of this name.';
  return isObject(given) ? null : 'The arguments are no JSON object.';
}

/** The same whoever plans the turn: a turn whose commit had no response is written again. */
function toolCallIdOf(executionId: string, n: number, part: number): string {
  const hash = createHash('sha256').update(`${executionId} ${n} ${part}`).digest('hex');
  return uuid7(uuid7Time(executionId), hash.slice(0, 20));
}

/** Which limit the calls of a turn exceed, as a sentence; null if none. */
export function exceededLimit(
  { maxTurns, maxCalls }: Pick<Required<ToolSettings>, 'maxTurns' | 'maxCalls'>,
  { n, made, asked }: { readonly n: number; readonly made: number; readonly asked: number },
): string | null {
  if (n >= maxTurns) return `The limit of ${maxTurns} turns is reached.`;
  if (made + asked > maxCalls) return `The limit of ${maxCalls} calls of tools is reached.`;
  return null;
}
