import type { Db, Trx } from '../src/db/database.ts';
import type { Result } from '../src/db/sql.ts';

export interface SentStatement {
  readonly text: string;
  readonly values: readonly unknown[];
}

/** A database that returns no rows for any statement, and reports the statements. */
export function silentDb(onStatement: (statement: SentStatement) => void = () => {}): Db {
  return interceptedDb(null, async (statement) => {
    onStatement(statement);
    return { rows: [], rowCount: 0 };
  });
}

type Run = <Row>(statement: SentStatement) => Promise<Result<Row>>;

/** A handle whose statements pass `intercept`, which may run them on `db`, in transactions too. */
export function interceptedDb(
  db: Db | null,
  intercept: (statement: SentStatement, run: Run) => Promise<Result<unknown>>,
): Db {
  const on = <Handle extends Db>(handle: Handle | null): Handle => {
    const run: Run = (statement) =>
      handle ? handle.run(statement) : Promise.reject(new Error('no database'));
    return {
      ...(handle as Handle),
      isTransaction: handle?.isTransaction ?? false,
      run: (statement: SentStatement) => intercept(statement, run),
      transaction: (work: (trx: Trx) => Promise<unknown>, mode) =>
        handle
          ? handle.transaction((trx) => work(on(trx)), mode)
          : work(on(null as unknown as Trx)),
      connection: (work: (one: Db) => Promise<unknown>) =>
        handle ? handle.connection((one) => work(on(one))) : work(on(null as unknown as Db)),
      begin: async (mode) => {
        if (!handle) throw new Error('no database');
        return on(await handle.begin(mode));
      },
      destroy: async () => handle?.destroy(),
    } as Handle;
  };
  return on(db) as Db;
}
