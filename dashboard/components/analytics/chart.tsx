import { useLayoutEffect, useRef } from 'react';
import {
  Bar,
  CartesianGrid,
  ComposedChart,
  Line,
  ReferenceLine,
  ResponsiveContainer,
  Tooltip,
  XAxis,
  YAxis,
} from 'recharts';
import type { Metric } from '../../data/analytics/analytics-search.ts';
import {
  type ChartModel,
  evenTicks,
  type Point,
  type Series,
} from '../../data/analytics/chart-model.ts';
import { formatMetric, formatTick } from '../../data/analytics/metrics.ts';
import type { ChartLevel } from '../../data/analytics/time-range.ts';
import { formatSpan, formatTime } from '../../data/text/format.ts';
import { timeAxis, valueAxis } from './axes.ts';
import classes from './chart.module.css';
import type { Marker } from './markers.ts';
import { Swatch } from './swatch.tsx';

const heightPx = 280;
const pinsShownMax = 3;
/** Between the tooltip and the edge of the window. */
const tooltipMarginPx = 8;

interface ChartProps {
  readonly model: ChartModel;
  readonly metric: Metric;
  readonly level: ChartLevel;
  readonly markers: readonly Marker[];
  /** A bar or a point; no series: the whole interval. */
  readonly onSelect: (point: Point, series: Series | null) => void;
}

/** Lazy-loaded: the chart library is larger than the rest of the page. */
export default function Chart(props: ChartProps) {
  const { model, metric, level, onSelect } = props;
  const { points } = model;
  const ticks = evenTicks(largest(model), metric);
  const pointAt = (label: unknown) => points.find(({ startMs }) => startMs === Number(label));
  return (
    <ResponsiveContainer width="100%" height={heightPx}>
      <ComposedChart
        data={[...points]}
        margin={{ top: 18, right: 8, bottom: 0, left: 0 }}
        barCategoryGap="18%"
        className={classes.plot}
        onClick={({ activeLabel }) => {
          const point = pointAt(activeLabel);
          if (point) onSelect(point, null);
        }}
      >
        <CartesianGrid vertical={false} stroke="var(--line)" />
        <XAxis
          dataKey="startMs"
          ticks={dayStarts(points, level)}
          tickFormatter={tickFormat(level)}
          interval="equidistantPreserveStart"
          minTickGap={24}
          {...timeAxis}
        />
        <YAxis {...valueAxis(ticks, (value) => formatTick(metric, value))} />
        {markerLines(props)}
        <Tooltip
          content={({ active, label }) =>
            active === true && <Reading {...props} point={pointAt(label)} />
          }
          isAnimationActive={false}
          allowEscapeViewBox={{ x: false, y: true }}
          cursor={{ fill: 'var(--raised)', stroke: 'var(--line-strong)' }}
          // Below the plot, so that it covers no data as long as the window has room there.
          position={{ y: heightPx }}
          offset={24}
          wrapperStyle={{ zIndex: 5 }}
        />
        {shapes(props)}
        <Line
          dataKey="previous"
          stroke="var(--soft)"
          strokeDasharray="3 4"
          strokeWidth={1.25}
          strokeOpacity={0.75}
          dot={false}
          activeDot={false}
          isAnimationActive={false}
        />
      </ComposedChart>
    </ResponsiveContainer>
  );
}

/** One line per interval in which a version was pinned. */
function markerLines({ model: { points }, markers }: ChartProps) {
  const starts = markers.flatMap(
    ({ atMs }) =>
      points.find(({ startMs, endMs }) => startMs <= atMs && atMs <= endMs)?.startMs ?? [],
  );
  return [...new Set(starts)].map((startMs) => (
    <ReferenceLine
      key={startMs}
      x={startMs}
      stroke="var(--text)"
      strokeDasharray="2 2"
      // The bar below is what one points at.
      pointerEvents="none"
      label={{ value: '▾', position: 'top', fill: 'var(--text)', fontSize: 12 }}
    />
  ));
}

/** Stacked bars, or one line per series. */
function shapes({ model: { series, points, stacked }, onSelect }: ChartProps) {
  return series.map((one) =>
    stacked ? (
      <Bar
        key={one.key}
        dataKey={(point: Point) => point.values[one.key] ?? 0}
        stackId="all"
        fill={one.color}
        maxBarSize={36}
        isAnimationActive={false}
        onClick={({ payload }, _index, event) => {
          // Otherwise it would also count as a click on the whole interval.
          event.stopPropagation();
          onSelect(payload as Point, one);
        }}
      />
    ) : (
      <Line
        key={one.key}
        dataKey={(point: Point) => point.values[one.key] ?? null}
        stroke={one.color}
        strokeWidth={1.75}
        dot={points.length <= 40 && { r: 2, fill: one.color, strokeWidth: 0 }}
        activeDot={{ r: 4 }}
        isAnimationActive={false}
      />
    ),
  );
}

function largest({ points, stacked }: ChartModel): number {
  const highest = points.map(({ values, previous }) => {
    const own = Object.values(values).map((value) => value ?? 0);
    const top = stacked ? own.reduce((sum, one) => sum + one, 0) : Math.max(0, ...own);
    return Math.max(top, previous ?? 0);
  });
  return Math.max(0, ...highest);
}

/** Six-hour bars are labelled once a day. */
function dayStarts(points: readonly Point[], level: ChartLevel): number[] {
  const starts = points.map(({ startMs }) => startMs);
  if (level !== 'sixHours') return starts;
  return starts.filter((ms) => new Date(ms).getHours() < 6);
}

const hour = new Intl.DateTimeFormat(undefined, { hour: 'numeric', minute: '2-digit' });
const day = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' });

function tickFormat(level: ChartLevel): (startMs: number) => string {
  const format = level === 'quarterHour' || level === 'hour' ? hour : day;
  return (startMs) => format.format(startMs);
}

/** The tooltip: every series of the interval, the total, the previous period and the versions pinned in it. */
function Reading(props: ChartProps & { readonly point: Point | undefined }) {
  const { point, model, metric, markers } = props;
  const box = useInsideWindow();
  if (!point) return null;
  const format = formatMetric[metric];
  const text = (value: number | null | undefined) => (value == null ? '–' : format(value));
  const pinned = markers.filter(({ atMs }) => point.startMs <= atMs && atMs <= point.endMs);
  return (
    <div ref={box} className={classes.reading}>
      <p>{formatSpan(point.startMs, point.endMs)}</p>
      <dl>
        {model.series.map((one) => (
          <div key={one.key}>
            <dt>
              <Swatch color={one.color} />
              <bdi>{one.label}</bdi>
            </dt>
            <dd>{text(model.stacked ? (point.values[one.key] ?? 0) : point.values[one.key])}</dd>
          </div>
        ))}
        {model.series.length !== 1 && !(metric === 'latency' && 'p95' in point.values) && (
          <div data-total>
            <dt>All executions</dt>
            <dd>{text(point.all)}</dd>
          </div>
        )}
        <div data-total>
          <dt>Previous period{metric === 'latency' && ' (p95)'}</dt>
          <dd>{text(point.previous)}</dd>
        </div>
      </dl>
      {pinned.slice(0, pinsShownMax).map((one) => (
        <p key={one.key}>
          {one.text}, {formatTime(new Date(one.atMs).toISOString())}
        </p>
      ))}
      {pinned.length > pinsShownMax && <p>and {pinned.length - pinsShownMax} more pinned</p>}
    </div>
  );
}

/** Moves the tooltip up if it would end below the window, where it would also make the page longer. */
function useInsideWindow() {
  const box = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const plot = box.current?.closest('.recharts-wrapper');
    const frame = box.current?.closest<HTMLElement>('.recharts-tooltip-wrapper');
    if (!box.current || !frame || !plot) return;
    // Not the position of the box itself: the chart library moves it after this effect.
    const top = plot.getBoundingClientRect().top + heightPx;
    const room = document.documentElement.clientHeight - tooltipMarginPx;
    const excess = top + box.current.offsetHeight - room;
    const shift = Math.max(0, Math.min(excess, top - tooltipMarginPx));
    // The library moves the frame by a transform, and does not place a box without height.
    frame.style.top = `${-shift}px`;
  });
  return box;
}
