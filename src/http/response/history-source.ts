import type { FastifyReply, FastifyRequest } from 'fastify';
import type { HistoryReadOptions } from '../../db/history-reads.ts';
import { writerOf } from './mark-writes.ts';

/** The header of responses that a standby may have served. */
export const dataAsOf = 'cueline-data-as-of';

/**
 * Where a response is read from, and how old it is: lists, searches, statistics and exports may come from a standby.
 * @param fresh whether only the primary has what is asked for, such as executions that are processing
 */
export function historySource(
  request: FastifyRequest,
  reply: FastifyReply,
  { fresh = false }: { readonly fresh?: boolean } = {},
): HistoryReadOptions {
  return {
    fresh,
    writer: writerOf(request),
    onRead: (asOf) => void reply.header(dataAsOf, asOf.toISOString()),
  };
}
