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
import { type Execution, historyQuery } from '../../data/executions/executions.ts';
import classes from './overview.module.css';

/** The newest failures of the period by agent and code, each with the reason of the last one. */
export function RecentFailures({ range }: { readonly range: TimeRange }) {
  const filters = {
    ...({ status: 'failed', limit: readMax, omit: 'bodies' } as const),
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
        <>
          <ul className={classes.failures}>
            {groupsOf(data.executions).map(({ last, first, count }) => (
              <Failures
                key={`${last.agentId} ${last.errorCode}`}
                {...{ last, first, count, filters }}
              />
            ))}
          </ul>
          {data.executions.length === readMax && (
            <p className="small-note">Of the newest {readMax} failures.</p>
          )}
        </>
      )}
    </Card>
  );
}

const readMax = 100;

interface FailureGroup {
  readonly last: Execution;
  readonly first: Execution;
  readonly count: number;
}

/** By agent and code, the latest first. */
function groupsOf(executions: readonly Execution[]): FailureGroup[] {
  const groups = Map.groupBy(executions, ({ agentId, errorCode }) => `${agentId} ${errorCode}`);
  return [...groups.values()].flatMap((group) => {
    const [last, first] = [group[0], group.at(-1)];
    return last && first ? [{ last, first, count: group.length }] : [];
  });
}

function Failures(
  props: FailureGroup & { readonly filters: { readonly startDate: string; endDate?: string } },
) {
  const { last, first, count, filters } = props;
  const { agentId, agentName, executionId, errorCode, error } = last;
  const { startDate, endDate } = filters;
  const search = { status: 'failed', agentId, errorCode, startDate, endDate };
  return (
    <li>
      <span className="code">{errorCode}</span>
      <span>
        <Link to="/agents/$agentId" params={{ agentId }} dir="auto">
          {agentName}
        </Link>{' '}
        <Link to="/history" search={search} aria-label={`List ${count} × ${errorCode}`}>
          × {count.toLocaleString()}
        </Link>
      </span>
      <span className="note" title={error ?? undefined} dir="auto">
        {error}
      </span>
      <span>
        {count > 1 && (
          <span className="small-note">
            since <Time at={first.executedAt} relative />, last{' '}
          </span>
        )}
        <Link to="/history/$agentId/$executionId" params={{ agentId, executionId }}>
          <Time at={last.executedAt} relative />
        </Link>
      </span>
    </li>
  );
}
