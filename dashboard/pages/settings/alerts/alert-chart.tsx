import {
  CartesianGrid,
  Line,
  LineChart,
  ReferenceLine,
  ResponsiveContainer,
  Tooltip,
  XAxis,
  YAxis,
} from 'recharts';
import type { AlertInput, AlertPreview } from '../../../../src/client/index.ts';
import { tickStyle, timeAxis, valueAxis } from '../../../components/analytics/axes.ts';
import type { Metric } from '../../../data/analytics/analytics-search.ts';
import { evenTicks } from '../../../data/analytics/chart-model.ts';
import { formatTime } from '../../../data/text/format.ts';
import classes from '../settings.module.css';
import { formatValue, metricTexts } from './alert-metrics.ts';

interface AlertChartProps {
  readonly preview: AlertPreview;
  readonly settings: AlertInput;
}

/** The metric over time with its threshold, and the firings as text. */
export default function AlertChart(props: AlertChartProps) {
  const { firings, values } = props.preview;
  const { metric } = props.settings;
  const { label } = metricTexts[metric];
  return (
    <figure className={classes.chart}>
      <figcaption>
        {label}:{' '}
        {firings.length === 0 ? 'would not have fired' : `would have fired ${firings.length} ×`}
      </figcaption>
      {values.some(({ value }) => value !== null) ? (
        <Values {...props} />
      ) : (
        <p className="note">No data in this period.</p>
      )}
      {firings.length > 0 && (
        <ol className={classes.firings}>
          {firings.slice(-firingsShown).map(({ firedAt, clearedAt }) => (
            <li key={firedAt}>
              {formatTime(firedAt)} – {clearedAt === null ? 'now' : formatTime(clearedAt)}
            </li>
          ))}
        </ol>
      )}
    </figure>
  );
}

function Values({ preview, settings: { metric, threshold } }: AlertChartProps) {
  const { values } = preview;
  const largest = Math.max(threshold, ...values.map(({ value }) => value ?? 0));
  const ticks = evenTicks(largest, tickedAs[metric]);
  return (
    <ResponsiveContainer width="100%" height={180}>
      <LineChart data={[...values]} margin={{ top: 8, right: 8, bottom: 0, left: 0 }}>
        <CartesianGrid vertical={false} stroke="var(--line)" />
        <XAxis
          dataKey="at"
          tickFormatter={(at: string) => day.format(new Date(at))}
          minTickGap={40}
          {...timeAxis}
        />
        <YAxis {...valueAxis(ticks, (value) => formatValue(metric, value))} />
        <Tooltip
          isAnimationActive={false}
          cursor={{ stroke: 'var(--line-strong)' }}
          content={({ active, payload }) => {
            const value = payload[0]?.payload as AlertPreview['values'][number] | undefined;
            if (active !== true || !value) return null;
            return (
              <div className={classes.reading}>
                {formatTime(value.at)}: <b>{formatValue(metric, value.value)}</b>
              </div>
            );
          }}
        />
        <ReferenceLine
          y={threshold}
          stroke="var(--bad)"
          label={{ value: 'Threshold', position: 'insideBottomRight', ...tickStyle }}
        />
        <Line
          dataKey="value"
          stroke="var(--chart-median)"
          strokeWidth={1.5}
          dot={false}
          isAnimationActive={false}
        />
      </LineChart>
    </ResponsiveContainer>
  );
}

/** The metric of the analytics whose axis has the same unit. */
const tickedAs: Readonly<Record<AlertInput['metric'], Metric>> = {
  ...{ failureRate: 'failures', quotaUsed: 'failures', budgetUsed: 'failures', costUSD: 'cost' },
  ...{ count: 'executions', costUnknown: 'executions' },
  ...{ p50: 'latency', p95: 'latency', queueAge: 'cost' },
};

/** The last ones. */
const firingsShown = 5;

const day = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' });
