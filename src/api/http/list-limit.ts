import type { FastifyReply } from 'fastify';
import type { Caller } from '../../core/execution/caller.ts';
import type { ApiDeps } from '../api-deps.ts';
import { limitInMinute } from './minute-limit.ts';

/** Counts a call that reads a history or its statistics, and refuses it where the caller has made too many in this minute. */
export function limitLists(
  { db, listPerMinute: limit }: ApiDeps,
  { id }: Caller,
  reply: FastifyReply,
): Promise<void> {
  return limitInMinute(db, reply, { id, scope: 'list', limit, calls: 'list calls' });
}
