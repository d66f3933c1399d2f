import { useLocalStorage } from '@mantine/hooks';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Column } from '../../components/data-table.tsx';
import { StatusBadge } from '../../components/status-badge.tsx';
import { Time } from '../../components/time.tsx';
import type { Execution } from '../../data/executions/executions.ts';
import { stringify } from '../../data/text/exact-json.ts';
import { formatCost, formatCount, formatDuration } from '../../data/text/format.ts';
import { useKeyNames } from '../../data/workspace/key-names.ts';
import classes from './history.module.css';

type RunColumn = Column<Execution>;

/** The optional columns, in order. Time and status are always shown. */
const optional: readonly RunColumn[] = [
  { key: 'agent', header: 'Agent', from: 'sm', cell: ({ agentName }) => <Cut text={agentName} /> },
  {
    key: 'version',
    header: 'Version',
    from: 'md',
    cell: (run) => <code className={classes.code}>{run.promptVersionLabel}</code>,
  },
  {
    key: 'model',
    header: 'Model',
    from: 'md',
    cell: ({ modelUsed }) => <code className={classes.code}>{modelUsed}</code>,
  },
  { key: 'source', header: 'Source', from: 'md', cell: ({ source }) => source },
  {
    key: 'variables',
    header: 'Input',
    from: 'md',
    cell: ({ inputVariables: given }) => <Cut text={given && stringify(given)} />,
  },
  { key: 'output', header: 'Output', from: 'md', cell: (run) => <Cut text={run.outputText} /> },
  { key: 'error', header: 'Error', from: 'md', cell: (run) => <Cut text={run.errorCode} /> },
  {
    key: 'key',
    header: 'Key',
    from: 'md',
    cell: ({ apiKeyId }) => <Key apiKeyId={apiKeyId} />,
  },
  figure('attempts', 'Attempts', 'md', ({ attempts }) => formatCount(attempts)),
  figure(
    'latency',
    'Latency',
    'sm',
    ({ latencyMs }) => latencyMs !== undefined && formatDuration(latencyMs),
  ),
  figure(
    'tokens',
    'Tokens',
    'md',
    ({ tokensUsed }) => tokensUsed !== undefined && formatCount(tokensUsed),
  ),
  figure('cost', 'Cost', 'sm', costOf),
];

/** Columns whose data is requested only while visible: polling long texts is expensive. */
const bodies = ['variables', 'output'];

const usual = ['agent', 'version', 'source', 'latency', 'tokens', 'cost'];

function figure(
  key: string,
  header: string,
  from: 'sm' | 'md',
  show: (run: Execution) => ReactNode,
): RunColumn {
  return { key, header, from, align: 'right', cell: (run) => show(run) || <None /> };
}

export type TimeStyle = 'relative' | 'absolute';

/** The chosen columns and time format, stored in the browser. */
export function useColumns(agentId: string | undefined) {
  const [chosen, choose] = useLocalStorage<string[]>({
    key: 'cueline-history-columns',
    defaultValue: usual,
    getInitialValueInEffect: false,
  });
  const [times, chooseTimes] = useLocalStorage<TimeStyle>({
    key: 'cueline-history-times',
    defaultValue: 'relative',
    getInitialValueInEffect: false,
  });
  // On an agent's page the agent is the same in every row.
  const offered = optional.filter(({ key }) => agentId === undefined || key !== 'agent');
  const wanted = offered.filter(({ key }) => chosen.includes(key));
  const showsBodies = wanted.some(({ key }) => bodies.includes(key));
  const shown = [
    {
      key: 'when',
      header: 'Started',
      cell: (run: Execution) => <When run={run} agentId={agentId} since={times === 'relative'} />,
    },
    {
      key: 'status',
      header: 'Status',
      cell: ({ status }: Execution) => <StatusBadge status={status} />,
    },
    ...wanted,
  ];
  return { shown, showsBodies, offered, chosen, choose, times, chooseTimes };
}

/** The row's link. */
function When(props: {
  readonly run: Execution;
  readonly agentId: string | undefined;
  readonly since: boolean;
}) {
  const { executionId, agentId, executedAt } = props.run;
  const shared = {
    search: (now: object) => now,
    resetScroll: false,
    className: classes.when,
    'data-row-link': true,
  };
  const time = <Time at={executedAt} since={props.since} />;
  if (props.agentId === undefined) {
    return (
      <Link
        to="/history/$agentId/$executionId"
        params={{ agentId, executionId }}
        {...(shared as object)}
      >
        {time}
        <div className={classes.narrow}>{props.run.agentName}</div>
      </Link>
    );
  }
  return (
    <Link
      to="/agents/$agentId/history/$executionId"
      params={{ agentId, executionId }}
      {...(shared as object)}
    >
      {time}
    </Link>
  );
}

/** Empty if neither price nor usage is known: 0 would be wrong. */
export function costOf({
  costUSD,
  costKnown,
}: Pick<Execution, 'costUSD' | 'costKnown'>): ReactNode {
  if (costUSD === undefined) return null;
  return costKnown ? formatCost(costUSD) : <span className={classes.none}>unknown</span>;
}

/** The key's name if known, else its id. */
function Key({ apiKeyId }: { readonly apiKeyId: string | undefined }) {
  const names = useKeyNames();
  return <Cut text={apiKeyId && (names?.get(apiKeyId) ?? apiKeyId)} />;
}

function Cut({ text }: { readonly text: string | undefined }) {
  return text ? <span className={classes.cut}>{text.slice(0, 200)}</span> : <None />;
}

function None() {
  return <span className={classes.none}>–</span>;
}
