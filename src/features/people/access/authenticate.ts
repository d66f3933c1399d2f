import type { FastifyRequest } from 'fastify';
import { deniedMessage } from '../../../core/execution/refusal-messages.ts';
import { CallFailure } from '../../../core/failure.ts';
import type { Caller } from '../../../core/people/caller.ts';
import type { SharedReads } from '../../../engine/read/shared-reads.ts';
import type { Authenticator } from '../../../http/authenticator.ts';
import { type Endpoint, keyRight, sessionRight } from '../../../http/contract/operation.ts';
import { bearerHash, unauthorized } from '../../../http/request/credential.ts';

/** Authenticates the bearer of an API key, or a browser with a session. */

export interface AuthenticatorDeps {
  readonly reads: SharedReads;
  /** The caller of the session cookie; null without a valid session. */
  readonly session: (request: FastifyRequest, endpoint: Endpoint) => Promise<Caller | null>;
  /** Records the last use of a key. */
  readonly onKeyUsed: (hash: string) => void;
}

export function createAuthenticator(deps: AuthenticatorDeps): Authenticator {
  async function identifyWithRight(request: FastifyRequest, endpoint: Endpoint) {
    const hash = bearerHash(request);
    const caller = hash ? await deps.reads.caller(hash) : await deps.session(request, endpoint);
    if (!caller || caller.ended || caller.role === null) throw unauthorized();
    if (caller.kind === 'session') request.sessionUser = caller.id;
    if (hash) deps.onKeyUsed(hash);
    const right = caller.kind === 'key' ? keyRight(endpoint) : sessionRight(endpoint);
    if (right !== null) return { caller, right };
    const required = caller.kind === 'key' ? 'session' : 'key';
    throw new CallFailure('PERMISSION_DENIED', `This endpoint requires a ${required}.`);
  }

  return {
    identify: async (request, endpoint) => (await identifyWithRight(request, endpoint)).caller,
    async authenticate(request, endpoint) {
      const { caller, right } = await identifyWithRight(request, endpoint);
      const { ownPermission, orPermission } = endpoint;
      const others = caller.kind === 'key' ? [ownPermission, orPermission] : [];
      if (!caller.rights.some((one) => one === right || others.includes(one))) {
        throw new CallFailure('PERMISSION_DENIED', deniedMessage(caller, right));
      }
      return caller;
    },
  };
}
