import type { FastifyRequest } from 'fastify';
import { CallFailure } from '../../core/failure.ts';
import type { Precondition } from '../../flow/agent/precondition.ts';

/** `ETag` and `If-Match` (RFC 9110, 8.8.3 and 13.1.1): the tag of a thing is its revision. */

export function etag(revision: number): string {
  return `"${revision}"`;
}

/**
 * What the request's `If-Match` says of a revision. Without one, and with `*`, any will do. Tags are compared strongly:
 * a weak one, such as a proxy makes of ours when it compresses, matches nothing.
 */
export function ifMatch({ headers }: FastifyRequest): Precondition {
  const header = headers['if-match'];
  if (header === undefined || header.trim() === '*') return () => true;
  const tags = readTags(header);
  return (revision) => tags.includes(etag(revision));
}

const element = /[ \t]*((?:W\/)?"[\x21\x23-\x7e\x80-\xff]*")?[ \t]*(?:,|$)/y;

/** The tags of a list, weak ones with their `W/`. Empty elements are allowed, and there are none of other forms. */
function readTags(header: string): string[] {
  const tags: string[] = [];
  element.lastIndex = 0;
  while (element.lastIndex < header.length) {
    const match = element.exec(header);
    if (!match) break;
    if (match[1] !== undefined) tags.push(match[1]);
    if (element.lastIndex >= header.length) return tags;
  }
  throw new CallFailure(
    'INVALID_REQUEST',
    'The If-Match must be *, or a list of entity tags as an ETag holds them, such as "3".',
  );
}
