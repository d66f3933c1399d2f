import { Skeleton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { ListFigure } from '../../components/analytics/list-figure.tsx';
import { Card } from '../../components/layout/card.tsx';
import { ErrorState } from '../../components/states/error-state.tsx';
import { type GroupTotal, totalsByGroup, totalsQuery } from '../../data/analytics/analytics.ts';
import { linkToGroup } from '../../data/analytics/links.ts';
import { formatApproximate } from '../../data/analytics/metrics.ts';
import type { TimeRange } from '../../data/analytics/time-range.ts';
import { formatCostSum, formatCount } from '../../data/text/format.ts';
import { ShareBar } from './failure-codes.tsx';
import classes from './overview.module.css';

const shownMax = 5;

/** The slowest or the most expensive agents. */
export function AgentRanking(props: {
  readonly range: TimeRange;
  readonly by: 'latency' | 'cost';
}) {
  const { range, by } = props;
  const query = useQuery(totalsQuery(undefined, range, 'agent'));
  const { title, value, text, more, empty } = kinds[by];
  const agents =
    query.data &&
    [...totalsByGroup(query.data, 'agent').values()]
      .filter((one) => value(one) > 0)
      .sort((a, b) => value(b) - value(a))
      .slice(0, shownMax);
  const most = agents?.[0] ? value(agents[0]) : 1;
  return (
    <Card
      title={title}
      actions={
        <Link to="/analytics" search={{ metric: by, by: 'agent' }} className={classes.more}>
          All agents
        </Link>
      }
    >
      {query.isError && !query.data ? (
        <ErrorState error={query.error} onRetry={() => void query.refetch()} />
      ) : agents === undefined ? (
        <Skeleton height={160} />
      ) : agents.length === 0 ? (
        <p className="note">{empty}</p>
      ) : (
        <ul className={classes.bars}>
          {agents.map((one) => (
            <li key={one.group.key}>
              <AgentName {...one.group} />
              <span className={classes.figures}>
                <small>
                  {formatCount(one.figures.count)}{' '}
                  {one.figures.count === 1 ? 'execution' : 'executions'}
                </small>
                <ListFigure
                  link={linkToGroup(undefined, 'agent', one.group, range, more(one))}
                  label="List the executions behind it"
                >
                  {text(one)}
                </ListFigure>
              </span>
              <ShareBar share={value(one) / most} tone="plain" />
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}

function AgentName({ agentId, agentName }: GroupTotal['group']) {
  if (agentId === undefined || agentName == null) return <span>Deleted agent</span>;
  return (
    <Link to="/agents/$agentId" params={{ agentId }} title={agentName} dir="auto">
      {agentName}
    </Link>
  );
}

const p95 = ({ figures }: GroupTotal) => figures.latency?.p95 ?? 0;

const kinds = {
  latency: {
    title: 'Slowest agents, p95',
    empty: 'No successful executions in this period.',
    value: p95,
    text: (one: GroupTotal) => formatApproximate(p95(one)),
    more: (one: GroupTotal) => ({ status: 'success', latencyMsMin: p95(one) }),
  },
  cost: {
    title: 'Most expensive agents',
    empty: 'No known cost in this period. Set prices in the settings if your models have none.',
    value: ({ figures }: GroupTotal) => figures.costUSD,
    text: ({ figures }: GroupTotal) => formatCostSum(figures),
    more: () => ({}),
  },
} as const;
