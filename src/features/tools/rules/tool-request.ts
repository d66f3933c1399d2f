import { signedHeaders } from '../../../core/event/sign.ts';
import { toId } from '../../../core/id.ts';
import { findHeadersProblem } from '../../../core/model/request-extras.ts';

/** Requests to tool servers: their headers. */

export interface SentCall {
  /** `tcl_…`. */
  readonly toolCallId: string;
  /** Stored; null for a call that somebody tries. */
  readonly executionId: string | null;
  readonly tool: string;
  readonly body: string;
  readonly atMs: number;
}

/**
 * The headers of a request beside those that the owner set. The id of the call signs and identifies it: requests of the same call have
 * the same.
 * @param secrets the current one first
 */
export function callHeaders(
  { toolCallId: id, executionId, tool, body, atMs }: SentCall,
  secrets: readonly string[],
): Record<string, string> {
  return {
    'content-type': 'application/json',
    'cueline-tool': tool,
    'idempotency-key': id,
    ...signedHeaders({ id, atMs, body }, secrets),
    ...(executionId !== null && {
      'cueline-execution': toId('execution', executionId),
      traceparent: traceparent(executionId, id),
    }),
  };
}

/** A trace of its own for each execution, whose identifier it is, with a span for each call. */
function traceparent(executionId: string, toolCallId: string): string {
  const span = Buffer.from(toolCallId.slice(-8)).toString('hex');
  return `00-${executionId.replaceAll('-', '')}-${span}-01`;
}

/** Headers that `callHeaders` sets, and those that name a sender. */
const ownHeader = /^(cueline-.*|webhook-.*|idempotency-key|traceparent|tracestate|user-agent)$/i;

/** Why a server may not get these headers, as public text; null if it may. */
export function serverHeadersProblem(headers: Readonly<Record<string, string>>): string | null {
  const own = Object.keys(headers).find((name) => ownHeader.test(name));
  if (own === undefined) return findHeadersProblem(headers);
  return `Field "headers.${own}" is not allowed: Cueline sets this header itself.`;
}
