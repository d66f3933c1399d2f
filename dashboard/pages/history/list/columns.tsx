import { Checkbox } from '@mantine/core';
import { useLocalStorage } from '@mantine/hooks';
import type { ReactNode } from 'react';
import { useSeconds } from '../../../components/hooks/use-seconds.ts';
import { Icon } from '../../../components/icon.tsx';
import { ExecutionBadge } from '../../../components/states/status-badge.tsx';
import type { Column } from '../../../components/tables/data-table.tsx';
import type { Execution } from '../../../data/executions/executions.ts';
import { isInProgress, sourceText } from '../../../data/executions/executions.ts';
import { stringify } from '../../../data/text/exact-json.ts';
import { formatCount, formatDuration, formatTime } from '../../../data/text/format.ts';
import { useKeyNames } from '../../../data/workspace/key-names.ts';
import { costCell, formatElapsed } from '../amounts.tsx';
import { Highlighted, snippetOf } from '../highlight.tsx';
import classes from '../history.module.css';
import type { Sort, SortKey } from '../search.ts';
import { Reason } from './failure-reason.tsx';
import { RowLink } from './row-link.tsx';
import type { Selection } from './use-selection.ts';

type ExecutionColumn = Column<Execution> & {
  readonly key: string;
  /** What its header sorts by. */
  readonly sortsBy?: SortKey | undefined;
};

/** The optional columns, in order. Time, status and agent are always shown. */
const optionalColumns: readonly ExecutionColumn[] = [
  {
    key: 'version',
    header: 'Version',
    hideBelow: 'md',
    cell: (execution) => <code className={classes.code}>{execution.promptVersionLabel}</code>,
  },
  {
    key: 'model',
    header: 'Model',
    hideBelow: 'lg',
    cell: ({ modelUsed }) => (
      <code className={`${classes.code} ${classes.cut}`} title={modelUsed}>
        {modelUsed.slice(modelUsed.indexOf('/') + 1)}
      </code>
    ),
  },
  { key: 'source', header: 'Source', hideBelow: 'lg', cell: sourceText },
  {
    key: 'user',
    header: 'User',
    hideBelow: 'md',
    cell: ({ user }) => <Truncated text={user} />,
  },
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
    (execution) => <Latency execution={execution} />,
    'latencyMs',
  ),
  metricColumn(
    'tokens',
    'Tokens',
    'md',
    ({ tokensUsed }) => tokensUsed !== undefined && formatCount(tokensUsed),
    'tokensUsed',
  ),
  metricColumn('cost', 'Cost', 'sm', costCell, 'costUSD'),
];

/** Columns whose data is requested only while visible: texts can be long. */
const bodyColumns = ['variables', 'output'];

const defaultColumns = ['version', 'model', 'source', 'latency', 'tokens', 'cost'];

function metricColumn(
  key: string,
  header: string,
  hideBelow: 'sm' | 'md',
  show: (execution: Execution) => ReactNode,
  sortsBy?: SortKey,
): ExecutionColumn {
  return {
    key,
    sortsBy,
    header,
    hideBelow,
    align: 'right',
    cell: (execution) => show(execution) || <EmptyCell />,
  };
}

export type TimeStyle = 'relative' | 'absolute';

/** The chosen columns and time format, stored in the browser. */
export function useColumnChoice() {
  const [chosen, choose] = useLocalStorage<string[]>({
    key: 'cueline-execution-columns',
    defaultValue: defaultColumns,
    getInitialValueInEffect: false,
  });
  const [times, chooseTimes] = useLocalStorage<TimeStyle>({
    key: 'cueline-history-times',
    defaultValue: 'relative',
    getInitialValueInEffect: false,
  });
  const wanted = optionalColumns.filter(({ key }) => chosen.includes(key));
  const showsBodies = wanted.some(({ key }) => bodyColumns.includes(key));
  return { wanted, showsBodies, offered: optionalColumns, chosen, choose, times, chooseTimes };
}

export function columnsOf(options: {
  readonly agentId: string | undefined;
  readonly wanted: readonly ExecutionColumn[];
  readonly times: TimeStyle;
  readonly selection: Selection;
  readonly pattern: RegExp | null;
  readonly sort: Sort | undefined;
  readonly onSort: (sort: Sort) => void;
}): readonly ExecutionColumn[] {
  const { agentId, wanted, times, selection, pattern } = options;
  const columns: readonly ExecutionColumn[] = [
    selectColumn(selection),
    {
      key: 'when',
      header: 'Started',
      sortsBy: 'executedAt',
      cell: (execution) => (
        <RowLink execution={execution} agentId={agentId} relative={times === 'relative'} />
      ),
    },
    {
      key: 'status',
      header: 'Status',
      cell: (execution) => <ExecutionBadge execution={execution} />,
    },
    {
      key: 'agent',
      header: agentId === undefined ? 'Agent' : 'Result',
      isName: true,
      cell: (execution) => (
        <div className={classes.line}>
          {agentId === undefined && (
            <span className={classes.agent} dir="auto">
              {execution.agentName}
            </span>
          )}
          <Reason execution={execution} />
          <Snippet execution={execution} pattern={pattern} />
          {pattern === null && <Preview execution={execution} />}
        </div>
      ),
    },
    ...wanted,
  ];
  return columns.map((column) => withSort(column, options));
}

/** The header sorts: in descending order first, then ascending. */
function withSort(
  column: ExecutionColumn,
  {
    sort = '-executedAt',
    onSort,
  }: { readonly sort: Sort | undefined; readonly onSort: (sort: Sort) => void },
): ExecutionColumn {
  const { sortsBy: key, header } = column;
  if (key === undefined) return column;
  const sorted = sort === key ? 'ascending' : sort === `-${key}` ? 'descending' : 'none';
  return {
    ...column,
    sorted,
    headerCell: (
      <button
        type="button"
        className={classes.sort}
        onClick={() => onSort(sorted === 'descending' ? key : `-${key}`)}
      >
        {header}
        {sorted !== 'none' && <Icon name={sorted === 'ascending' ? 'up' : 'down'} size={11} />}
      </button>
    ),
  };
}

/** The first line of the output. */
function Preview({ execution }: { readonly execution: Execution }) {
  const text =
    execution.outputPreview ?? execution.outputText?.trim().split('\n', 1)[0]?.slice(0, 200);
  if (!text) return null;
  return (
    <span className={classes.snippet} dir="auto">
      {text}
    </span>
  );
}

function selectColumn(selection: Selection): ExecutionColumn {
  const { isSelected, toggle, all, isEmpty, toggleAll } = selection;
  return {
    key: 'select',
    header: 'Select',
    headerCell: (
      <Checkbox
        size="xs"
        aria-label="Select all rows"
        checked={all === true}
        indeterminate={all === 'some'}
        disabled={isEmpty}
        onChange={toggleAll}
      />
    ),
    cell: (execution) => (
      <Checkbox
        size="xs"
        className={classes.select}
        aria-label={`Select the execution of ${formatTime(execution.executedAt)}`}
        checked={isSelected(execution.executionId)}
        onChange={(event) =>
          toggle(execution.executionId, (event.nativeEvent as MouseEvent).shiftKey === true)
        }
      />
    ),
  };
}

/** The text around what a search found. */
function Snippet({
  execution,
  pattern,
}: {
  readonly execution: Execution;
  readonly pattern: RegExp | null;
}) {
  if (!pattern) return null;
  const { outputText, inputVariables } = execution;
  const values = Object.values(inputVariables ?? {}).map((value) =>
    typeof value === 'string' ? value : stringify(value),
  );
  const text = snippetOf([outputText, ...values], pattern);
  if (text === null) return null;
  return (
    <span className={classes.snippet} dir="auto">
      <Highlighted text={text} pattern={pattern} />
    </span>
  );
}

/** How long it took, or how long it has been running. */
function Latency({ execution }: { readonly execution: Execution }) {
  const isRunning = isInProgress(execution);
  const nowMs = useSeconds(isRunning);
  if (!isRunning) return execution.latencyMs !== undefined && formatDuration(execution.latencyMs);
  const { startedAt, executedAt } = execution;
  const elapsedMs = Math.max(0, nowMs - Date.parse(startedAt ?? executedAt));
  return <span className={classes.elapsed}>{formatElapsed(elapsedMs)}</span>;
}

/** The key's name if known, else its id. */
function Key({ apiKeyId }: { readonly apiKeyId: string | undefined }) {
  const names = useKeyNames();
  return <Truncated text={apiKeyId && (names?.get(apiKeyId) ?? apiKeyId)} />;
}

function Truncated({ text }: { readonly text: string | undefined }) {
  return text ? (
    <span className={classes.cut} dir="auto">
      {text.slice(0, 200)}
    </span>
  ) : (
    <EmptyCell />
  );
}

function EmptyCell() {
  return <span className="soft">–</span>;
}
