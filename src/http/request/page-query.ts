import { invalidRequest } from '../../core/failure.ts';
import { fromId, type IdKind } from '../../core/id.ts';
import { pageDefault } from '../contract/contract-limits.ts';

/** Pages of lists: the shared query parameters and the response. */

interface PageQuery {
  readonly limit?: number;
  readonly offset?: number;
}

/** The requested page. Rejects a text with a NUL, because PostgreSQL does not accept one. */
export function readPage(query: PageQuery): { limit: number; offset: number } {
  for (const [name, value] of Object.entries(query)) {
    if (typeof value !== 'string' || !value.includes('\0')) continue;
    throw invalidRequest(`Parameter "${name}" must not contain a NUL.`);
  }
  const { limit = pageDefault, offset = 0 } = query;
  return { limit, offset };
}

/** The id of the last row of the previous page. */
export function readCursor(
  kind: IdKind,
  { cursor, offset }: { readonly cursor?: string; readonly offset?: number },
): string | null {
  if (cursor === undefined) return null;
  const after = fromId(kind, cursor);
  if (after === null)
    throw invalidRequest('Parameter "cursor" must be the nextCursor of an earlier page.');
  if (offset === undefined) return after;
  throw invalidRequest('Parameter "offset" cannot be combined with "cursor".');
}

/** The result of a list: its rows under `name`, and the position of the page. */
export function pageOf<const Name extends string, Row>(
  name: Name,
  { limit, offset }: { readonly limit: number; readonly offset: number },
  { rows, total }: { readonly rows: readonly Row[]; readonly total: number },
) {
  const pagination = { limit, offset, total, hasMore: offset + rows.length < total };
  return { [name]: rows, pagination } as { [K in Name]: readonly Row[] } & {
    pagination: typeof pagination;
  };
}

/** A response with the rows under `name` and the position of the page. */
export function pageResponse<Name extends string, Row>(
  name: Name,
  rows: readonly Row[],
  { total, ...page }: { limit: number; offset: number; total: number },
) {
  return { status: 200, body: pageOf(name, page, { rows, total }) };
}
