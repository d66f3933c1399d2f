import type { FastifyReply } from 'fastify';
import { secondsUntil } from '../../core/agent/limits.ts';
import { CallFailure } from '../../core/failure.ts';
import { rateHeaders } from './rate-headers.ts';

/** A limit per minute, apart from the windows of executions. */
export interface MinuteLimit {
  readonly scope: 'list' | 'management' | 'webhook';
  readonly limit: number;
  /** Plural noun for the message. */
  readonly calls: string;
}

interface MinuteCount {
  /** With the current call. */
  readonly used: number;
  readonly nowMs: number;
  readonly resetAtMs: number;
}

/** Sets the rate limit headers, and throws 429 above the limit. */
export function applyMinuteLimit(
  reply: FastifyReply,
  { scope, limit, calls }: MinuteLimit,
  { used, nowMs, resetAtMs }: MinuteCount,
): void {
  const remaining = Math.max(0, limit - used);
  reply.headers(rateHeaders([{ scope, window: 'minute', limit, remaining, resetAtMs }], nowMs));
  if (used <= limit) return;
  const message = `Limit of ${calls} exceeded: ${limit} per minute.`;
  const retryAfter = secondsUntil(resetAtMs, nowMs);
  throw new CallFailure('RATE_LIMIT_EXCEEDED', message, { retryAfter });
}
