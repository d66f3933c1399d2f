import type { FastifyRequest } from 'fastify';
import { CallFailure } from '../../core/failure.ts';

/**
 * The origin that a request came to, as its sender wrote it: behind a proxy that is not trusted the scheme may be
 * another than the browser's, which is what `CUELINE_PUBLIC_URL` and `Sec-Fetch-Site` are for.
 */
export function originOf(request: FastifyRequest): string {
  return `${request.protocol}://${request.host}`;
}

/**
 * Whether a browser says that the request comes from a page of ours. A page can set neither header itself, and one of
 * another origin that had its name point to us has no cookie of ours.
 */
export function isSameOrigin(request: FastifyRequest, publicUrl: string | null): boolean {
  const { origin, 'sec-fetch-site': site } = request.headers;
  if (site === 'same-origin') return true;
  return origin !== undefined && (origin === publicUrl || origin === originOf(request));
}

/** Refuses a write with a cookie that no page of ours has sent. Reads change nothing, and their answers stay hidden. */
export function checkSameOrigin(request: FastifyRequest, publicUrl: string | null): void {
  if (request.method === 'GET' || request.method === 'HEAD') return;
  if (isSameOrigin(request, publicUrl)) return;
  throw new CallFailure(
    'PERMISSION_DENIED',
    'A write with a session needs the header "Origin" with the origin of this server.',
  );
}
