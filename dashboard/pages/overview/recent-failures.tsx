import { Skeleton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { ListFigure } from '../../components/analytics/list-figure.tsx';
import { Time } from '../../components/figures/time.tsx';
import { Card } from '../../components/layout/card.tsx';
import { ErrorState } from '../../components/states/error-state.tsx';
import { StaleNotice } from '../../components/states/stale-notice.tsx';
import { linkToGroup } from '../../data/analytics/links.ts';
import type { TimeRange } from '../../data/analytics/time-range.ts';
import { historyQuery } from '../../data/executions/executions.ts';
import classes from './overview.module.css';

/** The newest failures of the period, each with its reason. */
export function RecentFailures({ range }: { readonly range: TimeRange }) {
  const filters = {
    ...({ status: 'failed', limit: 8, omit: 'bodies' } as const),
    startDate: new Date(range.startMs).toISOString(),
    ...(range.endMs !== null && { endDate: new Date(range.endMs).toISOString() }),
  };
  const query = useQuery(historyQuery(undefined, filters, true));
  const { data } = query;
  const link = linkToGroup(undefined, 'none', null, range, { status: 'failed' });
  return (
    <Card
      title="Recent failures"
      actions={
        <ListFigure link={link} className={classes.more}>
          All failures
        </ListFigure>
      }
    >
      <StaleNotice query={query} />
      {query.isError && !data ? (
        <ErrorState error={query.error} onRetry={() => void query.refetch()} />
      ) : data === undefined ? (
        <Skeleton height={200} />
      ) : data.executions.length === 0 ? (
        <p className="note">No execution failed in this period.</p>
      ) : (
        <ul className={classes.failures}>
          {data.executions.map(({ executionId, agentId, agentName, ...one }) => (
            <li key={executionId}>
              <span className="code">{one.errorCode}</span>
              <Link to="/agents/$agentId" params={{ agentId }} dir="auto">
                {agentName}
              </Link>
              <span className="note" title={one.error ?? undefined} dir="auto">
                {one.error}
              </span>
              <Link to="/history/$agentId/$executionId" params={{ agentId, executionId }}>
                <Time at={one.executedAt} relative />
              </Link>
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}
