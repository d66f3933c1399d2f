import type { FastifyRequest } from 'fastify';
import { CallFailure } from '../../core/failure.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Whether the request counts as open: it has no response yet. */
    open: boolean;
  }
  interface FastifyContextConfig {
    /** Set on routes of probes and scrapes, which must get a response from an overloaded process. */
    readonly servedUnderOverload?: true;
  }
}

/** Open requests, long polls included, above which further ones are rejected with 503. */
const openRequestsMax = 5_000;

/**
 * Counts requests from their headers to the start of their response. A response that its client does not read is not
 * counted, because it must not keep others out. The flag is on the request: a Set would promote each request to the old
 * generation of the heap.
 */
export class OpenRequests {
  #count = 0;

  /** Returns the rejection if the process is overloaded. */
  add(request: FastifyRequest): CallFailure | null {
    request.open = true;
    this.#count++;
    // Route options are rebuilt at each access, so they are read only under overload.
    if (this.#count <= openRequestsMax) return null;
    if (request.routeOptions.config.servedUnderOverload) return null;
    const message = 'Too many requests are open. Try again.';
    return new CallFailure('UNAVAILABLE', message, { retryAfter: 1 });
  }

  remove(request: FastifyRequest): void {
    if (!request.open) return;
    request.open = false;
    this.#count--;
  }
}
