import { Skeleton } from '@mantine/core';
import type { Usage } from '../../../src/client/index.ts';
import { Meter } from '../../components/meter.tsx';
import { formatTime } from '../../data/text/format.ts';
import classes from './settings.module.css';

/** What was used of the month's actions, and when the next month begins. */
export function UsageMeter({ usage }: { readonly usage: Usage | undefined }) {
  if (!usage) return <Skeleton height={80} maw="30rem" />;
  const { actionsUsed: used, actionsPerMonth: all, resetAt } = usage;
  return (
    <div className={classes.usage}>
      <div>
        <span className={classes.used}>{used.toLocaleString()}</span>{' '}
        {all === null
          ? 'AI Actions this month, no cap'
          : `of ${all.toLocaleString()} AI Actions this month`}
      </div>
      {all !== null && (
        <Meter
          used={used}
          of={all}
          label={`${used.toLocaleString()} of ${all.toLocaleString()} used`}
        />
      )}
      <p className={classes.soft}>
        Plan “{usage.plan}”. Counting begins anew on {formatTime(resetAt)}, the start of the next
        month in UTC.
      </p>
    </div>
  );
}
