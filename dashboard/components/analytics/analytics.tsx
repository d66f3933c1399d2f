import { Button, Skeleton } from '@mantine/core';
import { isTooLarge } from '../../data/analytics/analytics.ts';
import { type AnalyticsSearch, groupings } from '../../data/analytics/analytics-search.ts';
import { groupingLabels } from '../../data/analytics/groups.ts';
import { formatSpan } from '../../data/text/format.ts';
import { type FilterChange, useFilters } from '../hooks/use-filters.ts';
import { EmptyState } from '../states/empty-state.tsx';
import { ErrorState } from '../states/error-state.tsx';
import { StaleNotice } from '../states/stale-notice.tsx';
import classes from './analytics.module.css';
import AnalyticsFigure, { type FigureProps, modelOf } from './analytics-figure.tsx';
import { AnalyticsFilters } from './analytics-filters.tsx';
import { ChoiceBar } from './choice-bar.tsx';
import { useGroupLabel } from './group-labels.ts';
import { GroupTable } from './group-table.tsx';
import { useMarkers } from './markers.ts';
import { MetricTabs } from './metric-tabs.tsx';
import { RangePicker } from './range-picker.tsx';
import { type AnalyticsData, useAnalytics } from './use-analytics.ts';

type Search = AnalyticsSearch & { readonly offset?: undefined };

/** Executions, failures, latency, tokens and cost of a workspace or an agent over time, by group. */
export function Analytics({ agentId }: { readonly agentId?: string }) {
  const [search, change] = useFilters<Search>();
  const data = useAnalytics(agentId, search);
  const { range, previousRange } = data;
  const before = formatSpan(previousRange.startMs, previousRange.endMs);
  return (
    <>
      <div className={classes.bar}>
        <RangePicker
          search={search}
          presets={['6h', '24h', 'yesterday', '7d', '30d', '90d']}
          fallback="7d"
          range={range}
          onChange={change}
        />
        <span className="small-note">compared with {before}</span>
        <AnalyticsFilters agentId={agentId} search={search} onChange={change} />
        {search.user && search.tag && (
          <span className="small-note">User and tag together: stored records only</span>
        )}
      </div>
      <section className={classes.card} aria-label="Analytics">
        <Answer agentId={agentId} search={search} change={change} data={data} />
      </section>
    </>
  );
}

interface AnswerProps {
  readonly agentId: string | undefined;
  readonly search: Search;
  readonly change: (change: FilterChange<Search>) => void;
  readonly data: AnalyticsData;
}

function Answer({ agentId, search, change, data }: AnswerProps) {
  const { range, metric, grouping, allFigures, allPrevious } = data;
  const markers = useMarkers(agentId, range);
  return (
    <>
      <MetricTabs
        value={metric}
        onChange={(next) => change({ metric: next, by: undefined })}
        totals={allFigures}
        previous={allPrevious}
      />
      <div className={classes.groups}>
        <span className="small-note">Group by</span>
        <ChoiceBar
          label="Group by"
          choices={groupings
            .filter((one) => one !== 'agent' || agentId === undefined)
            .map((value) => ({ value, label: groupingLabels[value] }))}
          value={grouping}
          onChange={(by) => change({ by })}
        />
      </div>
      {data.outdated && <StaleNotice query={data.outdated} />}
      {data.failed ? (
        <Failed
          query={data.failed}
          onShorten={() => change({ range: '24h', from: undefined, to: undefined })}
        />
      ) : allFigures?.count === 0 ? (
        <NoExecutions
          agentId={agentId}
          onWiden={
            search.range === '90d'
              ? undefined
              : () => change({ range: '90d', from: undefined, to: undefined })
          }
        />
      ) : (
        <Body agentId={agentId} data={data} markers={markers} />
      )}
    </>
  );
}

function Body(props: FigureProps) {
  const { agentId, data } = props;
  const labelOf = useGroupLabel(data.grouping, agentId);
  const model = modelOf(data, labelOf);
  if (!model) return <Skeleton height={320} m="md" w="auto" />;
  return (
    <div className={classes.body} data-stale={data.isStale || undefined}>
      <AnalyticsFigure {...props} />
      <GroupTable {...{ agentId, data, model, labelOf }} />
    </div>
  );
}

function Failed(props: {
  readonly query: NonNullable<AnalyticsData['failed']>;
  readonly onShorten: () => void;
}) {
  const { query, onShorten } = props;
  if (!isTooLarge(query.error)) {
    return <ErrorState error={query.error} onRetry={() => void query.refetch()} />;
  }
  return (
    <EmptyState
      icon="warning"
      title="Too much to add up at once"
      action={
        <Button variant="default" onClick={onShorten}>
          Show the last 24 hours
        </Button>
      }
    >
      Choose a shorter range, group by something else, or open the analytics of one agent.
    </EmptyState>
  );
}

function NoExecutions(props: {
  readonly agentId: string | undefined;
  readonly onWiden: (() => void) | undefined;
}) {
  return (
    <EmptyState
      icon="history"
      title="No executions in this period"
      action={
        props.onWiden && (
          <Button variant="default" onClick={props.onWiden}>
            Show the last 90 days
          </Button>
        )
      }
    >
      {props.agentId === undefined
        ? 'Run an agent, or call one with an API key: its executions, failures, latency, tokens and cost appear here.'
        : 'Run this agent, or call it with an API key: its executions, failures, latency, tokens and cost appear here.'}
    </EmptyState>
  );
}
