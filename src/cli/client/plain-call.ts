import { methodsOf, operations, type Selection } from '../../client/method.ts';
import { allPages } from './pages.ts';
import { printDone, printList, printOne } from './print.ts';
import type { Call } from './run-call.ts';

/** Commands that only call an operation and print its response. */

/** How the response is printed. Default: one field per line. */
export interface Printing<Result> {
  /** Fields of the rows of a list. */
  readonly columns?: readonly (Result extends readonly (infer Row)[]
    ? keyof Row & string
    : never)[];
  /** A sentence. Without a response, it is about the last path parameter. */
  readonly done?: (result: Result extends object ? Result : Record<string, string>) => string;
  /** The field of the query or the body that the last argument sets. */
  readonly field?: string;
}

interface Pagination {
  readonly total: number;
}

export async function callPlain(
  { cueline, signal, json }: Call,
  selection: Selection,
  { columns, done, field }: Printing<never>,
  given: readonly unknown[],
): Promise<void> {
  const [id = '', listed = ''] = selection.split('.');
  const { names = [], input } = operations.get(id) ?? {};
  const params = given.slice(0, names.length);
  const fields = { ...(given.at(-1) as object), ...(field && { [field]: given[names.length] }) };
  const method = methodsOf(cueline.request)(id as Selection) as (...call: unknown[]) => unknown;
  const send = (page?: object) =>
    method(...params, ...(input ? [{ ...fields, ...page }] : []), { signal });
  if (columns) {
    const rows = allPages(async (page) => {
      const body = (await send(page)) as Record<string, object[]> & { pagination?: Pagination };
      return { rows: body[listed] ?? [], total: body.pagination?.total ?? 0 };
    });
    return printList(rows, columns, json);
  }
  const result = ((await send()) ?? { [String(names.at(-1))]: params.at(-1) }) as never;
  return done ? printDone(result, done(result), json) : printOne(result, json);
}
