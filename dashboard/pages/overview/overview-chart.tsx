import { Skeleton } from '@mantine/core';
import { Suspense, useState } from 'react';
import { ChoiceBar } from '../../components/analytics/choice-bar.tsx';
import { useAnalytics } from '../../components/analytics/use-analytics.ts';
import { Card } from '../../components/layout/card.tsx';
import { lazyComponent } from '../../components/loading/lazy-component.tsx';
import { ErrorState } from '../../components/states/error-state.tsx';
import { StaleNotice } from '../../components/states/stale-notice.tsx';
import type { RangeSearch } from '../../data/analytics/range-search.ts';

/** Its code is needed only once there is something to show. */
const AnalyticsFigure = lazyComponent(
  () => import('../../components/analytics/analytics-figure.tsx'),
);

const shown = {
  executions: { label: 'Executions by status', by: 'status' },
  cost: { label: 'Cost by model', by: 'model' },
} as const;
/** At most that of the figure, which the page reserves. */
const figureHeight = 300;
type Shown = keyof typeof shown;

/** Executions or cost of the period over time. */
export default function OverviewChart({ search }: { readonly search: RangeSearch }) {
  const [metric, setMetric] = useState<Shown>('executions');
  const range = search.range ?? (search.from === undefined ? '24h' : undefined);
  const data = useAnalytics(undefined, { ...search, range, metric, by: shown[metric].by });
  const { failed } = data;
  return (
    <Card
      title="Over time"
      actions={
        <ChoiceBar
          label="Chart"
          choices={Object.entries(shown).map(([value, { label }]) => ({
            ...{ value: value as Shown, label },
          }))}
          value={metric}
          onChange={setMetric}
        />
      }
    >
      {data.outdated && <StaleNotice query={data.outdated} />}
      {failed ? (
        <ErrorState error={failed.error} onRetry={() => void failed.refetch()} />
      ) : data.allFigures?.count === 0 ? (
        <p className="note">No executions in this period.</p>
      ) : !data.allFigures ? (
        <Skeleton height={figureHeight} />
      ) : (
        <Suspense fallback={<Skeleton height={figureHeight} />}>
          <AnalyticsFigure agentId={undefined} data={data} markers={null} />
        </Suspense>
      )}
    </Card>
  );
}
