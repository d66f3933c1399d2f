import { StateBadge } from '../../../components/states/state-badge.tsx';
import {
  failedItemsText,
  type ItemCounts,
  type StepStatus,
} from '../../../data/workflows/workflow-runs.ts';

/** A run, a step or an item. */
type Ran = { readonly status: StepStatus } & ItemCounts;

const tones = {
  waiting: 'calm',
  ready: 'warn',
  processing: 'running',
  success: 'good',
  failed: 'bad',
  skipped: 'calm',
  canceled: 'calm',
  canceling: 'calm',
} as const satisfies Record<StepStatus, string>;

/** A success with failed items is not plain green. */
export function toneOf({ status, itemsFailed = 0 }: Ran) {
  return status === 'success' && itemsFailed > 0 ? 'warn' : tones[status];
}

/** The state, with its failed items. */
export function RunBadge({ of }: { readonly of: Ran }) {
  const items = failedItemsText(of);
  return (
    <>
      <StateBadge tone={toneOf(of)} text={of.status} />
      {items && <div className="warn-note">{items}</div>}
    </>
  );
}
