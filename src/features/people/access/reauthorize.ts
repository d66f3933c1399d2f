import type { FastifyRequest } from 'fastify';
import type { Endpoint } from '../../../http/contract/operation.ts';
import type { ApiDeps } from '../../api-deps.ts';
import { requireVisibleAgents } from './visible-resources.ts';

interface ReauthorizeDeps extends Pick<ApiDeps, 'authenticator' | 'reads'> {
  readonly request: FastifyRequest;
  readonly endpoint: Endpoint;
}

/**
 * Authorizes the caller again before each batch of a streamed response, because a slow client reads it for up to an hour: the
 * key may be revoked, the role changed, or an agent hidden meanwhile. The stream then fails, which cuts the connection.
 */
export async function* reauthorized<Row extends { readonly agentId: string }>(
  { authenticator, reads, request, endpoint }: ReauthorizeDeps,
  batches: AsyncIterable<readonly Row[]>,
): AsyncGenerator<readonly Row[], void, undefined> {
  for await (const rows of batches) {
    const caller = await authenticator.authenticate(request, endpoint);
    await requireVisibleAgents(reads, caller, new Set(rows.map(({ agentId }) => agentId)));
    yield rows;
  }
}
