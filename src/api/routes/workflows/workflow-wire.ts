import type {
  Workflow,
  WorkflowPin,
  WorkflowSummary,
  WorkflowVersion,
  WorkflowVersionSummary,
} from '../../../contract/workflows/workflows.ts';
import { toId } from '../../../core/id.ts';
import { storedProblems } from '../../../core/workflow/check-definition.ts';
import type { PinRow } from '../../../store/agent/pins.ts';
import type { WorkflowActivity } from '../../../store/workflow/workflow-activity.ts';
import type {
  WorkflowVersionRow,
  WorkflowVersionSummaryRow,
} from '../../../store/workflow/workflow-versions.ts';
import type { WorkflowRow, WorkflowSummaryRow } from '../../../store/workflow/workflows.ts';

/** Workflows and their versions in API format. A definition is stored in the same format. */

export function workflowSummaryWire(row: WorkflowSummaryRow): WorkflowSummary {
  return {
    workflowId: toId('workflow', row.id),
    name: row.name,
    slug: row.slug,
    description: row.description,
    enabled: row.enabled,
    workflowVersionId: toId('workflowVersion', row.workflowVersionId),
    workflowVersionLabel: row.workflowVersionLabel,
    number: row.number,
    stepCount: row.stepCount,
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
    createdBy: userWire(row.createdBy),
  };
}

/** A workflow in a list with `include=activity`. */
export function workflowActivityWire(
  row: WorkflowSummaryRow,
  { lastRuns, nextAt }: WorkflowActivity = { lastRuns: [], nextAt: null },
): WorkflowSummary {
  return {
    ...workflowSummaryWire(row),
    lastRuns: lastRuns.map(({ id, status, executedAt }) => ({
      workflowRunId: toId('workflowRun', id),
      status,
      executedAt: executedAt.toISOString(),
    })),
    nextAt: nextAt?.toISOString() ?? null,
  };
}

export function workflowWire(row: WorkflowRow): Workflow {
  const problems = storedProblems(row.definition);
  return {
    ...workflowSummaryWire(row),
    definition: definitionWire(row),
    ...(problems.length > 0 && { problems }),
  };
}

export function workflowVersionSummaryWire(row: WorkflowVersionSummaryRow): WorkflowVersionSummary {
  return {
    workflowVersionId: toId('workflowVersion', row.id),
    workflowVersionLabel: row.label,
    number: row.number,
    workflowId: toId('workflow', row.workflowId),
    stepCount: row.stepCount,
    notes: row.notes,
    createdAt: row.createdAt.toISOString(),
    createdBy: userWire(row.createdBy),
  };
}

export function workflowVersionWire(row: WorkflowVersionRow): WorkflowVersion {
  return { ...workflowVersionSummaryWire(row), definition: definitionWire(row) };
}

export function workflowPinWire(row: PinRow): WorkflowPin {
  return {
    pinId: toId('workflowPin', row.id),
    workflowVersionId: toId('workflowVersion', row.versionId),
    workflowVersionLabel: row.versionLabel,
    number: row.number,
    pinnedAt: row.pinnedAt.toISOString(),
    pinnedBy: userWire(row.pinnedBy),
  };
}

/** Casts the readonly arrays of the core to the mutable arrays of the contract. */
function definitionWire({ definition }: Pick<WorkflowRow, 'definition'>): Workflow['definition'] {
  return definition as unknown as Workflow['definition'];
}

function userWire(id: string | null): string | null {
  return id === null ? null : toId('user', id);
}
