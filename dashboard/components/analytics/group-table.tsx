import { Button } from '@mantine/core';
import { useState } from 'react';
import type { ChartModel } from '../../data/analytics/chart-model.ts';
import { type Group, groupingLabels } from '../../data/analytics/groups.ts';
import { metricLabels } from '../../data/analytics/metrics.ts';
import { formatCount } from '../../data/text/format.ts';
import { lacksPrice } from '../../data/workspace/prices.ts';
import { SetPrice } from '../models/set-price.tsx';
import { DataTable } from '../tables/data-table.tsx';
import classes from './analytics.module.css';
import { type GroupRow, groupColumns } from './group-columns.tsx';
import type { AnalyticsData } from './use-analytics.ts';

const shownFirst = 10;

/** The figures of the chart. Each leads to the executions that it counts. */
export function GroupTable(props: {
  readonly agentId: string | undefined;
  readonly data: AnalyticsData;
  readonly model: ChartModel;
  readonly labelOf: (group: Group) => string;
}) {
  const { agentId, data, model, labelOf } = props;
  const { metric, grouping, range, previousRange, allFigures, allPrevious, totals = [] } = data;
  const [isLong, setLong] = useState(false);
  if (!allFigures) return null;
  const colors = new Map(model.series.map(({ key, color }) => [key, color]));
  const groups: GroupRow[] = totals.map((total) => ({
    ...{ key: total.group.key, label: labelOf(total.group), total, figures: total.figures },
    previous: data.previousOfGroup(total.group.key),
    color: colors.get(total.group.key) ?? (grouping === 'none' ? undefined : 'var(--chart-other)'),
  }));
  const all: GroupRow = {
    ...{ key: 'all', label: 'All executions', total: null, color: undefined },
    ...{ figures: allFigures, previous: allPrevious },
  };
  const rows = grouping === 'none' ? [] : isLong ? groups : groups.slice(0, shownFirst);
  const unrecorded = allFigures.count - allFigures.recorded;
  return (
    <div className={classes.table}>
      <DataTable
        caption={
          grouping === 'none'
            ? metricLabels[metric]
            : `${metricLabels[metric]} by ${groupingLabels[grouping].toLowerCase()}`
        }
        columns={groupColumns({
          ...{ agentId, metric, grouping, all: allFigures, allPrevious },
          span: range,
          listFilters: data.listFilters,
          previousSpan: { startMs: previousRange.startMs, endMs: previousRange.untilMs },
        })}
        rows={[all, ...rows]}
        rowKey={({ key }) => key}
      />
      {groups.length > shownFirst && grouping !== 'none' && (
        <Button variant="subtle" color="gray" size="xs" onClick={() => setLong(!isLong)}>
          {isLong ? 'Show fewer' : `Show all ${groups.length}`}
        </Button>
      )}
      <div className={classes.notes}>
        {grouping === 'tag' && <p>An execution with several tags counts in each of them.</p>}
        {metric === 'latency' && (
          <p>≈ Percentiles of successful executions from a histogram, accurate to 10 %.</p>
        )}
        {metric === 'cost' && allFigures.costUnknown > 0 && (
          <UnknownCost all={allFigures.costUnknown} models={grouping === 'model' ? groups : []} />
        )}
        {unrecorded > 0 && (
          <p>
            {unrecorded.toLocaleString()} of these have no record (repeated refusals, or their
            retention has ended), so the list shows fewer.
          </p>
        )}
      </div>
    </div>
  );
}

/** Why sums are lower bounds, and the prices that are missing, the most important first. */
function UnknownCost(props: { readonly all: number; readonly models: readonly GroupRow[] }) {
  const models = props.models
    .filter(
      ({ total, figures }) =>
        figures.costUnknown > 0 &&
        // With a price, single costs are unknown for other reasons.
        figures.costUSD === 0 &&
        lacksPrice({ ...figures, model: total?.group.value ?? undefined }),
    )
    .sort((one, other) => other.figures.costUnknown - one.figures.costUnknown)
    .slice(0, 3);
  return (
    <>
      <p>≥ The cost of {formatCount(props.all)} of these is not known, so sums are lower bounds.</p>
      {models.map(({ key, total, figures }) => {
        const model = total?.group.value ?? undefined;
        const text = `Set a price for ${model} (${formatCount(figures.costUnknown)} of them)`;
        return (
          model && (
            <p key={key}>
              <SetPrice model={model} text={text} otherwise={null} />
            </p>
          )
        );
      })}
    </>
  );
}
