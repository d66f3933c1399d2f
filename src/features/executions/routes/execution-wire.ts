import type { Execution, ExecutionSummary } from '../../../core/execution/execution-fields.ts';
import {
  type Sent,
  type ShownField,
  sentOf,
  shownFields,
} from '../../../core/execution/shown-fields.ts';
import { type Caller, seesCosts } from '../../../core/people/caller.ts';
import type { ExecutionStep } from '../../../engine/read/steps.ts';
import { RawJson } from '../../../http/response/json-response.ts';
import { visibleError } from '../../people/access/visible-resources.ts';

/** Executions in API format: the fields of `execution-fields.ts` that the caller may see. */

type Wire = Record<string, unknown>;

const listedFields = shownFields.filter(({ detail }) => !detail);

/** An execution in a list. */
export function executionWire(row: ExecutionSummary): Wire {
  return wireOf(listedFields, row, {});
}

/** The full record, with prompts, caller address and user agent. */
export function executionDetailWire(row: Execution): Wire {
  return wireOf(shownFields, row, sentOf(row));
}

/** Optional fields without a value are absent. */
function wireOf(fields: readonly ShownField[], row: ExecutionSummary, sent: Sent): Wire {
  const wire: Wire = {};
  const isLive = row.status === 'processing';
  for (const field of fields) {
    if (field.figure && isLive) continue;
    const value = field.read(row, sent) ?? null;
    if (value === null && field.isOptional) continue;
    wire[field.name] = field.isJson ? new RawJson(value as string) : value;
  }
  return wire;
}

const views = {
  all: shownFields,
  /** A key without `read` may be in a web page: it sees what came out, not what went in or who executed it. */
  own: shownFields.filter(({ hidden }) => hidden !== 'request'),
  /** Nor the cost, if the key is meant for browsers. */
  page: shownFields.filter(({ hidden }) => !hidden),
};

function viewOf(caller: Caller): keyof typeof views {
  if (caller.rights.includes('read')) return 'all';
  return seesCosts(caller) ? 'own' : 'page';
}

/** The record as far as the caller may see it. */
export function visibleExecutionWire(caller: Caller, row: Execution): Wire {
  const view = viewOf(caller);
  const shown = view === 'all' ? row : { ...row, error: visibleError(caller, row.error) };
  return wireOf(views[view], shown, sentOf(row));
}

/**
 * A step as far as the caller may see it. What the model wrote, the names of tools included, and the results are part of the next
 * prompt.
 */
export function visibleStep(caller: Caller, step: ExecutionStep) {
  const view = viewOf(caller);
  if (view === 'all') return { ...step, arguments: step.arguments && new RawJson(step.arguments) };
  const call = { name: null, toolServerId: null, arguments: null, usedArguments: null };
  return {
    ...step,
    ...call,
    text: null,
    result: null,
    ...(view === 'page' && { costUSD: null, costKnown: null }),
  };
}

/** The same, once for all readers of a row with the same rights: many readers of a stream hold its end at once. */
export function sharedExecutionWire(caller: Caller, row: Execution): Wire {
  const wires = sharedWires.get(row) ?? {};
  sharedWires.set(row, wires);
  const view = viewOf(caller);
  wires[view] ??= visibleExecutionWire(caller, row);
  return wires[view];
}

const sharedWires = new WeakMap<Execution, Partial<Record<keyof typeof views, Wire>>>();
