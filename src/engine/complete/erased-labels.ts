import type { ErasedValue } from '../../core/history/erased-value.ts';
import { type Sql, sql } from '../../db/sql.ts';

/** SQL for what an erasure looks for among labels, and for what is left of them. */

/** Whether the record or live execution `e` has the erased label. */
export function recordHasLabel(erased: ErasedValue): Sql<boolean> {
  const { value, label, labelName } = erased;
  switch (label) {
    case null:
      return sql`e.end_user = ${value}`;
    case 'tag':
      return sql`e.tags @> array[${value}]::text[]`;
    case 'metadata':
      return sql`e.metadata ->> ${labelName} = ${value}`;
  }
}

/** Whether labels as JSON have it. The same for the data of an event. */
export function labelsHaveLabel(
  labels: Sql,
  { value, label, labelName }: ErasedValue,
): Sql<boolean> {
  switch (label) {
    case null:
      return sql`${labels} ->> 'user' = ${value}`;
    case 'tag':
      return sql`jsonb_exists(${labels}::jsonb -> 'tags', ${value})`;
    case 'metadata':
      return sql`${labels} -> 'metadata' ->> ${labelName} = ${value}`;
  }
}

/** What stays of the tags of a live execution, so that they are counted: all but an erased one. */
export function keptTags({ value, label }: ErasedValue): Sql<string[] | null> {
  return label === 'tag' ? sql`nullif(array_remove(tags, ${value}), '{}')` : sql`tags`;
}

/** The same for labels as JSON. Compact text, as the labels were written. */
export function keptLabels({ value, label }: ErasedValue): Sql<string | null> {
  const isErased = label === 'tag' ? sql`tag = ${value}` : sql`false`;
  return sql`(select '{"tags":' || to_json(array_agg(tag order by n) filter (where not ${isErased})) || '}'
    from json_array_elements_text(labels -> 'tags') with ordinality as t (tag, n))::json`;
}
