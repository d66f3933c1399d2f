import '@mantine/charts/styles.layer.css';
import { BarChart, LineChart } from '@mantine/charts';
import type { ReactNode } from 'react';
import { formatCost, formatCount, formatDuration, formatTime } from '../../data/format.ts';
import { endStatuses, type Statistics, steps } from '../../data/statistics.ts';
import classes from './activity.module.css';
import { pointOf } from './activity-points.ts';

/** Runs, latency, tokens and cost over time. Fetched when they are looked at: the charts are larger than the rest. */
export default function ActivityCharts({ statistics }: { readonly statistics: Statistics }) {
  if (statistics.buckets.length === 0) {
    return <p className={classes.none}>No runs in this time.</p>;
  }
  const tick = statistics.level === 'day' ? dayTick : hourTick;
  const data = steps(statistics).map(pointOf);
  const shared = {
    data,
    dataKey: 'start',
    h: 180,
    withLegend: false,
    xAxisProps: { tickFormatter: tick, minTickGap: 40 },
    tooltipProps: { labelFormatter: (start: ReactNode) => formatTime(String(start)) },
    tooltipAnimationDuration: 0,
    gridAxis: 'y',
    tickLine: 'none',
  } as const;
  return (
    <div className={classes.charts}>
      <Chart title="Runs by status">
        <BarChart
          {...shared}
          type="stacked"
          series={endStatuses.map((name) => ({ name, color: statusColors[name] }))}
          valueFormatter={formatCount}
        />
      </Chart>
      <Chart title="Latency of successful runs: p50, p95, p99">
        <LineChart
          {...shared}
          series={[
            { name: 'p50', color: 'var(--calm)' },
            { name: 'p95', color: 'var(--accent)' },
            { name: 'p99', color: 'var(--warn)' },
          ]}
          valueFormatter={formatDuration}
          yAxisProps={{ width: 64 }}
          withDots={data.length < 40}
          dotProps={{ r: 2 }}
          strokeWidth={1.5}
          curveType="linear"
        />
      </Chart>
      <Chart title="Tokens, in and out">
        <BarChart
          {...shared}
          type="stacked"
          series={[
            { name: 'input', color: 'color-mix(in oklab, var(--accent) 45%, var(--card))' },
            { name: 'output', color: 'var(--accent)' },
          ]}
          valueFormatter={formatCount}
        />
      </Chart>
      <Chart title="Cost">
        <BarChart
          {...shared}
          series={[{ name: 'cost', color: 'var(--accent)' }]}
          valueFormatter={formatCost}
          yAxisProps={{ width: 64 }}
        />
      </Chart>
    </div>
  );
}

const statusColors = {
  success: 'var(--accent)',
  failed: 'var(--bad)',
  rate_limited: 'var(--warn)',
  canceled: 'var(--calm)',
  unauthorized: 'light-dark(#6b4fa0, #b9a3e3)',
} as const;

function Chart({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <figure className={classes.chart}>
      <figcaption>{title}</figcaption>
      {children}
    </figure>
  );
}

const hour = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' });
const day = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' });
const hourTick = (start: string) => hour.format(new Date(start));
const dayTick = (start: string) => day.format(new Date(start));
