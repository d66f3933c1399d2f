import type { FastifyReply } from 'fastify';
import { type Caller, limitSubjectOf } from '../../core/execution/caller.ts';
import type { ApiDeps } from '../api-deps.ts';
import { limitInMinute } from './minute-limit.ts';

/** Counts a request for history or statistics, and rejects it above the caller's limit per minute. */
export function limitLists(
  { db, listPerMinute: limit }: ApiDeps,
  caller: Caller,
  reply: FastifyReply,
): Promise<void> {
  const id = limitSubjectOf(caller);
  return limitInMinute(db, reply, { id, scope: 'list', limit, calls: 'list calls' });
}
