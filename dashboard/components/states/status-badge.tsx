import type { Execution } from '../../data/executions/executions.ts';
import { StateBadge } from './state-badge.tsx';

export const statusTones = {
  processing: 'running',
  success: 'good',
  failed: 'bad',
  rate_limited: 'warn',
  canceled: 'calm',
  unauthorized: 'bad',
} as const satisfies Record<Execution['status'], string>;

export function StatusBadge({ status }: { readonly status: Execution['status'] }) {
  return <StateBadge tone={statusTones[status]} text={status.replace('_', ' ')} />;
}

/** Distinguishes executions that wait from those that a worker has started, and refusals by the quota from those by a rate limit. */
export function ExecutionBadge({ execution }: { readonly execution: Shown }) {
  const { status, errorCode, startedAt } = execution;
  if (errorCode === 'QUOTA_EXCEEDED') return <StateBadge tone="warn" text="quota exceeded" />;
  const isQueued = status === 'processing' && startedAt === undefined;
  return isQueued ? <StateBadge tone="warn" text="queued" /> : <StatusBadge status={status} />;
}

type Shown = Pick<Execution, 'status' | 'errorCode' | 'startedAt'>;
