import '@mantine/charts/styles.layer.css';
import { BarChart, LineChart } from '@mantine/charts';
import type { ReactNode } from 'react';
import {
  endStatuses,
  intervals,
  type Statistics,
  statusColors,
} from '../../data/executions/statistics.ts';
import { formatCost, formatCount, formatDuration, formatTime } from '../../data/text/format.ts';
import classes from './activity.module.css';
import { toPoint } from './activity-points.ts';

/**
 * Charts of executions, latency, tokens and cost. Lazy-loaded: the chart library is larger than the rest of the page.
 */
export default function ActivityCharts({ statistics }: { readonly statistics: Statistics }) {
  if (statistics.buckets.length === 0) {
    return <p className={classes.muted}>No executions in this period.</p>;
  }
  const data = intervals(statistics).map(toPoint);
  const tick = statistics.level === 'hour' && data.length <= 24 ? hourTick : dayTick;
  const happened = endStatuses.filter((status) => data.some((point) => point[status] > 0));
  const statuses = happened.map((name) => ({ name, color: statusColors[name] }));
  const spent = data.some(({ cost }) => cost > 0);
  const unpriced = data.some(({ costUnknown }) => costUnknown > 0);
  const answered = data.some(({ p50 }) => p50 !== null);
  const counted = data.some(({ input, output }) => input + output > 0);
  const shared = {
    data,
    dataKey: 'start',
    h: 180,
    withLegend: false,
    xAxisProps: { tickFormatter: tick, minTickGap: 40 },
    tooltipProps: { labelFormatter: intervalTime },
    tooltipAnimationDuration: 0,
    gridAxis: 'x',
    tickLine: 'none',
  } as const;
  return (
    <div className={classes.charts}>
      <Chart title="Executions" series={statuses}>
        <BarChart
          {...shared}
          type="stacked"
          series={statuses}
          valueFormatter={formatCount}
          yAxisProps={whole}
        />
      </Chart>
      <Chart title="Latency of successful executions" {...(answered && { series: percentiles })}>
        {answered ? (
          <LineChart
            {...shared}
            series={percentiles}
            valueFormatter={formatDuration}
            yAxisProps={{ ...whole, width: 64 }}
            withDots={data.length < 40}
            dotProps={{ r: 2 }}
            strokeWidth={1.5}
            curveType="linear"
          />
        ) : (
          <p className={classes.muted}>No successful executions in this period.</p>
        )}
      </Chart>
      <Chart title="Tokens" {...(counted && { series: directions })}>
        {counted ? (
          <BarChart
            {...shared}
            type="stacked"
            series={directions}
            valueFormatter={formatCount}
            yAxisProps={whole}
          />
        ) : (
          <p className={classes.muted}>No token usage recorded.</p>
        )}
      </Chart>
      <Chart title={spent && unpriced ? 'Known cost' : 'Cost'}>
        {spent ? (
          <BarChart
            {...shared}
            series={[{ name: 'cost', color: 'var(--chart-output)' }]}
            valueFormatter={formatCost}
            yAxisProps={{ width: 64 }}
          />
        ) : (
          <p className={classes.muted}>{unpriced ? 'The cost is unknown.' : 'No cost.'}</p>
        )}
      </Chart>
    </div>
  );
}

/** Executions and milliseconds are whole numbers. */
const whole = { allowDecimals: false };

interface Series {
  readonly name: string;
  readonly color: string;
}

function Chart(props: {
  readonly title: string;
  /** The legend, if there are several series. */
  readonly series?: readonly Series[];
  readonly children: ReactNode;
}) {
  return (
    <figure className={classes.chart}>
      <figcaption>
        {props.title}
        {props.series?.map(({ name, color }) => (
          <span key={name} className={classes.series}>
            <svg width="8" height="8" aria-hidden="true">
              <rect width="8" height="8" rx="2" fill={color} />
            </svg>
            {name.replace('_', ' ')}
          </span>
        ))}
      </figcaption>
      {props.children}
    </figure>
  );
}

const percentiles = [
  { name: 'p50', color: 'var(--chart-median)' },
  { name: 'p95', color: 'var(--chart-success)' },
  { name: 'p99', color: 'var(--chart-limited)' },
];

const directions = [
  { name: 'input', color: 'var(--chart-input)' },
  { name: 'output', color: 'var(--chart-output)' },
];

const hour = new Intl.DateTimeFormat(undefined, { hour: 'numeric', minute: '2-digit' });
const day = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' });
const hourTick = (start: string) => hour.format(new Date(start));
const dayTick = (start: string) => day.format(new Date(start));
// Recharts calls this before anything is hovered.
const intervalTime = (start: ReactNode) => (typeof start === 'string' ? formatTime(start) : '');
