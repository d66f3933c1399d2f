import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { Change } from '../../components/analytics/change.tsx';
import { FigureTile, FigureTiles } from '../../components/analytics/figure-tile.tsx';
import { ListFigure } from '../../components/analytics/list-figure.tsx';
import { RangePicker } from '../../components/analytics/range-picker.tsx';
import { useCurrentMinute } from '../../components/hooks/use-current-minute.ts';
import { Card } from '../../components/layout/card.tsx';
import { ErrorState } from '../../components/states/error-state.tsx';
import { StaleNotice } from '../../components/states/stale-notice.tsx';
import { previousTotalsQuery, totalsQuery } from '../../data/analytics/analytics.ts';
import { type Metric, metrics } from '../../data/analytics/analytics-search.ts';
import { type Figures, figuresOf } from '../../data/analytics/groups.ts';
import { type ListFilters, linkToGroup } from '../../data/analytics/links.ts';
import { formatTotal, metricLabels, totalOf } from '../../data/analytics/metrics.ts';
import { previousOf, toTimeRange } from '../../data/analytics/time-range.ts';

const route = getRouteApi('/app/agents/$agentId/');

/** The agent's recent figures. Each leads to the executions that it counts, and to its chart. */
export function Activity({ agentId }: { readonly agentId: string }) {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const nowMs = useCurrentMinute() * 60_000;
  const range = toTimeRange(search, nowMs, '24h');
  const totals = useQuery(totalsQuery(agentId, range, 'none'));
  const previous = useQuery(previousTotalsQuery(agentId, previousOf(range, nowMs), 'none'));
  const figures = totals.data && figuresOf(totals.data.totals ?? [], 'none');
  const before = previous.data && figuresOf(previous.data.totals ?? [], 'none');
  return (
    <Card
      title="Activity"
      actions={
        <RangePicker
          search={search}
          presets={['24h', 'yesterday', '7d', '30d']}
          fallback="24h"
          range={range}
          onChange={(chosen) =>
            void navigate({ search: chosen, replace: true, resetScroll: false })
          }
        />
      }
    >
      <StaleNotice query={totals} />
      {totals.isError && !totals.data ? (
        <ErrorState error={totals.error} onRetry={() => void totals.refetch()} />
      ) : (
        <FigureTiles label="Figures">
          {metrics.map((metric) => (
            <FigureTile
              key={metric}
              name={metric === 'latency' ? 'Latency, p95' : metricLabels[metric]}
              value={
                figures && (
                  <ListFigure
                    link={linkToGroup(agentId, 'none', null, range, filters(metric, figures))}
                  >
                    {formatTotal[metric](figures)}
                  </ListFigure>
                )
              }
              note={
                figures &&
                before && (
                  <Change
                    metric={metric}
                    now={totalOf(metric, figures)}
                    previous={totalOf(metric, before)}
                    before={formatTotal[metric](before)}
                  />
                )
              }
              more={
                <Link
                  to="/agents/$agentId/analytics"
                  params={{ agentId }}
                  search={{ ...search, range: search.range ?? '24h', metric }}
                >
                  Over time
                </Link>
              }
            />
          ))}
        </FigureTiles>
      )}
    </Card>
  );
}

function filters(metric: Metric, { latency }: Figures): ListFilters {
  if (metric === 'failures') return { status: 'failed' };
  if (metric !== 'latency' || latency === null) return {};
  return { status: 'success', ...(latency.p95 > 0 && { latencyMsMin: latency.p95 }) };
}
