import type { FastifyReply } from 'fastify';
import type { Caller } from '../core/admission.ts';
import { CallFailure } from '../core/failure.ts';
import { secondsUntil } from '../core/limits.ts';
import { countInMinute } from '../store/callers.ts';
import type { ApiParts } from './parts.ts';
import { rateHeaders } from './rate-headers.ts';

/** Counts a call that reads a history or its statistics, and refuses it where the caller has made too many in this minute. */
export async function limitLists(parts: ApiParts, caller: Caller, reply: FastifyReply) {
  const limit = parts.listPerMinute;
  const { used, nowMs, resetAtMs } = await countInMinute(parts.db, caller.id);
  const remaining = Math.max(0, limit - used);
  reply.headers(
    rateHeaders([{ scope: 'key', window: 'minute', limit, used, remaining, resetAtMs }], nowMs),
  );
  if (used <= limit) return;
  throw new CallFailure(
    'RATE_LIMIT_EXCEEDED',
    `Limit of list calls exceeded: ${limit} per minute.`,
    {
      retryAfter: secondsUntil(resetAtMs, nowMs),
    },
  );
}
