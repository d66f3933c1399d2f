import type { ExecutionSettings } from '../../core/agent/model-settings.ts';
import {
  type Execution,
  type ExecutionSummary,
  type StoredField,
  storedFields,
} from '../../core/execution/execution-fields.ts';
import type { LiveExecution } from '../../core/execution/queued-execution.ts';
import type { Rendering } from '../../core/execution/render-prompt.ts';
import type { Labels } from '../../core/labels.ts';
import type { Db } from '../../db/database.ts';
import { aboveFloor, idBounds } from '../../db/id-bounds.ts';
import type { Send } from '../../db/pipeline.ts';
import { rowSet } from '../../db/row-set.ts';
import { type Sql, sql } from '../../db/sql.ts';
import { statement } from '../../db/statement.ts';
import { columnName } from '../fields/field-columns.ts';

/**
 * Reads executions. A live one is a row of `execution_queue`, an ended or refused one a record in `executions`. Its end moves
 * it in one statement, so that every snapshot contains it once: the view `all_executions` reads both.
 */

/** A record in a list. */
export interface ListedExecution extends ExecutionSummary {
  /** Whether its bodies were read; false if the records before it reach the size limit. */
  readonly fits: boolean;
}

/** SQL: the labels of record `e`. */
export const labelFields = sql`e.end_user as "user", e.session, e.tags, e.metadata`;

const readFields = storedFields.filter(({ internal }) => !internal);
const outputFields = readFields.filter(({ transient }) => transient);
const listedFields = readFields.filter(({ detail }) => !detail);

const columnOf = (table: string, field: StoredField, prefix = '') =>
  sql.ref(`${table}.${prefix}${columnName(field)}`);
/** SQL: the columns of these fields, each as `write` has it. */
const columnsOf = (fields: readonly StoredField[], write: (field: StoredField) => Sql) =>
  sql.join(fields.map((field) => sql`${write(field)} as ${sql.ref(field.row)}`));
const ofRecord = (field: StoredField) => columnOf('e', field);

const outputBytes = (of: Sql) => sql`coalesce(octet_length(${of}.output), 0)
  + coalesce(octet_length(${of}.refusal_text), 0) + 4 * coalesce(pg_column_size(${of}.output_json), 0)
  + 4 * coalesce(pg_column_size(${of}.tool_calls), 0)`;
// Exact, because a page may contain a hundred variables that are compressed to a hundredth of their size.
const jsonBytes = (column: Sql) => sql`coalesce(case
    when pg_column_compression(${column}) is null then pg_column_size(${column})
    else octet_length(${column}::text) end, 0)`;
const exactOutputBytes = (of: Sql) => sql`coalesce(octet_length(${of}.output), 0)
  + coalesce(octet_length(${of}.refusal_text), 0) + coalesce(octet_length(${of}.tool_calls::text), 0)
  + ${jsonBytes(sql`${of}.output_json`)}`;
const bodyBytes = sql`${jsonBytes(sql`e.input_variables`)} + ${exactOutputBytes(sql`e`)} + ${exactOutputBytes(sql`t`)}
  + coalesce(octet_length(e.partial_text), 0)`;
/** Limits the text of records that are read at once, except for the first record. */
const textBytesMax = sql.lit(8_388_608);
const bytesBefore = (order: Sql) =>
  sql`sum(${bodyBytes}) over (order by ${order} rows between unbounded preceding and 1 preceding)`;

/**
 * SQL: the columns of an `Execution` of record `e`; needs `transientOutputs`. The output is in the record, or for a while in
 * `transient_outputs` if its agent stores no bodies.
 */
export const recordColumns = columnsOf(readFields, (field) =>
  field.transient ? sql`coalesce(${ofRecord(field)}, ${columnOf('t', field)})` : ofRecord(field),
);
/** SQL: the columns of a `ListedExecution`; `e` must come from `withFits`. */
export const listColumns = sql`e.fits, ${columnsOf(listedFields, (field) => {
  if (!field.body) return ofRecord(field);
  const transient = field.transient ? columnOf('e', field, 'transient_') : sql`null`;
  return sql`case when e.fits then coalesce(${ofRecord(field)}, ${transient}) end`;
})}`;
/** SQL: records `e`, in this order, each with a flag whether its bodies fit; needs `transientOutputs`. */
export const withFits = (order: Sql) =>
  sql`e.*, ${sql.join(
    outputFields.map(
      (field) => sql`${columnOf('t', field)} as ${sql.ref(`transient_${columnName(field)}`)}`,
    ),
  )}, coalesce(${bytesBefore(order)}, 0) < ${textBytesMax} as fits`;
/** SQL: joins the output that record `e` itself must not keep. */
export const transientOutputs = sql`left join transient_outputs t on t.execution_id = e.id`;
/** SQL: without bodies. PostgreSQL stores long ones out of line and then need not read them. */
const summaryColumns = sql`true as fits, ${columnsOf(listedFields, (field) =>
  field.body ? sql`null::text` : ofRecord(field),
)}`;
/** SQL: the same with the first line of the output, at most. */
const previewColumns = sql`${summaryColumns}, left(e.output, 200) as output_preview`;
/** Whether a list leaves out bodies, perhaps except for the beginning of the output. */
export type OmitsBodies = boolean | 'preview';
export const columnsWithout = (omitted: true | 'preview') =>
  omitted === 'preview' ? previewColumns : summaryColumns;
/** SQL: the approximate size of the texts of record `e`, without reading them. Variables may be stored compressed. */
export const textBytes = sql`(coalesce(octet_length(e.system_prompt), 0)
  + coalesce(octet_length(e.user_prompt), 0) + coalesce(octet_length(e.reasoning_text), 0)
  + 4 * coalesce(pg_column_size(e.request), 0) + 4 * coalesce(pg_column_size(e.input_variables), 0)
  + coalesce(pg_column_size(e.file_data), 0) + coalesce(octet_length(e.partial_text), 0)
  + 4 * coalesce(pg_column_size(e.assistant_message), 0) + ${outputBytes(sql`e`)} + ${outputBytes(sql`t`)})`;

export type LabelColumns = Pick<ExecutionSummary, 'user' | 'session' | 'tags' | 'metadata'>;

/** The labels of a record; null if it has none. */
export function labelsOfRow({ user, session, tags, metadata }: LabelColumns): Labels | null {
  if ((user ?? session ?? tags ?? metadata) === null) return null;
  return { user, session, tags, metadata };
}

/** Identifies an execution. It is not found if it belongs to another agent. */
export interface ExecutionKey {
  readonly agentId: string;
  readonly executionId: string;
}

/**
 * Reads the existing ones of these executions. `rows` contains them by index, as far as they fit into one response; `left`
 * contains the indexes of those that did not fit.
 */
export async function readExecutions(
  send: Send,
  keys: readonly ExecutionKey[],
): Promise<{ rows: ReadonlyMap<number, Execution>; left: ReadonlySet<number> }> {
  const [lowest, highest] = idBounds(keys.map(({ executionId }) => executionId));
  const rows = await send(readByKey, { keys, lowest, highest });
  const byIndex = new Map(rows.map((row) => [row.ordinal - 1, row]));
  // The first row always fits, and lists all that exist.
  const found = rows[0]?.found.split(',').map((ordinal) => Number(ordinal) - 1) ?? [];
  return { rows: byIndex, left: new Set(found.filter((index) => !byIndex.has(index))) };
}

interface Lookup {
  readonly keys: readonly ExecutionKey[];
  readonly lowest: string | null;
  readonly highest: string | null;
}

const given = rowSet<ExecutionKey, Lookup>(
  'given',
  { id: ['uuid', (one) => one.executionId], agent_id: ['uuid', (one) => one.agentId] },
  { read: ({ keys }) => keys, ordinality: true },
);

// Each row is looked up by its key, in the one partition of that key.
const readByKey = statement<Lookup, Execution & { ordinal: number; found: string }>(
  'read-executions',
)`
  select * from (
    select given.ordinal::int as ordinal, string_agg(given.ordinal::text, ',') over () as found, one.*,
      sum(one.bytes) over (order by given.ordinal) - one.bytes as before
    from ${given.table}
    cross join lateral (
      select ${recordColumns}, ${textBytes} as bytes,
        (select r.workflow_id from workflow_runs r where r.id = e.workflow_run_id) as workflow_id,
        (select jsonb_build_object('inputPerMillion', p.input_per_million::text,
          'outputPerMillion', p.output_per_million::text, 'cacheReadPerMillion', p.cache_read_per_million::text,
          'cacheWritePerMillion', p.cache_write_per_million::text, 'validFrom', p.valid_from)
          from price_history p where p.id = e.price_id) as price
      from all_executions e ${transientOutputs}
      where e.id = given.id and e.agent_id = given.agent_id
        and e.id between ${({ lowest }) => lowest}::uuid and ${({ highest }) => highest}::uuid and ${aboveFloor}
      offset 0) as one) as sized
  where before < ${textBytesMax}`;

/** The existing ones of these records, in the order of their ids in the list, with the bodies of as many as fit. */
export async function readExecutionListRows(
  db: Db,
  ids: readonly string[],
  omitsBodies: OmitsBodies = false,
): Promise<ListedExecution[]> {
  const [lowest, highest] = idBounds(ids);
  const place = sql`array_position(${ids}::uuid[], e.id)`;
  const { rows } = await sql<ListedExecution>`
    select ${omitsBodies ? columnsWithout(omitsBodies) : listColumns}
    from (
      select ${omitsBodies ? sql`*` : withFits(place)} from all_executions e ${omitsBodies ? sql`` : transientOutputs}
      where e.id = any(${ids}::uuid[]) and e.id between ${lowest}::uuid and ${highest}::uuid
        and (e.status = 'processing' or ${aboveFloor})) as e
    order by ${place}`.execute(db);
  return rows;
}

/** The ids of these executions and workflow runs that have ended. */
export async function findEnded(db: Db, ids: readonly string[]): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select given.id::text as id from unnest(${ids}::uuid[]) as given (id)
    where not exists (select from execution_queue q where q.id = given.id)
      and not exists (select from workflow_runs r where r.id = given.id and r.completed_at is null)`.execute(
    db,
  );
  return rows.map((row) => row.id);
}

/** A live execution, whether a worker has started it, and whether one reads its answer as a stream now: what an earlier attempt received counts already. */
export type UnendedExecution = LiveExecution & {
  readonly begun: boolean;
  readonly streamed: boolean;
};

/** SQL: whom live execution `e` was for, and the step or line that it belongs to. */
export const belongingColumns = sql`${labelFields}, e.workflow_run_id, e.step_name, e.step_item, e.batch_id, e.batch_line`;

export interface BelongingColumns
  extends LabelColumns,
    Pick<ExecutionSummary, 'workflowRunId' | 'stepName' | 'batchId'> {
  readonly stepItem: number | null;
  readonly batchLine: number | null;
}

export function belongingOf(
  row: BelongingColumns,
): Required<Pick<LiveExecution, 'labels' | 'workflow' | 'batchLine'>> {
  const { workflowRunId: runId, stepName: step, stepItem: item, batchId, batchLine: line } = row;
  return {
    labels: labelsOfRow(row),
    workflow: runId === null || step === null || item === null ? null : { runId, step, item },
    batchLine: batchId === null || line === null ? null : { batchId, line },
  };
}

/** By id; omits executions that have ended. */
export async function findLiveExecutions(
  db: Db,
  executionIds: readonly string[],
): Promise<Map<string, UnendedExecution>> {
  const { rows } = await sql<
    Omit<UnendedExecution, 'workflow' | 'labels' | 'batchLine'> & BelongingColumns
  >`
    select e.id, case when e.has_slot is null then null else e.agent_id end as slot_agent_id,
      e.source, e.prompt_version_id, e.model, e.api_key_id, ${belongingColumns},
      e.settings ->> 'storeBodies' is distinct from 'false' as store_bodies, e.started_at is not null as begun,
      e.worker is not null and e.settings ->> 'stream' is not distinct from 'true' as streamed
    from execution_queue e where e.id = any(${executionIds}::uuid[])`.execute(db);
  return new Map(rows.map((row) => [row.id, { ...row, ...belongingOf(row) }]));
}

/** The inputs of the prompts of these executions by id; omits executions that have ended. */
export async function findRenderings(
  db: Db,
  executionIds: readonly string[],
): Promise<Map<string, Rendering & { readonly promptVersionId: string }>> {
  const { rows } = await sql<{
    id: string;
    promptVersionId: string;
    inputVariables: string;
    settings: string;
  }>`
    select id, prompt_version_id, input_variables, settings
    from execution_queue where id = any(${executionIds}::uuid[])`.execute(db);
  return new Map(
    rows.map(({ id, settings, ...row }) => [
      id,
      { ...row, settings: JSON.parse(settings) as ExecutionSettings },
    ]),
  );
}

/** Ids of live executions of an agent, oldest first, after the given one. */
export async function listLiveOfAgent(
  db: Db,
  agentId: string,
  after: string | null,
  limit: number,
): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select id from execution_queue
    where agent_id = ${agentId} ${after === null ? sql`` : sql`and id > ${after}`}
    order by id limit ${limit}`.execute(db);
  return rows.map(({ id }) => id);
}
