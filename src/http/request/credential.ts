import type { FastifyRequest } from 'fastify';
import { CallFailure } from '../../core/failure.ts';
import { hashKey, isKey } from '../../core/people/key.ts';

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

export function unauthorized(): CallFailure {
  return new CallFailure('UNAUTHORIZED', 'The API key or session is missing or not valid.');
}
