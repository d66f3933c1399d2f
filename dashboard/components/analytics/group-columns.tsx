import type { ReactNode } from 'react';
import type { GroupTotal } from '../../data/analytics/analytics.ts';
import type { Grouping, Metric } from '../../data/analytics/analytics-search.ts';
import { type Figures, groupingLabels } from '../../data/analytics/groups.ts';
import { type ListFilters, linkToGroup, type Span } from '../../data/analytics/links.ts';
import { formatApproximate, valueOfMetric } from '../../data/analytics/metrics.ts';
import { formatCost, formatCostSum, formatCount, formatPercent } from '../../data/text/format.ts';
import type { Column } from '../tables/data-table.tsx';
import { Change } from './change.tsx';
import classes from './group-table.module.css';
import { ListFigure } from './list-figure.tsx';
import { Swatch } from './swatch.tsx';

/** One group of the table, or all executions. */
export interface GroupRow {
  readonly key: string;
  readonly label: string;
  /** Null for all executions. */
  readonly total: GroupTotal | null;
  readonly figures: Figures;
  readonly previous: Figures | undefined;
  readonly color: string | undefined;
}

export interface ColumnsOf {
  readonly agentId: string | undefined;
  readonly metric: Metric;
  readonly grouping: Grouping;
  readonly span: Span;
  readonly previousSpan: Span;
  /** Those of the page. */
  readonly listFilters: ListFilters;
  /** Of all executions. */
  readonly all: Figures;
  readonly allPrevious: Figures | undefined;
}

/** The columns of a metric. Each figure leads to the executions that it counts. */
export function groupColumns(of: ColumnsOf): readonly Column<GroupRow>[] {
  const { metric, grouping, all, allPrevious } = of;
  const change: Column<GroupRow> = {
    header: 'Change',
    align: 'right',
    ...(metric === 'failures' && { hideBelow: 'sm' }),
    cell: ({ figures, previous }) => {
      const now = valueOfMetric(metric, figures, all, grouping);
      const before =
        previous && allPrevious ? valueOfMetric(metric, previous, allPrevious, grouping) : null;
      return <Change metric={metric} now={now} previous={before} />;
    },
  };
  return [
    {
      header: grouping === 'none' ? 'Group' : groupingLabels[grouping],
      isName: true,
      cell: ({ label, color, total }) => (
        <span className={classes.name} data-all={total === null || undefined} title={label}>
          {color && <Swatch color={color} />}
          <span dir="auto">{label}</span>
        </span>
      ),
    },
    ...columnsOf[metric](of),
    change,
  ];
}

const columnsOf: Record<Metric, (of: ColumnsOf) => Column<GroupRow>[]> = {
  executions: (of) => [
    figure(of, 'Executions', ({ figures }) => formatCount(figures.count)),
    before(of, ({ count }) => formatCount(count)),
  ],
  failures: (of) => [
    figure(of, 'Failed', ({ figures }) => formatCount(figures.failed), { status: 'failed' }),
    figure(of, 'Rate', ({ figures }) => rate(of, figures, of.all), { status: 'failed' }),
    before(of, (figures) => (of.allPrevious ? rate(of, figures, of.allPrevious) : null), {
      status: 'failed',
    }),
  ],
  latency: (of) => [
    ...(['p50', 'p95', 'p99'] as const).map((name) =>
      figure(
        of,
        name,
        ({ figures }) => figures.latency && formatApproximate(figures.latency[name]),
        ({ figures }) => slowest(of, figures.latency?.[name]),
      ),
    ),
  ],
  tokens: (of) => [
    figure(of, 'Tokens', ({ figures }) => formatCount(figures.inputTokens + figures.outputTokens)),
    { ...figure(of, 'Input', ({ figures }) => formatCount(figures.inputTokens)), hideBelow: 'sm' },
    {
      ...figure(of, 'Output', ({ figures }) => formatCount(figures.outputTokens)),
      hideBelow: 'sm',
    },
    before(of, ({ inputTokens, outputTokens }) => formatCount(inputTokens + outputTokens)),
  ],
  cost: (of) => [
    figure(of, 'Cost', ({ figures }) => formatCostSum(figures)),
    {
      ...figure(of, 'Per execution', ({ figures }) =>
        figures.count === 0 ? null : formatCost(figures.costUSD / figures.count),
      ),
      hideBelow: 'sm',
    },
    before(of, formatCostSum),
  ],
};

/** Percentiles are of successes; the slowest ones are those at or above it. */
function slowest({ grouping }: ColumnsOf, ms: number | undefined): ListFilters {
  const status = grouping === 'status' || grouping === 'errorCode' ? {} : { status: 'success' };
  return { ...status, ...(ms !== undefined && ms > 0 && { latencyMsMin: ms }) };
}

function rate({ grouping }: ColumnsOf, figures: Figures, all: Figures): string | null {
  const value = valueOfMetric('failures', figures, all, grouping);
  return value === null ? null : formatPercent(value);
}

type More = ListFilters | ((row: GroupRow) => ListFilters);

function figure(
  of: ColumnsOf,
  header: string,
  text: (row: GroupRow) => ReactNode,
  more: More = {},
): Column<GroupRow> {
  return {
    header,
    align: 'right',
    cell: (row) => <Linked of={of} row={row} span={of.span} more={more} text={text(row)} />,
  };
}

function before(
  of: ColumnsOf,
  text: (previous: Figures) => ReactNode,
  more: More = {},
): Column<GroupRow> {
  return {
    header: 'Previous',
    align: 'right',
    cell: (row) => {
      if (!row.previous) return <span className="soft">–</span>;
      const own = text(row.previous);
      return <Linked of={of} row={row} span={of.previousSpan} more={more} text={own} />;
    },
  };
}

function Linked(props: {
  readonly of: ColumnsOf;
  readonly row: GroupRow;
  readonly span: Span;
  readonly more: More;
  readonly text: ReactNode;
}) {
  const { of, row, span, more, text } = props;
  if (text === null) return <span className="soft">–</span>;
  const filters = { ...of.listFilters, ...(typeof more === 'function' ? more(row) : more) };
  const group = row.total?.group ?? null;
  return (
    <ListFigure link={linkToGroup(of.agentId, of.grouping, group, span, filters)}>
      {text}
    </ListFigure>
  );
}
