import type { FastifyRequest } from 'fastify';
import { CallFailure, invalidRequest } from '../../core/failure.ts';
import type { Precondition } from '../../flow/agent/precondition.ts';

/** `ETag` and `If-Match` (RFC 9110, 8.8.3 and 13.1.1). The tag of a resource is its revision. */

export function etag(revision: number): string {
  return `"${revision}"`;
}

/**
 * The precondition in `If-Match`. Without the header, and with `*`, every revision matches. The comparison is strong: a
 * weak tag, such as a compressing proxy creates, matches nothing.
 */
export function ifMatch({ headers }: FastifyRequest): Precondition {
  const header = headers['if-match'];
  if (header === undefined || header.trim() === '*') return () => true;
  const tags = readTags(header);
  return (revision) => tags.includes(etag(revision));
}

/** For a resource without an `ETag`: no tag matches it, only `*`. */
export function refuseTags(request: FastifyRequest): void {
  const { 'if-match': header = '*' } = request.headers;
  if (header.trim() === '*') return;
  readTags(header);
  throw new CallFailure('STALE', 'This resource has no ETag. Leave out If-Match.');
}

const element = /[ \t]*((?:W\/)?"[\x21\x23-\x7e\x80-\xff]*")?[ \t]*(?:,|$)/y;

/** The tags of a list, weak ones with their `W/`. The RFC allows empty elements. */
function readTags(header: string): string[] {
  const tags: string[] = [];
  element.lastIndex = 0;
  while (element.lastIndex < header.length) {
    const match = element.exec(header);
    if (!match) break;
    if (match[1] !== undefined) tags.push(match[1]);
    if (element.lastIndex >= header.length) return tags;
  }
  throw invalidRequest('The If-Match header must be * or a list of entity tags, such as "3".');
}
