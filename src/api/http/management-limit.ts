import type { FastifyReply } from 'fastify';
import { type Caller, limitSubjectOf } from '../../core/execution/caller.ts';
import { secondsUntil } from '../../core/execution/limits.ts';
import { CallFailure } from '../../core/failure.ts';
import { rateHeaders } from './rate-headers.ts';

/** Counts a management call, and throws 429 above the caller's limit per minute. Sets the rate limit headers. */
export type ManagementLimit = (caller: Caller, reply: FastifyReply) => void;

const minuteMs = 60_000;

/**
 * Counts in memory, so each process has its own limit: it only keeps a caller from overloading the process, and a count in
 * the database would make each call a write. The minutes are those of the monotonic clock, which nobody sets.
 */
export function createManagementLimit(limit: number): ManagementLimit {
  const used = new Map<string, number>();
  let minute = -1;

  return (caller, reply) => {
    const elapsedMs = performance.now();
    const current = Math.floor(elapsedMs / minuteMs);
    if (current !== minute) used.clear();
    minute = current;
    const subject = limitSubjectOf(caller);
    const count = (used.get(subject) ?? 0) + 1;
    used.set(subject, count);
    const nowMs = Date.now();
    const resetAtMs = nowMs + Math.ceil((minute + 1) * minuteMs - elapsedMs);
    const remaining = Math.max(0, limit - count);
    const state = { scope: 'management', window: 'minute', limit, remaining, resetAtMs } as const;
    reply.headers(rateHeaders([state], nowMs));
    if (count <= limit) return;
    const message = `Limit of management calls exceeded: ${limit} per minute.`;
    const retryAfter = secondsUntil(resetAtMs, nowMs);
    throw new CallFailure('RATE_LIMIT_EXCEEDED', message, { retryAfter });
  };
}
