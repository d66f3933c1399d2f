import { Skeleton } from '@mantine/core';
import { Suspense } from 'react';
import { RangePicker } from '../../components/analytics/range-picker.tsx';
import { useCurrentMinute } from '../../components/hooks/use-current-minute.ts';
import { useFilters } from '../../components/hooks/use-filters.ts';
import { PageHeader } from '../../components/layout/page-header.tsx';
import { lazyComponent } from '../../components/loading/lazy-component.tsx';
import type { RangeSearch } from '../../data/analytics/range-search.ts';
import { toTimeRange } from '../../data/analytics/time-range.ts';
import { AgentRanking } from './agent-ranking.tsx';
import { FailureCodes } from './failure-codes.tsx';
import { FirstSteps, useFirstSteps } from './first-steps.tsx';
import { KeyFigures } from './key-figures.tsx';
import { Limits } from './limits.tsx';
import classes from './overview.module.css';
import { RecentFailures } from './recent-failures.tsx';

/** Loaded beside the figures, and not before there is a call to show. */
const OverviewChart = lazyComponent(() => import('./overview-chart.tsx'));

/** What happens in the workspace: each figure leads to the list that it counts. */
export function OverviewPage() {
  const [search, change] = useFilters<RangeSearch & { readonly offset?: undefined }>();
  const nowMs = useCurrentMinute() * 60_000;
  const range = toTimeRange(search, nowMs, '24h');
  const { done, isLoading } = useFirstSteps();
  const hasCalls = !isLoading && done?.call !== false;
  return (
    <>
      <PageHeader
        title="Overview"
        actions={
          <RangePicker
            search={search}
            presets={['24h', 'yesterday', '7d', '30d']}
            fallback="24h"
            range={range}
            onChange={change}
          />
        }
      />
      <div className={classes.page} style={isLoading ? { visibility: 'hidden' } : {}}>
        <FirstSteps />
        {hasCalls && (
          <div className={classes.chart}>
            <Suspense fallback={<Skeleton />}>
              <OverviewChart search={search} />
            </Suspense>
          </div>
        )}
        <KeyFigures range={range} search={search} nowMs={nowMs} />
        <div className={classes.columns}>
          <FailureCodes range={range} />
          <Limits range={range} />
          <AgentRanking range={range} by="latency" />
          <AgentRanking range={range} by="cost" />
        </div>
        <RecentFailures range={range} />
      </div>
    </>
  );
}
