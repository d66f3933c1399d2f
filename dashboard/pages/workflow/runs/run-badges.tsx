import { StateBadge } from '../../../components/states/state-badge.tsx';
import type { StepStatus, WorkflowRunStatus } from '../../../data/workflows/workflow-runs.ts';

export const runTones = {
  processing: 'running',
  success: 'good',
  failed: 'bad',
  canceled: 'calm',
} as const satisfies Record<WorkflowRunStatus, string>;

export const stepTones = {
  waiting: 'calm',
  ready: 'warn',
  processing: 'running',
  success: 'good',
  failed: 'bad',
  skipped: 'calm',
  canceled: 'calm',
  canceling: 'calm',
} as const satisfies Record<StepStatus, string>;

export function RunBadge({ status }: { readonly status: WorkflowRunStatus }) {
  return <StateBadge tone={runTones[status]} text={status} />;
}

export function StepBadge({ status }: { readonly status: StepStatus }) {
  return <StateBadge tone={stepTones[status]} text={status} />;
}
