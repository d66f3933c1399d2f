import { Skeleton } from '@mantine/core';
import type { Usage } from '../../../src/client/index.ts';
import { formatTime } from '../../data/format.ts';
import classes from './settings.module.css';

/** What was used of the month's actions, and when the next month begins. */
export function UsageMeter({ usage }: { readonly usage: Usage | undefined }) {
  if (!usage) return <Skeleton height={80} maw="30rem" />;
  const { actionsUsed: used, actionsPerMonth: all, resetAt } = usage;
  const share = all === null || all === 0 ? 1 : Math.min(1, used / all);
  return (
    <div className={classes.usage}>
      <div>
        <span className={classes.used}>{used.toLocaleString()}</span>{' '}
        {all === null
          ? 'AI Actions this month, no cap'
          : `of ${all.toLocaleString()} AI Actions this month`}
      </div>
      {all !== null && (
        <svg
          className={classes.meter}
          height="8"
          role="img"
          aria-label={`${used.toLocaleString()} of ${all.toLocaleString()} used`}
        >
          <rect data-part="all" width="100%" height="8" rx="4" />
          <rect
            data-part="used"
            data-full={share >= 1 || undefined}
            width={`${share * 100}%`}
            height="8"
            rx="4"
          />
        </svg>
      )}
      <p className={classes.soft}>
        Plan “{usage.plan}”. Counting begins anew on {formatTime(resetAt)}, the start of the next
        month in UTC.
      </p>
    </div>
  );
}
