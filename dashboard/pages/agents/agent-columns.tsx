import { Skeleton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Agent } from '../../../src/client/index.ts';
import { Sparkline } from '../../components/figures/sparkline.tsx';
import { StageBadge } from '../../components/states/state-badge.tsx';
import type { Column } from '../../components/tables/data-table.tsx';
import { NameCell, rowLink } from '../../components/tables/name-cell.tsx';
import { statisticsOfQuery } from '../../data/agents/agents.ts';
import { formatApproximate } from '../../data/analytics/metrics.ts';
import {
  asSingleInterval,
  endStatuses,
  intervals,
  lastHours,
  statusColors,
  type Totals,
  totalsOf,
} from '../../data/executions/statistics.ts';
import { formatCostSum, formatCount, formatPercent } from '../../data/text/format.ts';
import classes from './agents.module.css';

/** An agent and the ids of all agents on the page, whose statistics are fetched together. */
export interface AgentRow {
  readonly agent: Agent;
  readonly agentIds: readonly string[];
}

export function rowsOf(agents: readonly Agent[]): AgentRow[] {
  const agentIds = agents.map(({ agentId }) => agentId);
  return agents.map((agent) => ({ agent, agentIds }));
}

export const columns: readonly Column<AgentRow>[] = [
  {
    header: 'Agent',
    isName: true,
    cell: ({ agent: { agentId, agentName, description } }) => (
      <NameCell
        name={
          <Link to="/agents/$agentId" params={{ agentId }} {...rowLink(agentName)}>
            {agentName}
          </Link>
        }
        about={description}
      />
    ),
  },
  { header: 'Stage', cell: ({ agent }) => <StageBadge agent={agent} /> },
  {
    header: 'Version',
    hideBelow: 'sm',
    cell: ({ agent }) => <bdi className="code">{agent.promptVersionLabel}</bdi>,
  },
  {
    header: 'Executions',
    hideBelow: 'sm',
    cell: (row) => <Executions {...row} />,
  },
  metricColumn('Success', 'md', ({ successRate: rate }) => rate !== null && formatPercent(rate)),
  metricColumn('p95', 'md', ({ p95Ms }) => p95Ms !== null && formatApproximate(p95Ms)),
  metricColumn('Cost', 'sm', (totals) => totals.executions > 0 && formatCostSum(totals)),
];

function metricColumn(
  header: string,
  hideBelow: 'sm' | 'md',
  of: (totals: Totals) => string | false,
): Column<AgentRow> {
  const cell = (row: AgentRow) => (
    <MetricCell {...row} show={(totals) => of(totals) || <EmptyCell />} />
  );
  return { header, align: 'right', hideBelow, cell };
}

const day = () => lastHours(24);

/** All cells share one query for the whole page. */
function MetricCell(props: AgentRow & { readonly show: (totals: Totals) => ReactNode }) {
  const { data, isError } = useQuery(statisticsOfQuery(props.agentIds, asSingleInterval(day())));
  if (isError && !data) return <EmptyCell />;
  if (!data) return <Skeleton height={10} width="3rem" display="inline-block" />;
  return props.show(totalsOf(data.byAgent.get(props.agent.agentId) ?? []));
}

/** Failures are drawn at the bottom, where they are visible. */
const stackOrder = [...endStatuses.filter((one) => one !== 'success'), 'success'] as const;

function Executions({ agent, agentIds }: AgentRow) {
  const { data } = useQuery(statisticsOfQuery(agentIds, day()));
  const hours = data && intervals({ ...data, buckets: data.byAgent.get(agent.agentId) ?? [] });
  const bars = hours?.map(({ start, buckets }) => {
    const parts = stackOrder.map((status) => ({
      count: totalsOf(buckets.filter((bucket) => bucket.status === status)).executions,
      color: statusColors[status],
    }));
    return { key: start, parts };
  });
  const show = ({ executions, succeeded }: Totals) => (
    <span className={classes.executions}>
      <Sparkline
        bars={bars ?? []}
        label={`${executions} executions in the last 24 hours, ${succeeded} successful`}
      />
      {formatCount(executions)}
    </span>
  );
  return <MetricCell agent={agent} agentIds={agentIds} show={show} />;
}

function EmptyCell() {
  return <span className="soft">–</span>;
}
