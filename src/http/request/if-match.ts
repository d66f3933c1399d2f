import type { FastifyRequest } from 'fastify';
import { CallFailure, invalidRequest } from '../../core/failure.ts';
import type { Precondition } from '../../core/precondition.ts';

/** `ETag` and `If-Match` (RFC 9110, 8.8.3 and 13.1.1). The tag of a resource is its revision. */

export function etag(revision: number): string {
  return `"${revision}"`;
}

/**
 * The precondition in `If-Match`. Without the header, and with `*`, every revision matches. The comparison is strong: a
 * weak tag, such as a compressing proxy creates, matches nothing.
 */
export function ifMatch(request: FastifyRequest): Precondition {
  const tags = tagsOf(request);
  return (revision) => tags === null || tags.includes(etag(revision));
}

/** For a resource without an `ETag`: no tag matches it, only `*`. */
export function refuseTags(request: FastifyRequest): void {
  if (tagsOf(request) === null) return;
  throw new CallFailure('STALE', 'This resource has no ETag. Leave out If-Match.');
}

/** Null if any revision may be changed. */
function tagsOf({ headers }: FastifyRequest): string[] | null {
  const { 'if-match': header = '*' } = headers;
  return header.trim() === '*' ? null : readTags(header);
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
