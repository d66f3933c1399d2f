import type { FastifyRequest } from 'fastify';
import type { Caller } from '../core/people/caller.ts';
import type { Endpoint } from './contract/operation.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The user whose session authenticated it; null before that, and without one. */
    sessionUser: string | null;
  }
}

export interface Authenticator {
  /** The caller, if the endpoint accepts its kind; its permissions are not checked. Throws 401 or 403. */
  identify(request: FastifyRequest, endpoint: Endpoint): Promise<Caller>;
  /** The caller, if it has the permission that the endpoint requires. Throws 401 or 403. */
  authenticate(request: FastifyRequest, endpoint: Endpoint): Promise<Caller>;
}
