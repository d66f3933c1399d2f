import { Skeleton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Agent } from '../../../src/client/index.ts';
import { allStatisticsQuery } from '../../data/agents.ts';
import { formatCost, formatCount, formatDuration, formatPercent } from '../../data/format.ts';
import { atOnce, lastHours, type Sums, steps, sum } from '../../data/statistics.ts';
import type { Column } from '../../parts/data-table.tsx';
import list from '../../parts/list.module.css';
import { Sparkline } from '../../parts/sparkline.tsx';
import { StageBadge } from '../../parts/state-badge.tsx';
import classes from './agents.module.css';

export const columns: readonly Column<Agent>[] = [
  {
    key: 'name',
    header: 'Agent',
    cell: ({ agentId, agentName, description }) => (
      <>
        <Link to="/agents/$agentId" params={{ agentId }} className={list.name} data-row-link>
          {agentName}
        </Link>
        {description && <div className={list.about}>{description}</div>}
      </>
    ),
  },
  { key: 'stage', header: 'Stage', cell: (agent) => <StageBadge agent={agent} /> },
  {
    key: 'version',
    header: 'Version',
    from: 'sm',
    cell: ({ promptVersionLabel }) => <span className={list.code}>{promptVersionLabel}</span>,
  },
  {
    key: 'runs',
    header: 'Runs',
    from: 'sm',
    cell: ({ agentId }) => <Runs agentId={agentId} />,
  },
  figure('success', 'Success', 'md', ({ successRate }) => successRate, formatPercent),
  figure('p95', 'p95', 'md', ({ p95Ms }) => p95Ms, formatDuration),
  figure('cost', 'Cost', 'sm', ({ runs, costUSD }) => (runs === 0 ? null : costUSD), formatCost),
];

function figure(
  key: string,
  header: string,
  from: 'sm' | 'md',
  of: (sums: Sums) => number | null,
  format: (value: number) => string,
): Column<Agent> {
  const show = (sums: Sums) => {
    const value = of(sums);
    return value === null ? <None /> : format(value);
  };
  const cell = ({ agentId }: Agent) => <Figure agentId={agentId} show={show} />;
  return { key, header, align: 'right', from, cell };
}

const day = () => lastHours(24);

/** Every cell asks for the same, which is fetched once for all agents. */
function Figure(props: { readonly agentId: string; readonly show: (sums: Sums) => ReactNode }) {
  const { data, isError } = useQuery(allStatisticsQuery(atOnce(day())));
  if (isError && !data) return <None />;
  if (!data) return <Skeleton height={10} width="3rem" display="inline-block" />;
  return props.show(sum(data.byAgent.get(props.agentId) ?? []));
}

function Runs({ agentId }: { readonly agentId: string }) {
  const { data } = useQuery(allStatisticsQuery(day()));
  const hours = data && steps({ ...data, buckets: data.byAgent.get(agentId) ?? [] });
  const bars = hours?.map(({ start, buckets }) => {
    const { runs, succeeded } = sum(buckets);
    return { key: start, good: succeeded, bad: runs - succeeded };
  });
  const show = ({ runs, succeeded }: Sums) => (
    <span className={classes.runs}>
      <Sparkline
        bars={bars ?? []}
        label={`${runs} runs in the last 24 hours, ${succeeded} of them successful`}
      />
      {formatCount(runs)}
    </span>
  );
  return <Figure agentId={agentId} show={show} />;
}

function None() {
  return <span className={list.none}>–</span>;
}
