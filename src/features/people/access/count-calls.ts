import type { FastifyReply } from 'fastify';
import { type Caller, limitSubjectOf } from '../../../core/people/caller.ts';
import type { Db } from '../../../db/database.ts';
import { applyMinuteLimit, type MinuteLimit } from '../../../http/limits/minute-limit.ts';
import type { ApiDeps } from '../../api-deps.ts';
import { countInMinute } from '../statements/callers.ts';

/** Counts calls of a caller or webhook, sets the rate limit headers, and rejects them above the limit per minute. */
export async function limitInMinute(
  db: Db,
  reply: FastifyReply,
  { id, ...limit }: MinuteLimit & { readonly id: string },
  count = 1,
): Promise<void> {
  applyMinuteLimit(reply, limit, await countInMinute(db, id, count));
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
