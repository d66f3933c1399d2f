import type { FastifyReply } from 'fastify';
import { secondsUntil } from '../../../core/execution/limits.ts';
import { CallFailure } from '../../../core/failure.ts';
import { type Caller, limitSubjectOf } from '../../../core/people/caller.ts';
import type { Db } from '../../../db/database.ts';
import { countInMinute } from '../../../store/people/callers.ts';
import type { ApiDeps } from '../../api-deps.ts';
import { rateHeaders } from './rate-headers.ts';

/** A limit per minute, apart from the windows of executions. */
interface MinuteLimit {
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

/** Counts calls of a caller or webhook, sets the rate limit headers, and rejects them above the limit per minute. */
export async function limitInMinute(
  db: Db,
  reply: FastifyReply,
  { id, ...limit }: MinuteLimit & { readonly id: string },
  count = 1,
): Promise<void> {
  applyMinuteLimit(reply, limit, await countInMinute(db, id, count));
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

/** Counts requests for history, statistics or tools, and rejects them above the caller's limit per minute. */
export function limitLists(
  { db, listPerMinute: limit }: ApiDeps,
  caller: Caller,
  reply: FastifyReply,
  count = 1,
): Promise<void> {
  const id = limitSubjectOf(caller);
  return limitInMinute(db, reply, { id, scope: 'list', limit, calls: 'list calls' }, count);
}
