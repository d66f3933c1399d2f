import { Skeleton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Agent } from '../../../src/client/index.ts';
import { statisticsQuery } from '../../data/agents.ts';
import { formatCost, formatCount, formatDuration, formatPercent } from '../../data/format.ts';
import { lastHours, type Statistics, type Sums, steps, sum } from '../../data/statistics.ts';
import type { Column } from '../../parts/data-table.tsx';
import { Sparkline } from '../../parts/sparkline.tsx';
import { StageBadge } from '../../parts/state-badge.tsx';
import classes from './agents.module.css';

export const columns: readonly Column<Agent>[] = [
  {
    key: 'name',
    header: 'Agent',
    cell: ({ agentId, agentName, description }) => (
      <>
        <Link to="/agents/$agentId" params={{ agentId }} className={classes.name} data-row-link>
          {agentName}
        </Link>
        {description && <div className={classes.about}>{description}</div>}
      </>
    ),
  },
  { key: 'stage', header: 'Stage', cell: (agent) => <StageBadge agent={agent} /> },
  {
    key: 'version',
    header: 'Version',
    from: 'sm',
    cell: ({ promptVersionLabel }) => <span className={classes.version}>{promptVersionLabel}</span>,
  },
  {
    key: 'runs',
    header: 'Runs',
    from: 'sm',
    cell: ({ agentId }) => (
      <Figure
        agentId={agentId}
        show={(sums, statistics) => (
          <span className={classes.runs}>
            <Sparkline
              bars={steps(statistics).map(({ start, buckets }) => {
                const { runs, succeeded } = sum(buckets);
                return { key: start, good: succeeded, bad: runs - succeeded };
              })}
              label={`${sums.runs} runs in the last 24 hours, ${sums.succeeded} of them successful`}
            />
            {formatCount(sums.runs)}
          </span>
        )}
      />
    ),
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

/** The cells of a row ask for the same, which is fetched once. */
function Figure(props: {
  readonly agentId: string;
  readonly show: (sums: Sums, statistics: Statistics) => ReactNode;
}) {
  const { data, isError } = useQuery(statisticsQuery(props.agentId, lastHours(24)));
  if (isError) return <None />;
  if (!data) return <Skeleton height={10} width="3rem" display="inline-block" />;
  return props.show(sum(data.buckets), data);
}

function None() {
  return <span className={classes.none}>–</span>;
}
