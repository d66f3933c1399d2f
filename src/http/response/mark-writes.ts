import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Standby } from '../../db/standby.ts';
import { bearerHash } from '../request/credential.ts';

const readMethods = ['GET', 'HEAD', 'OPTIONS'];

/** Before the response to a write leaves, its caller is marked: its next reads come from the primary. */
export function markWrites(app: FastifyInstance, standby: Pick<Standby, 'recordWrite'>): void {
  app.addHook('onSend', async (request, reply) => {
    if (readMethods.includes(request.method)) return;
    // A server error may follow a write. Other errors wrote nothing that the caller could look for.
    if (reply.statusCode >= 400 && reply.statusCode < 500) return;
    const writer = writerOf(request);
    if (writer !== null) await standby.recordWrite(writer);
  });
}

/** The caller as its writes are marked; null if it has none. */
export function writerOf(request: FastifyRequest): string | null {
  try {
    return bearerHash(request) ?? request.sessionUser;
  } catch {
    // A malformed key.
    return null;
  }
}
