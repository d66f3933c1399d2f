import { Skeleton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Agent } from '../../../src/client/index.ts';
import type { Column } from '../../components/data-table.tsx';
import list from '../../components/list.module.css';
import { Sparkline } from '../../components/sparkline.tsx';
import { StageBadge } from '../../components/state-badge.tsx';
import { statisticsOfQuery } from '../../data/agents/agents.ts';
import {
  atOnce,
  endStatuses,
  lastHours,
  type Sums,
  statusColors,
  steps,
  sum,
} from '../../data/executions/statistics.ts';
import { formatCosts, formatCount, formatDuration, formatPercent } from '../../data/text/format.ts';
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
    key: 'name',
    header: 'Agent',
    cell: ({ agent: { agentId, agentName, description } }) => (
      <>
        <Link to="/agents/$agentId" params={{ agentId }} className={list.name} data-row-link>
          {agentName}
        </Link>
        {description && <div className={list.about}>{description}</div>}
      </>
    ),
  },
  { key: 'stage', header: 'Stage', cell: ({ agent }) => <StageBadge agent={agent} /> },
  {
    key: 'version',
    header: 'Version',
    from: 'sm',
    cell: ({ agent }) => <span className={list.code}>{agent.promptVersionLabel}</span>,
  },
  { key: 'runs', header: 'Executions', from: 'sm', cell: (row) => <Runs {...row} /> },
  figure(
    'success',
    'Success',
    'md',
    ({ successRate: rate }) => rate !== null && formatPercent(rate),
  ),
  figure('p95', 'p95', 'md', ({ p95Ms }) => p95Ms !== null && formatDuration(p95Ms)),
  figure('cost', 'Cost', 'sm', (sums) => sums.runs > 0 && formatCosts(sums)),
];

function figure(
  key: string,
  header: string,
  from: 'sm' | 'md',
  of: (sums: Sums) => string | false,
): Column<AgentRow> {
  const cell = (row: AgentRow) => <Figure {...row} show={(sums) => of(sums) || <None />} />;
  return { key, header, align: 'right', from, cell };
}

const day = () => lastHours(24);

/** All cells share one query for the whole page. */
function Figure(props: AgentRow & { readonly show: (sums: Sums) => ReactNode }) {
  const { data, isError } = useQuery(statisticsOfQuery(props.agentIds, atOnce(day())));
  if (isError && !data) return <None />;
  if (!data) return <Skeleton height={10} width="3rem" display="inline-block" />;
  return props.show(sum(data.byAgent.get(props.agent.agentId) ?? []));
}

/** Failures are drawn at the bottom, where they are visible. */
const upwards = [...endStatuses.filter((one) => one !== 'success'), 'success'] as const;

function Runs({ agent, agentIds }: AgentRow) {
  const { data } = useQuery(statisticsOfQuery(agentIds, day()));
  const hours = data && steps({ ...data, buckets: data.byAgent.get(agent.agentId) ?? [] });
  const bars = hours?.map(({ start, buckets }) => {
    const parts = upwards.map((status) => ({
      count: sum(buckets.filter((bucket) => bucket.status === status)).runs,
      color: statusColors[status],
    }));
    return { key: start, parts };
  });
  const show = ({ runs, succeeded }: Sums) => (
    <span className={classes.runs}>
      <Sparkline
        bars={bars ?? []}
        label={`${runs} executions in the last 24 hours, ${succeeded} successful`}
      />
      {formatCount(runs)}
    </span>
  );
  return <Figure agent={agent} agentIds={agentIds} show={show} />;
}

function None() {
  return <span className={list.none}>–</span>;
}
