import { pageDefault } from '../../contract/limits.ts';
import { CallFailure } from '../../core/failure.ts';

/** Lists: what their queries share, and how a page is answered. */

interface PageQuery {
  readonly limit?: number;
  readonly offset?: number;
}

/** Which page is asked for. Text with a NUL is refused: nothing stored can hold one, and PostgreSQL takes none. */
export function readPage(query: PageQuery): { limit: number; offset: number } {
  for (const [name, value] of Object.entries(query)) {
    if (typeof value !== 'string' || !value.includes('\0')) continue;
    throw new CallFailure('INVALID_REQUEST', `Parameter "${name}" must not hold a NUL.`);
  }
  const { limit = pageDefault, offset = 0 } = query;
  return { limit, offset };
}

/** The answer: the rows under their own name, and where in the whole they stand. */
export function pageResponse<Name extends string, Row>(
  of: Name,
  rows: readonly Row[],
  { limit, offset, total }: { limit: number; offset: number; total: number },
) {
  const pagination = { limit, offset, total, hasMore: offset + rows.length < total };
  return { status: 200, body: { [of]: rows, pagination } };
}
