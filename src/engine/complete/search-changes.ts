import type { Send } from '../../db/pipeline.ts';
import { sql } from '../../db/sql.ts';
import { statement } from '../../db/statement.ts';

/** Appends records that were written or deleted, or whose texts were removed. */
const appendChanges = statement<readonly string[]>('search-append')`
  insert into search_changes (id) select * from unnest(${(ids) => ids}::uuid[])`;

export function sendChanges(send: Send, ids: readonly string[]): readonly Promise<unknown>[] {
  return ids.length === 0 ? [] : [send(appendChanges, ids)];
}

/** SQL: a record has a text that a search covers. */
export const hasSearchedText = sql`(output is not null or partial_text is not null or input_variables is not null)`;
