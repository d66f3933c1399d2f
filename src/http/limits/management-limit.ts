import type { FastifyReply } from 'fastify';
import { type Caller, limitSubjectOf } from '../../core/people/caller.ts';
import { applyMinuteLimit } from './minute-limit.ts';

/** Counts a management call, and throws 429 above the caller's limit per minute. Sets the rate limit headers. */
export type ManagementLimit = (caller: Caller, reply: FastifyReply) => void;

const minuteMs = 60_000;

/**
 * Counts in memory, so each process has its own limit: it only keeps a caller from overloading the process, and a count in
 * the database would make each call a write. The minutes are those of the calendar when the process started; later changes
 * of the clock neither lengthen nor repeat one.
 */
export function createManagementLimit(limit: number): ManagementLimit {
  const used = new Map<string, number>();
  let minute = -1;

  return (caller, reply) => {
    const nowMs = Math.floor(performance.timeOrigin + performance.now());
    const current = Math.floor(nowMs / minuteMs);
    if (current !== minute) used.clear();
    minute = current;
    const subject = limitSubjectOf(caller);
    const count = (used.get(subject) ?? 0) + 1;
    used.set(subject, count);
    const resetAtMs = (minute + 1) * minuteMs;
    const calls = 'management calls';
    applyMinuteLimit(
      reply,
      { scope: 'management', limit, calls },
      { used: count, nowMs, resetAtMs },
    );
  };
}
