import { Skeleton } from '@mantine/core';
import type { Usage } from '../../../../src/client/index.ts';
import { Meter } from '../../../components/figures/meter.tsx';
import { formatTime } from '../../../data/text/format.ts';
import classes from '../settings.module.css';

/** AI Actions used this month, and when the count resets. */
export function UsageMeter({ usage }: { readonly usage: Usage | undefined }) {
  if (!usage) return <Skeleton height={80} />;
  const { actionsUsed: used, actionsPerMonth: all, resetAt } = usage;
  return (
    <div className={classes.usage}>
      <div>
        <span className={classes.used}>{used.toLocaleString()}</span>{' '}
        {all === null
          ? 'AI Actions this month, no limit'
          : `of ${all.toLocaleString()} AI Actions this month`}
      </div>
      {all !== null && (
        <Meter
          used={used}
          max={all}
          label={`${used.toLocaleString()} of ${all.toLocaleString()} used`}
        />
      )}
      <p className="note">
        Plan “{usage.plan}”. Resets on {formatTime(resetAt)}, the start of the next month in UTC.
      </p>
    </div>
  );
}
