import type {
  WorkflowRun,
  WorkflowRunDetail,
  WorkflowRunItem,
  WorkflowRunStep,
  WorkflowUsage,
} from '../../../contract/workflows/workflow-run-record.ts';
import { labelFieldsOf } from '../../../core/execution/labels.ts';
import { toId } from '../../../core/id.ts';
import type { Caller } from '../../../core/people/caller.ts';
import type { StepDefinition } from '../../../core/workflow/definition.ts';
import { waitsFor } from '../../../core/workflow/step-graph.ts';
import type { WorkflowRunDetailRow } from '../../../store/workflow/workflow-history.ts';
import type {
  WorkflowRunSummaryRow,
  WorkflowStepRow,
} from '../../../store/workflow/workflow-runs.ts';
import type { UsageRow } from '../../../store/workflow/workflow-usage.ts';
import { visibleError } from '../../access/visible-resources.ts';
import { RawJson } from '../../http/response/json-response.ts';

/** Workflow runs in API format. */

export function workflowRunWire(row: WorkflowRunSummaryRow): WorkflowRun {
  return {
    workflowRunId: toId('workflowRun', row.id),
    workflowId: toId('workflow', row.workflowId),
    workflowVersionId: toId('workflowVersion', row.workflowVersionId),
    workflowVersionLabel: row.workflowVersionLabel,
    status: row.status,
    trigger: row.trigger,
    executedAt: row.executedAt.toISOString(),
    ...(row.completedAt && { completedAt: row.completedAt.toISOString() }),
    deadlineAt: row.deadlineAt.toISOString(),
    executedBy: row.executedBy === null ? null : toId('user', row.executedBy),
    ...(row.apiKeyId !== null && { apiKeyId: toId('key', row.apiKeyId) }),
    ...labelFieldsOf(row.labels),
    ...(row.failedStep !== null && { failedStep: row.failedStep }),
    ...failureWire(row),
  };
}

/**
 * The workflow run as far as the caller may see it: a key without `read` sees neither its input nor who executed it, nor for
 * whom, nor the details of errors.
 */
export function visibleRunWire(
  caller: Caller,
  row: WorkflowRunDetailRow,
  usage: readonly UsageRow[] | null = null,
): DetailWire {
  if (caller.rights.includes('read')) return detailWire(row, usage);
  const steps = row.steps.map((step) => withVisibleError(caller, step));
  const visible = { ...withVisibleError(caller, row), steps, input: null, labels: null };
  const { executedBy: _, ...wire } = detailWire(visible);
  return wire;
}

export function withVisibleError<Row extends { readonly error: string | null }>(
  caller: Caller,
  row: Row,
): Row {
  return { ...row, error: visibleError(caller, row.error) };
}

/** Input and output are returned as unchanged JSON text. */
type DetailWire = Omit<WorkflowRunDetail, 'input' | 'output'> & {
  input?: RawJson;
  output?: RawJson;
};

function detailWire(
  row: WorkflowRunDetailRow,
  usageRows: readonly UsageRow[] | null = null,
): DetailWire {
  const usageOf = usageRows && usageByPart(usageRows);
  const itemCounts = new Map(row.items.map((one) => [one.step, one]));
  const states = new Map(row.steps.map((step) => [`${step.step} ${step.item}`, step]));
  const skipped = new Set(
    row.steps
      .filter(({ item, status }) => item < 0 && status === 'skipped')
      .map(({ step }) => step),
  );
  return {
    ...workflowRunWire(row),
    ...(row.input !== null && { input: new RawJson(row.input) }),
    ...(row.output !== null && { output: new RawJson(row.output) }),
    ...(usageOf && { usage: usageOf(null, null) }),
    steps: row.definition.steps.map((step) => {
      const state = states.get(`${step.name} -1`);
      if (!state)
        return { name: step.name, status: row.status === 'processing' ? 'waiting' : 'canceled' };
      const { name } = step;
      const items = row.steps.filter((one) => one.step === step.name && one.item >= 0);
      return {
        name,
        ...stateWire(step, state),
        ...(usageOf && { usage: usageOf(name, null) }),
        ...(state.status === 'skipped' && { skippedReason: skippedReason(step, skipped) }),
        ...(state.itemsCount !== null && {
          itemCount: state.itemsCount,
          itemsBegun: itemCounts.get(step.name)?.begun ?? 0,
          itemsEnded: itemCounts.get(step.name)?.ended ?? 0,
          items: items.map((one) => itemWire(step, one, usageOf?.(name, one.item))),
        }),
      };
    }),
  };
}

export function itemWire(
  step: StepDefinition,
  row: WorkflowStepRow,
  usage?: WorkflowUsage,
): WorkflowRunItem {
  return { item: row.item, ...stateWire(step, row), ...(usage && { usage }) };
}

/** Looks up the usage of a step, of one of its items, or of all steps. */
export function usageByPart(
  rows: readonly UsageRow[],
): (step: string | null, item: number | null) => WorkflowUsage {
  const byPart = new Map(rows.map((row) => [`${row.step ?? ''} ${row.item ?? ''}`, row]));
  return (step, item) => usageWire(byPart.get(`${step ?? ''} ${item ?? ''}`));
}

function usageWire(row: UsageRow | undefined): WorkflowUsage {
  return {
    executions: row?.executions ?? 0,
    inputTokens: row?.inputTokens ?? 0,
    outputTokens: row?.outputTokens ?? 0,
    costUSD: Number(row?.costUsd ?? 0),
    costUnknown: row?.costUnknown ?? 0,
  };
}

function stateWire(step: StepDefinition, row: WorkflowStepRow): Omit<WorkflowRunStep, 'name'> {
  const hasAgent = row.executionId !== null || row.status === 'ready';
  const { fallback } = step;
  const agentId =
    row.fallback && fallback && 'agentId' in fallback ? fallback.agentId : step.agentId;
  return {
    status: row.status,
    ...(hasAgent && { agentId }),
    ...(row.executionId !== null && { executionId: toId('execution', row.executionId) }),
    ...(row.failedExecutionId !== null && {
      failedExecutionId: toId('execution', row.failedExecutionId),
    }),
    ...(row.fallback && { fallback: true }),
    ...(row.startedAt && { startedAt: row.startedAt.toISOString() }),
    ...(row.completedAt && { completedAt: row.completedAt.toISOString() }),
    ...failureWire(row),
  };
}

function skippedReason(step: StepDefinition, skipped: ReadonlySet<string>) {
  const dependencies = waitsFor(step);
  const allSkipped = dependencies.length > 0 && dependencies.every((name) => skipped.has(name));
  return allSkipped ? 'ALL_SKIPPED' : 'CONDITION';
}

function failureWire<Code extends string>(row: { error: string | null; errorCode: Code | null }) {
  const { error, errorCode } = row;
  return { ...(error !== null && { error }), ...(errorCode !== null && { errorCode }) };
}
