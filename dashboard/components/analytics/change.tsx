import type { Metric } from '../../data/analytics/analytics-search.ts';
import { changeOf, worse } from '../../data/analytics/metrics.ts';

/** The change from the previous period, in red if it is for the worse. */
export function Change(props: {
  readonly metric: Metric;
  readonly now: number | null;
  readonly previous: number | null;
  readonly before?: string;
  /** Says what it is compared with, where nothing beside it does. */
  readonly vague?: boolean;
}) {
  const { metric, now, previous, before, vague = false } = props;
  const change = changeOf(metric, now, previous);
  if (change === null) {
    if (vague) return null;
    return <span className="soft nowrap">{before === undefined ? '–' : `before: ${before}`}</span>;
  }
  const { text, direction } = change;
  const isJudged = worse[metric] !== undefined && direction !== 0;
  return (
    <span className="soft nowrap">
      <span style={isJudged ? { color: direction > 0 ? 'var(--bad)' : 'var(--good)' } : {}}>
        {text}
      </span>
      {before !== undefined && <> from {before}</>}
      {vague && ' vs previous period'}
    </span>
  );
}
