import { formatChange } from '../../data/analytics/metrics.ts';
import classes from './change.module.css';

/** The change from the previous period, in red if it is for the worse. */
export function Change(props: {
  readonly change: number | null;
  /** The direction that is worse; undefined if neither is. */
  readonly worse?: 'up' | undefined;
  readonly before?: string;
  /** Says what it is compared with, where nothing beside it does. */
  readonly vague?: boolean;
}) {
  const { change, worse, before, vague = false } = props;
  if (change === null) {
    if (vague) return null;
    return (
      <span className={classes.change}>{before === undefined ? '–' : `before: ${before}`}</span>
    );
  }
  const rounded = Math.round(change * 100);
  const tone = worse === undefined || rounded === 0 ? undefined : rounded > 0 ? 'bad' : 'good';
  return (
    <span className={classes.change}>
      <span data-tone={tone}>{formatChange(change)}</span>
      {before !== undefined && <> from {before}</>}
      {vague && ' vs previous period'}
    </span>
  );
}
