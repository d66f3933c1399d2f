import { storedId } from '../../../core/id.ts';
import { labelFieldsOf } from '../../../core/labels.ts';
import { type Caller, seesCosts } from '../../../core/people/caller.ts';
import type { StepDefinition } from '../../../core/workflow/definition.ts';
import { waitsFor } from '../../../core/workflow/step-graph.ts';
import { RawJson } from '../../../http/response/json-response.ts';
import { visibleError } from '../../people/access/visible-resources.ts';
import type { WorkflowRunDetailRow } from '../statements/workflow-history.ts';
import type {
  FailedItems,
  WorkflowRunSummaryRow,
  WorkflowStepRow,
} from '../statements/workflow-runs.ts';
import type { UsageRow } from '../statements/workflow-usage.ts';

/** Workflow runs, their steps and items, as responses have them. */

export function runOf<Row extends WorkflowRunSummaryRow>(row: Row) {
  return { ...row, ...labelFieldsOf(row.labels), maxCostUSD: row.maxCostUsd };
}

/**
 * The workflow run as far as the caller may see it: a key without `read` sees neither its input nor who executed it, nor for
 * whom, nor the details of errors.
 */
export function visibleRun(
  caller: Caller,
  row: WorkflowRunDetailRow,
  usage: readonly UsageRow[] | null = null,
) {
  if (caller.rights.includes('read')) return runDetail(row, usage);
  const steps = row.steps.map((step) => withVisibleError(caller, step));
  const maxCostUsd = seesCosts(caller) ? row.maxCostUsd : null;
  const visible = {
    ...withVisibleError(caller, row),
    steps,
    input: null,
    labels: null,
    maxCostUsd,
  };
  return { ...runDetail(visible), executedBy: undefined };
}

export function withVisibleError<Row extends { readonly error: string | null }>(
  caller: Caller,
  row: Row,
): Row {
  return { ...row, error: visibleError(caller, row.error) };
}

function runDetail(row: WorkflowRunDetailRow, usageRows: readonly UsageRow[] | null = null) {
  const usageOf = usageRows && usageByPart(usageRows);
  return {
    ...runOf(row),
    output: row.output === null ? null : new RawJson(row.output),
    ...failedItemsOf(row),
    usage: usageOf?.(null, null),
    steps: stepsOf(row, usageOf),
  };
}

/** The items of all steps, if one of them has failed. */
function failedItemsOf({ items, steps }: WorkflowRunDetailRow): FailedItems | null {
  const sum = (numbers: readonly number[]) => numbers.reduce((total, one) => total + one, 0);
  const itemsFailed = sum(items.map(({ failed }) => failed));
  if (itemsFailed === 0) return null;
  return {
    itemCount: sum(steps.map(({ itemsCount }) => itemsCount ?? 0)),
    itemsSucceeded: sum(items.map(({ succeeded }) => succeeded)),
    itemsFailed,
  };
}

function stepsOf(row: WorkflowRunDetailRow, usageOf: UsageOf | null) {
  const itemCounts = new Map(row.items.map((one) => [one.step, one]));
  const states = new Map(row.steps.map((step) => [`${step.step} ${step.item}`, step]));
  const skipped = new Set(
    row.steps
      .filter(({ item, status }) => item < 0 && status === 'skipped')
      .map(({ step }) => step),
  );
  return row.definition.steps.map((step) => {
    const { name } = step;
    const state = states.get(`${name} -1`);
    if (!state)
      return { ...notBegun, name, status: row.status === 'processing' ? waiting : canceled };
    const counts = itemCounts.get(name);
    return {
      name,
      ...stateOf(step, state),
      usage: usageOf?.(name, null),
      skippedReason: state.status === 'skipped' ? skippedReason(step, skipped) : null,
      ...(state.itemsCount !== null && {
        itemCount: state.itemsCount,
        itemsBegun: counts?.begun ?? 0,
        itemsEnded: counts?.ended ?? 0,
        itemsSucceeded: counts?.succeeded ?? 0,
        itemsFailed: counts?.failed ?? 0,
        items: row.steps
          .filter((one) => one.step === name && one.item >= 0)
          .map((one) => itemOf(step, one, usageOf)),
      }),
    };
  });
}

const notBegun = { agentId: null, executionId: null };
const waiting = 'waiting' as const;
const canceled = 'canceled' as const;

export function itemOf(step: StepDefinition, row: WorkflowStepRow, usageOf: UsageOf | null) {
  return { ...stateOf(step, row), usage: usageOf?.(row.step, row.item) };
}

type UsageOf = ReturnType<typeof usageByPart>;

/** Looks up the usage of a step, of one of its items, or of all steps. */
export function usageByPart(rows: readonly UsageRow[]) {
  const byPart = new Map(rows.map((row) => [`${row.step ?? ''} ${row.item ?? ''}`, row]));
  return (step: string | null, item: number | null) => {
    const usage = byPart.get(`${step ?? ''} ${item ?? ''}`) ?? noUsage;
    return { ...usage, costUSD: usage.costUsd };
  };
}

const noUsage = { executions: 0, inputTokens: 0, outputTokens: 0, costUsd: '0', costUnknown: 0 };

function stateOf(step: StepDefinition, row: WorkflowStepRow) {
  const hasAgent = row.executionId !== null || row.status === 'ready';
  const { fallback } = step;
  const agentId =
    row.fallback && fallback && 'agentId' in fallback ? fallback.agentId : step.agentId;
  return {
    ...row,
    agentId: hasAgent ? storedId('agent', agentId) : null,
    fallback: row.fallback || null,
  };
}

function skippedReason(
  step: StepDefinition,
  skipped: ReadonlySet<string>,
): 'ALL_SKIPPED' | 'CONDITION' {
  const dependencies = waitsFor(step);
  const allSkipped = dependencies.length > 0 && dependencies.every((name) => skipped.has(name));
  return allSkipped ? 'ALL_SKIPPED' : 'CONDITION';
}
