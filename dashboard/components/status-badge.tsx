import type { Execution } from '../data/executions/executions.ts';
import { StateBadge } from './state-badge.tsx';

const tones = {
  processing: 'running',
  success: 'good',
  failed: 'bad',
  rate_limited: 'warn',
  canceled: 'calm',
  unauthorized: 'bad',
} as const satisfies Record<Execution['status'], string>;

export function StatusBadge(props: {
  readonly status: Execution['status'];
  /** Distinguishes refusals by the quota from those by a rate limit. */
  readonly errorCode?: string | null | undefined;
}) {
  const { status, errorCode } = props;
  const text = errorCode === 'QUOTA_EXCEEDED' ? 'quota exceeded' : status.replace('_', ' ');
  return <StateBadge tone={tones[status]} text={text} />;
}
