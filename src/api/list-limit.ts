import type { FastifyReply } from 'fastify';
import type { Caller } from '../core/caller.ts';
import { limitInMinute } from './minute-limit.ts';
import type { ApiParts } from './parts.ts';

/** Counts a call that reads a history or its statistics, and refuses it where the caller has made too many in this minute. */
export function limitLists(
  { db, listPerMinute: limit }: ApiParts,
  { id }: Caller,
  reply: FastifyReply,
): Promise<void> {
  return limitInMinute(db, reply, { id, scope: 'list', limit, calls: 'list calls' });
}
