import type { FastifyRequest } from 'fastify';
import { type Endpoint, keyRight, sessionRight } from '../../contract/endpoint.ts';
import type { Caller } from '../../core/execution/caller.ts';
import { deniedMessage } from '../../core/execution/refusal-messages.ts';
import { CallFailure } from '../../core/failure.ts';
import { hashKey, isKey } from '../../core/people/key.ts';
import type { SharedReads } from '../../flow/execution/shared-reads.ts';

/** Who calls: the bearer of an API key, or a browser with a session. */

/** What can be said before the body has come: whoever bears nothing, or a key of the wrong form, need not send one. */
export function requireCredential(request: FastifyRequest): void {
  if (bearerHash(request) === null && request.headers.cookie === undefined) throw unauthorized();
}

/**
 * The hash of the key a request bears. Shape and checksum are looked at here, without asking the database; whether
 * such a key was issued only the database knows. Null where the request bears none.
 */
export function bearerHash(request: FastifyRequest): string | null {
  const header = request.headers.authorization;
  if (header === undefined) return null;
  const key = /^Bearer +(\S+) *$/i.exec(header)?.[1];
  if (key === undefined || !isKey(key)) throw unauthorized();
  return hashKey(key);
}

export interface Authenticator {
  /** The caller, of the kind that the endpoint is for, whatever its rights; 401 or 403 otherwise. */
  identify(request: FastifyRequest, endpoint: Endpoint): Promise<Caller>;
  /** The caller, with the right that the endpoint needs of it; 401 or 403 otherwise. */
  authenticate(request: FastifyRequest, endpoint: Endpoint): Promise<Caller>;
}

export interface AuthenticatorDeps {
  readonly reads: SharedReads;
  /** The caller that the request's session cookie stands for; null where it has none that holds. */
  readonly session: (request: FastifyRequest, endpoint: Endpoint) => Promise<Caller | null>;
  /** Told of keys that were used. */
  readonly onKeyUsed: (hash: string) => void;
}

export function createAuthenticator(parts: AuthenticatorDeps): Authenticator {
  async function identified(request: FastifyRequest, endpoint: Endpoint) {
    const hash = bearerHash(request);
    const caller = hash ? await parts.reads.caller(hash) : await parts.session(request, endpoint);
    if (!caller || caller.ended || caller.role === null) throw unauthorized();
    if (hash) parts.onKeyUsed(hash);
    const right = caller.kind === 'key' ? keyRight(endpoint) : sessionRight(endpoint);
    if (right !== null) return { caller, right };
    const needed = caller.kind === 'key' ? 'session' : 'key';
    throw new CallFailure('PERMISSION_DENIED', `This needs a ${needed}.`);
  }

  return {
    identify: async (request, endpoint) => (await identified(request, endpoint)).caller,
    async authenticate(request, endpoint) {
      const { caller, right } = await identified(request, endpoint);
      const own = caller.kind === 'key' && endpoint.ownPermission;
      if (!caller.rights.includes(right) && !(own && caller.rights.includes(own))) {
        throw new CallFailure('PERMISSION_DENIED', deniedMessage(caller, right));
      }
      return caller;
    },
  };
}

export function unauthorized(): CallFailure {
  return new CallFailure('UNAUTHORIZED', 'The API key or session is missing or not valid.');
}
