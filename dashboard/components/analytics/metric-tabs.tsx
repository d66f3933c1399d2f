import { Skeleton, UnstyledButton } from '@mantine/core';
import { type Metric, metrics } from '../../data/analytics/analytics-search.ts';
import type { Figures } from '../../data/analytics/groups.ts';
import { formatTotal, metricLabels, totalOf } from '../../data/analytics/metrics.ts';
import { Change } from './change.tsx';
import classes from './metric-tabs.module.css';

/** The totals of the range. Each selects what the chart shows. */
export function MetricTabs(props: {
  readonly value: Metric;
  readonly onChange: (metric: Metric) => void;
  readonly totals: Figures | undefined;
  readonly previous: Figures | undefined;
}) {
  const { totals, previous } = props;
  const of = (metric: Metric, figures: Figures | undefined) =>
    figures === undefined ? null : totalOf(metric, figures);
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset cannot be a grid in every browser.
    <div role="group" aria-label="Figure" className={classes.tabs}>
      {metrics.map((metric) => (
        <UnstyledButton
          key={metric}
          className={classes.tab}
          aria-pressed={metric === props.value}
          onClick={() => props.onChange(metric)}
        >
          <span className={classes.name}>
            {metricLabels[metric]}
            {metric === 'latency' && ', p95'}
          </span>
          <span className={classes.value}>
            {totals ? formatTotal[metric](totals) : <Skeleton height={18} width="4rem" my={5} />}
          </span>
          <span className={classes.note}>
            {totals && previous && (
              <Change
                metric={metric}
                now={of(metric, totals)}
                previous={of(metric, previous)}
                before={formatTotal[metric](previous)}
              />
            )}
          </span>
        </UnstyledButton>
      ))}
    </div>
  );
}
