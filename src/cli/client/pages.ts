interface Paged<Row> {
  readonly rows: readonly Row[];
  readonly total: number;
}

const pageMax = 100;

/** Every row of a paginated list. */
export async function* allPages<Row>(
  read: (page: { readonly limit: number; readonly offset: number }) => Promise<Paged<Row>>,
): AsyncGenerator<Row, void, undefined> {
  for (let offset = 0; ; ) {
    const { rows, total } = await read({ limit: pageMax, offset });
    yield* rows;
    offset += rows.length;
    if (rows.length === 0 || offset >= total) return;
  }
}
