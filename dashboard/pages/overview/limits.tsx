import { Skeleton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ApiKey, Usage } from '../../../src/client/index.ts';
import { ListFigure } from '../../components/analytics/list-figure.tsx';
import { Meter } from '../../components/figures/meter.tsx';
import { Card } from '../../components/layout/card.tsx';
import { ErrorState } from '../../components/states/error-state.tsx';
import { type GroupTotal, totalsByGroup, totalsQuery } from '../../data/analytics/analytics.ts';
import { linkToGroup } from '../../data/analytics/links.ts';
import type { TimeRange } from '../../data/analytics/time-range.ts';
import { formatCount, formatRelativeTime } from '../../data/text/format.ts';
import { keyStateOf, keysQuery } from '../../data/workspace/keys.ts';
import { usageQuery } from '../../data/workspace/usage.ts';
import classes from './overview.module.css';

/** Below the quota: the place that the page reserves. */
const rowsMax = 3;

/** The quota of the month, the keys closest to their limits, and what limits and quota refused. */
export function Limits({ range }: { readonly range: TimeRange }) {
  const usage = useQuery({ ...usageQuery, refetchInterval: 30_000 });
  const keys = useQuery(keysQuery({ limit: 100 }));
  const totals = useQuery(totalsQuery(undefined, range, 'errorCode'));
  const codes = totals.data ? [...totalsByGroup(totals.data, 'errorCode').values()] : [];
  const refused = refusals.flatMap(([code, label]) => {
    const total = codes.find(({ group }) => group.value === code);
    return total ? [{ label, total }] : [];
  });
  const failed = [usage, keys].find((one) => one.isError && !one.data);
  return (
    <Card
      title="Quota and limits"
      actions={
        <Link to="/settings/workspace" className={classes.more}>
          Plan
        </Link>
      }
    >
      {failed ? (
        <ErrorState error={failed.error} onRetry={() => void failed.refetch()} />
      ) : usage.data && keys.data && !totals.isPending ? (
        <>
          <Quota usage={usage.data} />
          {closest(keys.data.keys, rowsMax - refused.length).map((one) => (
            <div key={one.key.apiKeyId} className={classes.limit}>
              <div>
                <Link to="/keys" dir="auto">
                  {one.key.name}
                </Link>
                <span>
                  {formatCount(one.used)} of {formatCount(one.limit)} calls this {one.window}
                </span>
              </div>
              <Meter
                used={one.used}
                max={one.limit}
                label={`${one.used.toLocaleString()} of ${one.limit.toLocaleString()} calls of ${one.key.name} used this ${one.window}`}
              />
            </div>
          ))}
          {refused.map((one) => (
            <Refused key={one.label} range={range} {...one} />
          ))}
        </>
      ) : (
        <Skeleton height={120} />
      )}
    </Card>
  );
}

function Quota({ usage }: { readonly usage: Usage }) {
  const { actionsUsed: used, actionsPerMonth: all, resetAt } = usage;
  const month = { startMs: new Date(`${usage.month}-01T00:00:00.000Z`).getTime(), endMs: null };
  return (
    <div className={classes.limit}>
      <div>
        <span>AI Actions this month{all !== null && `, reset ${formatRelativeTime(resetAt)}`}</span>
        <ListFigure
          link={linkToGroup(undefined, 'none', null, month, { playground: 'true,false' })}
        >
          {formatCount(used)}
          {all === null ? ', no limit' : ` of ${formatCount(all)}`}
        </ListFigure>
      </div>
      {all !== null && (
        <Meter
          used={used}
          max={all}
          label={`${used.toLocaleString()} of ${all.toLocaleString()} AI Actions used`}
        />
      )}
    </div>
  );
}

interface Closest {
  readonly key: ApiKey;
  readonly window: string;
  readonly used: number;
  readonly limit: number;
}

/** The keys that have used most of a limit, each with the window in which it has. */
function closest(keys: readonly ApiKey[], count: number): Closest[] {
  return keys
    .filter((key) => keyStateOf(key) === 'active')
    .flatMap((key): Closest[] => {
      const share = (one: ApiKey['rateLimitUsage'][number]) =>
        one.limit === 0 ? 0 : one.used / one.limit;
      const [most] = key.rateLimitUsage.toSorted((a, b) => share(b) - share(a));
      return most && most.used > 0 ? [{ key, ...most }] : [];
    })
    .sort((a, b) => b.used / b.limit - a.used / a.limit)
    .slice(0, count);
}

const refusals = [
  ['RATE_LIMIT_EXCEEDED', 'Refused by a rate limit'],
  ['QUOTA_EXCEEDED', 'Refused by the quota'],
] as const;

function Refused(props: {
  readonly label: string;
  readonly range: TimeRange;
  readonly total: GroupTotal;
}) {
  const { label, range, total } = props;
  return (
    <div className={classes.limit}>
      <div>
        <span>{label} in this period</span>
        <ListFigure link={linkToGroup(undefined, 'errorCode', total.group, range)}>
          {formatCount(total.figures.count)}
        </ListFigure>
      </div>
    </div>
  );
}
