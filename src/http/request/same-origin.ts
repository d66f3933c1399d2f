import type { FastifyRequest } from 'fastify';
import { CallFailure } from '../../core/failure.ts';

/**
 * The origin of the server, as the request names it. Behind an untrusted proxy the scheme may differ from the browser's;
 * `CUELINE_PUBLIC_URL` and `Sec-Fetch-Site` cover that case.
 */
export function originOf(request: FastifyRequest): string {
  return `${request.protocol}://${request.host}`;
}

/**
 * Whether the request comes from a page of this server. A page cannot set either header. A foreign page that reaches
 * this server by DNS rebinding has no session cookie.
 */
export function isSameOrigin(request: FastifyRequest, publicUrl: string | null): boolean {
  const { origin, 'sec-fetch-site': site } = request.headers;
  if (site === 'same-origin') return true;
  const own = publicUrl === null ? null : new URL(publicUrl).origin;
  return origin !== undefined && (origin === own || origin === originOf(request));
}

/** Rejects a write with a cookie from another origin. Reads change nothing, and browsers hide their responses. */
export function checkSameOrigin(request: FastifyRequest, publicUrl: string | null): void {
  if (request.method === 'GET' || request.method === 'HEAD') return;
  if (isSameOrigin(request, publicUrl)) return;
  throw new CallFailure(
    'PERMISSION_DENIED',
    'A write with a session requires an "Origin" header with the origin of this server.',
  );
}
