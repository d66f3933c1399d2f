import { CompiledQuery, sql } from 'kysely';
import type { Db, Trx } from '../connection/database.ts';
import type { Send } from '../connection/pipeline.ts';
import { type AdmissionWrites, sendWrites } from './admission-write.ts';

/**
 * Makes the writes of an admission and rolls them back. `counts` must name rows that do not exist, because the probe
 * inserts them. Throws the error that the admission would meet.
 */
export async function rollBackWrites(db: Db, writes: AdmissionWrites): Promise<void> {
  const trx = await db.startTransaction().setIsolationLevel('read committed').execute();
  try {
    const subjects = [...writes.counts.keys()];
    await sql`insert into limits (subject) select unnest(${subjects}::uuid[])`.execute(trx);
    await Promise.all(sendWrites(sendOneByOne(trx), writes).sent);
  } finally {
    await trx.rollback().execute();
  }
}

/** A client of the pool is not pipelined. */
function sendOneByOne(trx: Trx): Send {
  let previous: Promise<unknown> = Promise.resolve();
  return <Row>({ text }: { readonly text: string }, values: Parameters<Send>[1] = []) => {
    const query = CompiledQuery.raw(text, [...values]);
    const rows = previous.then(async () => (await trx.executeQuery<Row>(query)).rows);
    previous = rows;
    return rows;
  };
}
