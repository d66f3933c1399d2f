import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { formatTime } from '../../data/text/format.ts';
import { can, useMe } from '../../data/workspace/me.ts';
import { usageQuery } from '../../data/workspace/usage.ts';
import classes from './notice.module.css';

/** The share of the quota from which every member is warned. */
const warningShare = 0.8;
const pollMs = 60_000;

/** Warns all members before calls fail, and names who can raise the quota. */
export function QuotaNotice() {
  const me = useMe();
  const { data } = useQuery({ ...usageQuery, refetchInterval: pollMs });
  if (!data || data.actionsPerMonth === null) return null;
  const { actionsUsed: used, actionsPerMonth: all, resetAt } = data;
  if (used < all * warningShare) return null;
  const percent = all === 0 ? 100 : Math.floor((used / all) * 100);
  return (
    <section className={classes.notice} aria-label="Quota">
      <span>
        {used >= all ? 'The quota is used up: new calls fail with 429. ' : ''}
        {used.toLocaleString()} of {all.toLocaleString()} AI Actions of this month are used (
        {percent}
        %). The quota resets on {formatTime(resetAt)}.{' '}
        {can(me, 'manage') ? (
          <Link to="/settings/workspace">Raise the quota</Link>
        ) : (
          'A workspace owner can raise it.'
        )}
      </span>
    </section>
  );
}
