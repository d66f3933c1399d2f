import type { Execution } from '../data/executions/executions.ts';
import { StateBadge } from './state-badge.tsx';

const tones = {
  processing: 'accent',
  success: 'good',
  failed: 'bad',
  rate_limited: 'warn',
  canceled: 'calm',
  unauthorized: 'warn',
} as const satisfies Record<Execution['status'], string>;

export function StatusBadge({ status }: { readonly status: Execution['status'] }) {
  return <StateBadge tone={tones[status]} text={status.replace('_', ' ')} />;
}
