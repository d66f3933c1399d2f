import type { FastifyRequest } from 'fastify';
import { type Endpoint, keyRight, sessionRight } from '../../contract/endpoint.ts';
import { deniedMessage } from '../../core/execution/refusal-messages.ts';
import { CallFailure } from '../../core/failure.ts';
import type { Caller } from '../../core/people/caller.ts';
import { hashKey, isKey } from '../../core/people/key.ts';
import type { SharedReads } from '../../flow/execution/shared-reads.ts';
import { setSessionUser } from './session-user.ts';

/** Authenticates the bearer of an API key, or a browser with a session. */

/** Rejects a request without a key or cookie, or with a malformed key, before its body is read. */
export function requireCredential(request: FastifyRequest): void {
  if (bearerHash(request) === null && request.headers.cookie === undefined) throw unauthorized();
}

/**
 * The hash of the request's key; null without a key. Checks the format and the checksum only. The database decides
 * whether such a key exists.
 */
export function bearerHash(request: FastifyRequest): string | null {
  const header = request.headers.authorization;
  if (header === undefined) return null;
  const key = /^Bearer +(\S+) *$/i.exec(header)?.[1];
  if (key === undefined || !isKey(key)) throw unauthorized();
  return hashKey(key);
}

export interface Authenticator {
  /** The caller, if the endpoint accepts its kind; its permissions are not checked. Throws 401 or 403. */
  identify(request: FastifyRequest, endpoint: Endpoint): Promise<Caller>;
  /** The caller, if it has the permission that the endpoint requires. Throws 401 or 403. */
  authenticate(request: FastifyRequest, endpoint: Endpoint): Promise<Caller>;
}

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
    if (caller.kind === 'session') setSessionUser(request, caller.id);
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

export function unauthorized(): CallFailure {
  return new CallFailure('UNAUTHORIZED', 'The API key or session is missing or not valid.');
}
