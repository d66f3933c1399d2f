import { documentOf } from '../core/document.ts';
import type { ItemCounts, RunValues, Unread } from '../core/run-state.ts';
import type { WorkflowStepOf } from '../core/settings.ts';
import { fresh, type StepState } from '../core/step-state.ts';
import type { Send, Statement } from './pipeline.ts';
import type { StepOfRun } from './workflow-progress.ts';
import { keyValues } from './workflow-steps.ts';

/** Reading how far runs of workflows are, under their locks. */

/** Where runs stand, whatever they hold: rows of steps and of the items named, without values, and counts of items. */
export interface StepsOfRuns {
  readonly rows: readonly StepOfRun[];
  readonly items: readonly ItemsOfStep[];
}

export interface ItemsOfStep extends ItemCounts {
  readonly runId: string;
  readonly step: string;
}

export async function readSteps(
  send: Send,
  steps: readonly WorkflowStepOf[],
): Promise<StepsOfRuns> {
  const runIds = [...new Set(steps.map(({ runId }) => runId))];
  const items = steps.filter(({ item }) => item >= 0);
  const [rows, counts] = await Promise.all([
    send<StepRow>(readStepRows, [runIds, ...keyValues(items)]),
    send<CountRow>(countItems, [runIds]),
  ]);
  return {
    rows: rows.map(stepOfRow),
    items: counts.map(({ run_id, under_way, ...row }) => ({
      ...row,
      runId: run_id,
      underWay: under_way,
    })),
  };
}

/** Values of a run, and the items of steps with their outputs. What it does not have is left out. */
export async function readValues(
  send: Send,
  runId: string,
  { input, outputs, lists, items }: Unread,
): Promise<{ values: RunValues; rows: StepOfRun[] }> {
  const [inputs, ofSteps, rows] = await Promise.all([
    input ? send<{ input: string }>(readInput, [runId]) : [],
    outputs.length + lists.length > 0
      ? send<{ step: string; output: string | null; items: string | null }>(readStepValues, [
          runId,
          outputs,
          lists,
        ])
      : [],
    items.length > 0 ? send<StepRow>(readItems, [runId, items]) : [],
  ]);
  return {
    values: {
      input: inputs[0] ? documentOf(inputs[0].input) : null,
      outputs: new Map(
        ofSteps.flatMap(({ step, output }) =>
          output === null ? [] : [[step, documentOf(output)]],
        ),
      ),
      lists: new Map(
        ofSteps.flatMap(({ step, items: list }) =>
          list === null ? [] : [[step, documentOf(list)]],
        ),
      ),
    },
    rows: rows.map(stepOfRow),
  };
}

interface StepRow extends Pick<StepState, 'step' | 'item' | 'status' | 'fallback'> {
  readonly run_id: string;
  readonly execution_id: string | null;
  readonly failed_execution_id: string | null;
  readonly items_count: number | null;
  /** Left out where it is not to be read. */
  readonly output?: string | null;
}

interface CountRow {
  readonly run_id: string;
  readonly step: string;
  readonly begun: number;
  readonly under_way: number;
}

function stepOfRow(row: StepRow): StepOfRun {
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

const readStepRows: Statement = {
  name: 'progress-read-steps',
  text: `select ${stepColumns} from workflow_steps s where s.run_id = any($1::uuid[]) and s.item = -1
    union all
    select ${stepColumns} from unnest($2::uuid[], $3::text[], $4::int[]) as n (run_id, step, item)
      join workflow_steps s on s.run_id = n.run_id and s.step = n.step and s.item = n.item`,
};

const countItems: Statement = {
  name: 'progress-count-items',
  text: `select run_id, step, count(*)::int as begun,
      (count(*) filter (where status in ('ready', 'processing')))::int as under_way
    from workflow_steps where run_id = any($1::uuid[]) and item >= 0 group by run_id, step`,
};

const readInput: Statement = {
  name: 'progress-read-input',
  text: `select input from workflow_runs where id = $1`,
};

const readStepValues: Statement = {
  name: 'progress-read-values',
  text: `select step, case when step = any($2::text[]) then output end as output,
      case when step = any($3::text[]) then items end as items
    from workflow_steps where run_id = $1 and item = -1 and (step = any($2::text[]) or step = any($3::text[]))`,
};

const readItems: Statement = {
  name: 'progress-read-items',
  text: `select ${stepColumns}, s.output from workflow_steps s
    where s.run_id = $1 and s.item >= 0 and s.step = any($2::text[])`,
};
