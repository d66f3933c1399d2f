import { pageDefault } from '../../contract/limits.ts';
import { CallFailure } from '../../core/failure.ts';

/** Pages of lists: the shared query parameters and the response. */

interface PageQuery {
  readonly limit?: number;
  readonly offset?: number;
}

/** The requested page. Rejects a text with a NUL, because PostgreSQL does not accept one. */
export function readPage(query: PageQuery): { limit: number; offset: number } {
  for (const [name, value] of Object.entries(query)) {
    if (typeof value !== 'string' || !value.includes('\0')) continue;
    throw new CallFailure('INVALID_REQUEST', `Parameter "${name}" must not contain a NUL.`);
  }
  const { limit = pageDefault, offset = 0 } = query;
  return { limit, offset };
}

/** A response with the rows under `name` and the position of the page. */
export function pageResponse<Name extends string, Row>(
  name: Name,
  rows: readonly Row[],
  { limit, offset, total }: { limit: number; offset: number; total: number },
) {
  const pagination = { limit, offset, total, hasMore: offset + rows.length < total };
  return { status: 200, body: { [name]: rows, pagination } };
}
