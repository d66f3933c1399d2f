import type { WorkflowStepOf } from '../../core/agent/model-settings.ts';
import { referredCharsMax } from '../../core/workflow/definition.ts';
import { documentOf } from '../../core/workflow/document.ts';
import type {
  ItemCounts,
  ItemsFrom,
  MissingRunValues,
  RunValues,
} from '../../core/workflow/run-state.ts';
import { fresh } from '../../core/workflow/step-state.ts';
import type { Send } from '../../db/pipeline.ts';
import { rowSet } from '../../db/row-set.ts';
import { sql } from '../../db/sql.ts';
import { statement } from '../../db/statement.ts';
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
    send(readStepRows, { runIds, items }),
    send(countItems, { runIds, items }),
  ]);
  return { rows: rows.map(stepOfRow), items: counts };
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
  const [row] = await send(sumValues, { missing, charsMax });
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
    input ? send(readInput, { runId }) : [],
    outputs.length > 0 ? send(readOutputs, { runId, names: outputs }) : [],
    lists.length > 0 ? send(readLists, { runId, names: lists }) : [],
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
  from: ItemsFrom,
): Promise<WorkflowRunStepState[]> {
  const rows = await send(readItemRows, { runId, ...from });
  return rows.map(stepOfRow);
}

/** The maximum number of characters of item outputs per page, except for the last item. */
const pageChars = 8_388_608;

interface StepRow
  extends Omit<WorkflowRunStepState, 'variables' | 'items' | 'output' | 'errorCode' | 'error'> {
  /** Absent if it was not requested. */
  readonly output?: string | null;
}

interface OutputRow {
  readonly step: string;
  readonly chars: number;
  /** Null if it does not fit. */
  readonly output: string | null;
}

function stepOfRow(row: StepRow): WorkflowRunStepState {
  return { ...fresh(row.step, row.item), ...row };
}

const stepColumns = sql`
  s.run_id, s.step, s.item, s.status, s.execution_id, s.failed_execution_id, s.fallback, s.items_count`;

interface StepsToRead {
  readonly runIds: readonly string[];
  readonly items: readonly WorkflowStepOf[];
}

const runIds = (steps: StepsToRead) => steps.runIds;
const namedItems = rowSet<WorkflowStepOf, StepsToRead>('n', stepKey, {
  read: ({ items }) => items,
});

const readStepRows = statement<StepsToRead, StepRow>('progress-read-steps')`
  select ${stepColumns} from workflow_steps s where s.run_id = any(${runIds}::uuid[]) and s.item = -1
  union all
  select ${stepColumns} from ${namedItems.table}
    join workflow_steps s on s.run_id = n.run_id and s.step = n.step and s.item = n.item`;

// Completed lists are not counted, however long they are. A list with the same name in another run is harmless.
const countItems = statement<StepsToRead, ItemsOfStep>('progress-count-items')`
  select run_id, step, count(*)::int as begun,
    (count(*) filter (where status in ('ready', 'processing')))::int as in_progress
  from workflow_steps
  where run_id = any(${runIds}::uuid[]) and item >= 0
    and step = any(array(
      select l.step from workflow_steps l
      where l.run_id = any(${runIds}::uuid[]) and l.item = -1 and l.status = 'processing' and l.items_count is not null))
  group by run_id, step`;

const readInput = statement<{ runId: string }, { input: string }>('progress-read-input')`
  select input from workflow_runs where id = ${({ runId }) => runId}`;

interface NamedSteps {
  readonly runId: string;
  readonly names: readonly string[];
}

const areNamed = sql`run_id = ${({ runId }: NamedSteps) => runId} and item = -1
  and step = any(${({ names }: NamedSteps) => names}::text[])`;

// The shortest first: everything that one step may refer to is read after a few calls, and longer outputs never.
const readOutputs = statement<NamedSteps, OutputRow>('progress-read-outputs')`
  select step, chars,
    case when sum(chars) over (order by chars, step) <= ${() => referredCharsMax}::int then output end as output
  from (select step, length(output::text) as chars, output from workflow_steps
    where ${areNamed} and output is not null) o`;

const readLists = statement<NamedSteps, { step: string; items: string }>('progress-read-lists')`
  select step, items from workflow_steps where ${areNamed} and items is not null`;

interface Measured {
  readonly missing: readonly MissingValues[];
  readonly charsMax: number;
}

const measuredRuns = sql`${({ missing }: Measured) => missing.map(({ runId }) => runId)}::uuid[]`;
const outputNames = ({ missing }: Measured) => missing.map((one) => one.missing.outputs.join(' '));
const listNames = ({ missing }: Measured) => missing.map((one) => one.missing.lists.join(' '));
const wantsInput = ({ missing }: Measured) => missing.map((one) => one.missing.input);

// Run by run, because the length of a value is known only after decompression. Stops as early as possible.
const sumValues = statement<Measured, { chars: number }>('progress-sum-values')`
  with recursive measured (at, chars) as (
    select 0, 0::bigint
    union all
    select w.at + 1, w.chars +
      (select coalesce(sum(
          case when s.step = any(string_to_array((${outputNames}::text[])[w.at + 1], ' ')) then coalesce(length(s.output::text), 0) else 0 end +
          case when s.step = any(string_to_array((${listNames}::text[])[w.at + 1], ' ')) then coalesce(length(s.items::text), 0) else 0 end), 0)::bigint
        from workflow_steps s where s.run_id = (${measuredRuns})[w.at + 1] and s.item = -1) +
      case when (${wantsInput}::bool[])[w.at + 1] then coalesce(
        (select length(r.input::text) from workflow_runs r where r.id = (${measuredRuns})[w.at + 1]), 0) else 0 end
    from measured w where w.at < cardinality(${measuredRuns}) and w.chars <= ${({ charsMax }) => charsMax}::bigint)
  select max(chars)::float8 as chars from measured`;

type ItemsToRead = ItemsFrom & { readonly runId: string };

const isInList = sql`s.run_id = ${({ runId }: ItemsToRead) => runId}::uuid
  and s.step = ${({ step }: ItemsToRead) => step}::text`;

// Item by item, for the same reason. Each is looked up by its key: PostgreSQL underestimates the rows of a join and would scan
// the whole list for each item.
const readItemRows = statement<ItemsToRead, StepRow>('progress-read-items')`
  with recursive page (item, chars) as (
    select s.item, coalesce(length(s.output::text), 0)::bigint
    from workflow_steps s where ${isInList} and s.item = ${({ from }) => from}::int
    union all
    select next.item, p.chars + next.chars
    from page p cross join lateral (
      select s.item, coalesce(length(s.output::text), 0) as chars from workflow_steps s
      where ${isInList} and s.item = p.item + 1 offset 0) as next
    where p.chars <= ${() => pageChars}::bigint)
  select s.* from page p cross join lateral (
    select ${stepColumns}, s.output from workflow_steps s
    where ${isInList} and s.item = p.item offset 0) as s`;
