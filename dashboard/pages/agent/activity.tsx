import { SegmentedControl, Skeleton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { Suspense } from 'react';
import { Card } from '../../components/card.tsx';
import { ErrorState } from '../../components/error-state.tsx';
import { lazyComponent } from '../../components/lazy-component.tsx';
import { statisticsQuery } from '../../data/agents/agents.ts';
import {
  asSingleInterval,
  lastDays,
  lastHours,
  type Totals,
  totalsOf,
} from '../../data/executions/statistics.ts';
import { formatCosts, formatCount, formatDuration, formatPercent } from '../../data/text/format.ts';
import classes from './activity.module.css';
import { type Range, ranges } from './search.ts';

const ActivityCharts = lazyComponent(() => import('./activity-charts.tsx'));
const route = getRouteApi('/app/agents/$agentId/');

/** The agent's recent activity: totals and charts. */
export function Activity({ agentId }: { readonly agentId: string }) {
  const { range = '24h' } = route.useSearch();
  const navigate = route.useNavigate();
  const span = spans[range]();
  const statistics = useQuery(statisticsQuery(agentId, span));
  const metrics = useQuery(statisticsQuery(agentId, asSingleInterval(span)));
  const choose = (chosen: string) =>
    void navigate({ search: { range: chosen as Range }, replace: true, resetScroll: false });
  const { data } = statistics;
  const failed = [statistics, metrics].find((one) => one.isError && !one.data);
  return (
    <Card
      title="Activity"
      actions={
        <SegmentedControl
          size="xs"
          aria-label="Time range"
          data={[...ranges]}
          value={range}
          onChange={choose}
        />
      }
    >
      {failed ? (
        <ErrorState error={failed.error} onRetry={() => void failed.refetch()} />
      ) : (
        <>
          <ActivityMetrics totals={metrics.data && totalsOf(metrics.data.buckets)} />
          <Suspense fallback={<ChartsLoading />}>
            {data ? <ActivityCharts statistics={data} /> : <ChartsLoading />}
          </Suspense>
        </>
      )}
    </Card>
  );
}

const spans = {
  '24h': () => lastHours(24),
  '7d': () => lastHours(7 * 24),
  '30d': () => lastDays(30),
};

function ActivityMetrics({ totals }: { readonly totals: Totals | undefined }) {
  const metrics: readonly (readonly [string, (totals: Totals) => string])[] = [
    ['Executions', ({ executions }) => formatCount(executions)],
    ['Success', ({ successRate: rate }) => (rate === null ? '–' : formatPercent(rate))],
    ['p95', ({ p95Ms }) => (p95Ms === null ? '–' : formatDuration(p95Ms))],
    ['Tokens', ({ tokens }) => formatCount(tokens)],
    ['Cost', formatCosts],
  ];
  return (
    <dl className={classes.metrics}>
      {metrics.map(([name, of]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{totals ? of(totals) : <Skeleton height={18} width="3rem" my={5} />}</dd>
        </div>
      ))}
    </dl>
  );
}

function ChartsLoading() {
  return (
    <div className={classes.charts} aria-busy="true">
      {['runs', 'latency', 'tokens', 'cost'].map((name) => (
        <Skeleton key={name} height={212} />
      ))}
    </div>
  );
}
