import type { WorkflowStepOf } from '../../core/agent/model-settings.ts';
import { referredCharsMax } from '../../core/workflow/definition.ts';
import { documentOf } from '../../core/workflow/document.ts';
import type {
  ItemCounts,
  ItemsFrom,
  MissingRunValues,
  RunValues,
} from '../../core/workflow/run-state.ts';
import { fresh, type StepState } from '../../core/workflow/step-state.ts';
import type { PlainStatement, Send } from '../../db/pipeline.ts';
import { numberedRowSet } from '../../db/row-set.ts';
import type { WorkflowRunStepState } from './workflow-progress.ts';
import { stepKey } from './workflow-steps.ts';

/** Reads the progress of workflow runs under their locks. */

/** The progress without values: the rows of steps and requested items, and the counts of items. */
export interface WorkflowRunSteps {
  readonly rows: readonly WorkflowRunStepState[];
  readonly items: readonly ItemsOfStep[];
}

export interface ItemsOfStep extends ItemCounts {
  readonly runId: string;
  readonly step: string;
}

export async function readSteps(
  send: Send,
  steps: readonly WorkflowStepOf[],
): Promise<WorkflowRunSteps> {
  const runIds = [...new Set(steps.map(({ runId }) => runId))];
  const items = steps.filter(({ item }) => item >= 0);
  const [rows, counts] = await Promise.all([
    send<StepRow>(readStepRows, [runIds, ...namedItems.values(items)]),
    send<CountRow>(countItems, [runIds]),
  ]);
  return {
    rows: rows.map(stepOfRow),
    items: counts.map(({ run_id, under_way, ...row }) => ({
      ...row,
      runId: run_id,
      inProgress: under_way,
    })),
  };
}

/** The values to read of a workflow run. */
export interface MissingValues {
  readonly runId: string;
  readonly missing: MissingRunValues;
}

/** Counts the characters of the values of these runs, without list items. Stops counting above `charsMax`. */
export async function measureValues(
  send: Send,
  missing: readonly MissingValues[],
  charsMax: number,
): Promise<number> {
  const [row] = await send<{ chars: number }>(sumValues, [
    missing.map(({ runId }) => runId),
    missing.map((one) => one.missing.input),
    missing.map((one) => one.missing.outputs.join(' ')),
    missing.map((one) => one.missing.lists.join(' ')),
    charsMax,
  ]);
  return row?.chars ?? 0;
}

export interface ReadValues {
  readonly values: RunValues;
  /** The lengths of all requested outputs by step. */
  readonly outputChars: ReadonlyMap<string, number>;
}

/** Reads values of a run: of the outputs the shortest, as many as one step may refer to. Omits values that do not exist. */
export async function readValues(
  send: Send,
  { runId, missing: { input, outputs, lists } }: MissingValues,
): Promise<ReadValues> {
  const [inputs, outputRows, listRows] = await Promise.all([
    input ? send<{ input: string }>(readInput, [runId]) : [],
    outputs.length > 0 ? send<OutputRow>(readOutputs, [runId, outputs, referredCharsMax]) : [],
    lists.length > 0 ? send<{ step: string; items: string }>(readLists, [runId, lists]) : [],
  ]);
  return {
    values: {
      input: inputs[0] ? documentOf(inputs[0].input) : null,
      outputs: new Map(
        outputRows.flatMap(({ step, output }) =>
          output === null ? [] : [[step, documentOf(output)]],
        ),
      ),
      lists: new Map(listRows.map(({ step, items }) => [step, documentOf(items)])),
    },
    outputChars: new Map(outputRows.map(({ step, chars }) => [step, chars])),
  };
}

/** Reads the next items of a list with their outputs, up to the item that fills the page. */
export async function readItems(
  send: Send,
  runId: string,
  { step, from }: ItemsFrom,
): Promise<WorkflowRunStepState[]> {
  const rows = await send<StepRow>(readItemRows, [runId, step, from, pageChars]);
  return rows.map(stepOfRow);
}

/** The maximum number of characters of item outputs per page, except for the last item. */
const pageChars = 8_388_608;

interface StepRow extends Pick<StepState, 'step' | 'item' | 'status' | 'fallback'> {
  readonly run_id: string;
  readonly execution_id: string | null;
  readonly failed_execution_id: string | null;
  readonly items_count: number | null;
  /** Absent if it was not requested. */
  readonly output?: string | null;
}

interface OutputRow {
  readonly step: string;
  readonly chars: number;
  /** Null if it does not fit. */
  readonly output: string | null;
}

interface CountRow {
  readonly run_id: string;
  readonly step: string;
  readonly begun: number;
  readonly under_way: number;
}

function stepOfRow(row: StepRow): WorkflowRunStepState {
  return {
    ...fresh(row.step, row.item),
    runId: row.run_id,
    status: row.status,
    executionId: row.execution_id,
    failedExecutionId: row.failed_execution_id,
    fallback: row.fallback,
    itemsCount: row.items_count,
    output: row.output ?? null,
  };
}

const stepColumns =
  's.run_id, s.step, s.item, s.status, s.execution_id, s.failed_execution_id, s.fallback, s.items_count';

const namedItems = numberedRowSet('n', stepKey, { first: 2 });

const readStepRows: PlainStatement = {
  name: 'progress-read-steps',
  text: `select ${stepColumns} from workflow_steps s where s.run_id = any($1::uuid[]) and s.item = -1
    union all
    select ${stepColumns} from ${namedItems.table}
      join workflow_steps s on s.run_id = n.run_id and s.step = n.step and s.item = n.item`,
};

// Completed lists are not counted, however long they are. A list with the same name in another run is harmless.
const countItems: PlainStatement = {
  name: 'progress-count-items',
  text: `select run_id, step, count(*)::int as begun,
      (count(*) filter (where status in ('ready', 'processing')))::int as under_way
    from workflow_steps
    where run_id = any($1::uuid[]) and item >= 0
      and step = any(array(
        select l.step from workflow_steps l
        where l.run_id = any($1::uuid[]) and l.item = -1 and l.status = 'processing' and l.items_count is not null))
    group by run_id, step`,
};

const readInput: PlainStatement = {
  name: 'progress-read-input',
  text: `select input from workflow_runs where id = $1`,
};

// The shortest first: everything that one step may refer to is read after a few calls, and longer outputs never.
const readOutputs: PlainStatement = {
  name: 'progress-read-outputs',
  text: `select step, chars, case when sum(chars) over (order by chars, step) <= $3::int then output end as output
    from (select step, length(output::text) as chars, output from workflow_steps
      where run_id = $1 and item = -1 and step = any($2::text[]) and output is not null) o`,
};

const readLists: PlainStatement = {
  name: 'progress-read-lists',
  text: `select step, items from workflow_steps
    where run_id = $1 and item = -1 and step = any($2::text[]) and items is not null`,
};

// Run by run, because the length of a value is known only after decompression. Stops as early as possible.
const sumValues: PlainStatement = {
  name: 'progress-sum-values',
  text: `with recursive measured (at, chars) as (
      select 0, 0::bigint
      union all
      select w.at + 1, w.chars +
        (select coalesce(sum(
            case when s.step = any(string_to_array(($3::text[])[w.at + 1], ' ')) then coalesce(length(s.output::text), 0) else 0 end +
            case when s.step = any(string_to_array(($4::text[])[w.at + 1], ' ')) then coalesce(length(s.items::text), 0) else 0 end), 0)::bigint
          from workflow_steps s where s.run_id = ($1::uuid[])[w.at + 1] and s.item = -1) +
        case when ($2::bool[])[w.at + 1] then coalesce(
          (select length(r.input::text) from workflow_runs r where r.id = ($1::uuid[])[w.at + 1]), 0) else 0 end
      from measured w where w.at < cardinality($1::uuid[]) and w.chars <= $5::bigint)
    select max(chars)::float8 as chars from measured`,
};

// Item by item, for the same reason. Each is looked up by its key: PostgreSQL underestimates the rows of a join and would scan
// the whole list for each item.
const readItemRows: PlainStatement = {
  name: 'progress-read-items',
  text: `with recursive page (item, chars) as (
      select s.item, coalesce(length(s.output::text), 0)::bigint
      from workflow_steps s where s.run_id = $1::uuid and s.item = $3::int and s.step = $2::text
      union all
      select next.item, p.chars + next.chars
      from page p cross join lateral (
        select s.item, coalesce(length(s.output::text), 0) as chars from workflow_steps s
        where s.run_id = $1::uuid and s.item = p.item + 1 and s.step = $2::text offset 0) as next
      where p.chars <= $4::bigint)
    select s.* from page p cross join lateral (
      select ${stepColumns}, s.output from workflow_steps s
      where s.run_id = $1::uuid and s.item = p.item and s.step = $2::text offset 0) as s`,
};
