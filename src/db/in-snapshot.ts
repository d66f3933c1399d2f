import type { Db, Trx } from './database.ts';

export function inSnapshot<T>(db: Db, work: (trx: Trx) => Promise<T>): Promise<T> {
  return db.transaction(work, 'snapshot');
}
