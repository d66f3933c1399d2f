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

type ExecutionColumn = Column<Execution>;

/** The optional columns, in order. Time and status are always shown. */
const optionalColumns: readonly ExecutionColumn[] = [
  {
    key: 'agent',
    header: 'Agent',
    hideBelow: 'sm',
    cell: ({ agentName }) => <Truncated text={agentName} />,
  },
  {
    key: 'version',
    header: 'Version',
    hideBelow: 'md',
    cell: (execution) => <code className={classes.code}>{execution.promptVersionLabel}</code>,
  },
  {
    key: 'model',
    header: 'Model',
    hideBelow: 'md',
    cell: ({ modelUsed }) => <code className={classes.code}>{modelUsed}</code>,
  },
  { key: 'source', header: 'Source', hideBelow: 'md', cell: ({ source }) => source },
  {
    key: 'variables',
    header: 'Input',
    hideBelow: 'md',
    cell: ({ inputVariables: given }) => <Truncated text={given && stringify(given)} />,
  },
  {
    key: 'output',
    header: 'Output',
    hideBelow: 'md',
    cell: (execution) => <Truncated text={execution.outputText} />,
  },
  {
    key: 'error',
    header: 'Error',
    hideBelow: 'md',
    cell: (execution) => <Truncated text={execution.errorCode} />,
  },
  {
    key: 'key',
    header: 'Key',
    hideBelow: 'md',
    cell: ({ apiKeyId }) => <Key apiKeyId={apiKeyId} />,
  },
  metricColumn('attempts', 'Attempts', 'md', ({ attempts }) => formatCount(attempts)),
  metricColumn(
    'latency',
    'Latency',
    'sm',
    ({ latencyMs }) => latencyMs !== undefined && formatDuration(latencyMs),
  ),
  metricColumn(
    'tokens',
    'Tokens',
    'md',
    ({ tokensUsed }) => tokensUsed !== undefined && formatCount(tokensUsed),
  ),
  metricColumn('cost', 'Cost', 'sm', costCell),
];

/** Columns whose data is requested only while visible: polling long texts is expensive. */
const bodyColumns = ['variables', 'output'];

const defaultColumns = ['agent', 'version', 'source', 'latency', 'tokens', 'cost'];

function metricColumn(
  key: string,
  header: string,
  hideBelow: 'sm' | 'md',
  show: (execution: Execution) => ReactNode,
): ExecutionColumn {
  return {
    key,
    header,
    hideBelow,
    align: 'right',
    cell: (execution) => show(execution) || <EmptyCell />,
  };
}

export type TimeStyle = 'relative' | 'absolute';

/** The chosen columns and time format, stored in the browser. */
export function useColumns(agentId: string | undefined) {
  const [chosen, choose] = useLocalStorage<string[]>({
    key: 'cueline-history-columns',
    defaultValue: defaultColumns,
    getInitialValueInEffect: false,
  });
  const [times, chooseTimes] = useLocalStorage<TimeStyle>({
    key: 'cueline-history-times',
    defaultValue: 'relative',
    getInitialValueInEffect: false,
  });
  // On an agent's page the agent is the same in every row.
  const offered = optionalColumns.filter(({ key }) => agentId === undefined || key !== 'agent');
  const wanted = offered.filter(({ key }) => chosen.includes(key));
  const showsBodies = wanted.some(({ key }) => bodyColumns.includes(key));
  const shown = [
    {
      key: 'when',
      header: 'Started',
      cell: (execution: Execution) => (
        <StartedLink execution={execution} agentId={agentId} relative={times === 'relative'} />
      ),
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
function StartedLink(props: {
  readonly execution: Execution;
  readonly agentId: string | undefined;
  readonly relative: boolean;
}) {
  const { executionId, agentId, executedAt } = props.execution;
  const shared = {
    search: (now: object) => now,
    resetScroll: false,
    className: classes.when,
    'data-row-link': true,
  };
  const time = <Time at={executedAt} relative={props.relative} />;
  if (props.agentId === undefined) {
    return (
      <Link
        to="/history/$agentId/$executionId"
        params={{ agentId, executionId }}
        {...(shared as object)}
      >
        {time}
        <div className={classes.narrow}>{props.execution.agentName}</div>
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
export function costCell({
  costUSD,
  costKnown,
}: Pick<Execution, 'costUSD' | 'costKnown'>): ReactNode {
  if (costUSD === undefined) return null;
  return costKnown ? formatCost(costUSD) : <span className={classes.muted}>unknown</span>;
}

/** The key's name if known, else its id. */
function Key({ apiKeyId }: { readonly apiKeyId: string | undefined }) {
  const names = useKeyNames();
  return <Truncated text={apiKeyId && (names?.get(apiKeyId) ?? apiKeyId)} />;
}

function Truncated({ text }: { readonly text: string | undefined }) {
  return text ? <span className={classes.cut}>{text.slice(0, 200)}</span> : <EmptyCell />;
}

function EmptyCell() {
  return <span className={classes.muted}>–</span>;
}
