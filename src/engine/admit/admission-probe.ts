import type { Db, Trx } from '../../db/database.ts';
import type { Send } from '../../db/pipeline.ts';
import { sql } from '../../db/sql.ts';
import type { Statement } from '../../db/statement.ts';
import { type AdmissionWrites, sendWrites } from './admission-write.ts';

/**
 * Makes the writes of an admission and rolls them back. `counts` must name rows that do not exist, because the probe
 * inserts them. Throws the error that the admission would meet.
 */
export async function rollBackWrites(db: Db, writes: AdmissionWrites): Promise<void> {
  const trx = await db.begin('read committed');
  try {
    const subjects = [...writes.counts.keys()];
    await sql`insert into limits (subject) select unnest(${subjects}::uuid[])`.execute(trx);
    await Promise.all(sendWrites(sendOneByOne(trx), writes).sent);
  } finally {
    await trx.rollback();
  }
}

/** A client of the pool is not pipelined. */
function sendOneByOne(trx: Trx): Send {
  let previous: Promise<unknown> = Promise.resolve();
  return (<Input, Row>({ text, values }: Statement<Input, Row>, input: Input) => {
    const rows = previous.then(
      async () => (await trx.run<Row>({ text, values: values(input) })).rows,
    );
    previous = rows;
    return rows;
  }) as Send;
}
