import { Skeleton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { type ReactNode, Suspense } from 'react';
import { Time } from '../../components/figures/time.tsx';
import { Card } from '../../components/layout/card.tsx';
import { PageHeader } from '../../components/layout/page-header.tsx';
import { lazyComponent } from '../../components/loading/lazy-component.tsx';
import { EmptyState } from '../../components/states/empty-state.tsx';
import { ErrorState } from '../../components/states/error-state.tsx';
import { ExecutionBadge } from '../../components/states/status-badge.tsx';
import { type Column, DataTable } from '../../components/tables/data-table.tsx';
import { type ExecutionDetail, executionQuery } from '../../data/executions/executions.ts';
import { contentText } from '../../data/executions/sent-files.ts';
import { stringify } from '../../data/text/exact-json.ts';
import { formatCost, formatDuration, formatExactCount } from '../../data/text/format.ts';
import { indentJson } from './record/json-text.ts';

const TextDiff = lazyComponent(() => import('../../components/versions/text-diff.tsx'));

const route = getRouteApi('/app/history/compare');

/** Two executions side by side: figures, and the differences of output, variables and messages. */
export function ComparisonPage() {
  const search = route.useSearch();
  const before = useExecution(search.before);
  const after = useExecution(search.after);
  const failed = [before, after].find(({ isError, data }) => isError && !data);
  return (
    <>
      <PageHeader title="Compare executions" parent={{ label: 'Executions', to: '/history' }} />
      {!search.before || !search.after ? (
        <EmptyState icon="search" title="Nothing to compare">
          Select two executions in the list, or choose “Compare with…” on the page of one.
        </EmptyState>
      ) : failed ? (
        <ErrorState error={failed.error} onRetry={() => void failed.refetch()} />
      ) : before.data && after.data ? (
        <Comparison before={before.data} after={after.data} />
      ) : (
        <Skeleton height={420} />
      )}
    </>
  );
}

function useExecution(place: string | undefined) {
  const [agentId = '', executionId = ''] = place?.split('/') ?? [];
  const isKnown = agentId !== '' && executionId !== '';
  return useQuery({ ...executionQuery(agentId || '-', executionId || '-'), enabled: isKnown });
}

interface Pair {
  readonly before: ExecutionDetail;
  readonly after: ExecutionDetail;
}

function Comparison({ before, after }: Pair) {
  const parts = [
    ['Output', outputOf],
    ['Variables', variablesOf],
    ['Messages', messagesOf],
  ] as const;
  return (
    <div className="stack" data-full-width>
      <DataTable
        caption="Figures"
        columns={[
          { header: 'Figure', cell: ({ name }) => <span className="soft">{name}</span> },
          columnOf('First', before),
          columnOf('Second', after),
          {
            header: 'Difference',
            align: 'right',
            hideBelow: 'sm',
            cell: (figure) => differenceOf(figure, before, after),
          },
        ]}
        rows={figures}
        rowKey={({ name }) => name}
      />
      {parts.map(([title, read]) => (
        <Card key={title} title={title}>
          <Difference before={read(before)} after={read(after)} label={title} />
        </Card>
      ))}
    </div>
  );
}

function columnOf(header: string, execution: ExecutionDetail): Column<Figure> {
  const { agentId, executionId, executedAt } = execution;
  return {
    header,
    headerCell: (
      <Link to="/history/$agentId/$executionId" params={{ agentId, executionId }}>
        <Time at={executedAt} relative="day" />
      </Link>
    ),
    cell: ({ show }) => <bdi className="wrap">{show(execution)}</bdi>,
  };
}

interface Figure {
  readonly name: string;
  readonly show: (execution: ExecutionDetail) => ReactNode;
  /** Of a figure that has a difference. */
  readonly measure?: (execution: ExecutionDetail) => number | undefined;
  readonly format?: (amount: number) => string;
}

const figures: readonly Figure[] = [
  { name: 'Status', show: (execution) => <ExecutionBadge execution={execution} /> },
  { name: 'Error', show: ({ errorCode }) => errorCode ?? '–' },
  { name: 'Agent', show: ({ agentName }) => agentName },
  { name: 'Version', show: ({ promptVersionLabel }) => <code>{promptVersionLabel}</code> },
  { name: 'Model', show: ({ modelUsed }) => <code>{modelUsed}</code> },
  measured('Latency', ({ latencyMs }) => latencyMs, formatDuration),
  measured('Input tokens', ({ inputTokens }) => inputTokens, formatExactCount),
  measured('Output tokens', ({ outputTokens }) => outputTokens, formatExactCount),
  measured('Cost', ({ costUSD, costKnown }) => (costKnown ? costUSD : undefined), formatCost),
];

function measured(
  name: string,
  measure: (execution: ExecutionDetail) => number | undefined,
  format: (amount: number) => string,
): Figure {
  const show = (execution: ExecutionDetail) => {
    const amount = measure(execution);
    return amount === undefined ? '–' : format(amount);
  };
  return { name, show, measure, format };
}

function differenceOf(
  { measure, format }: Figure,
  before: ExecutionDetail,
  after: ExecutionDetail,
) {
  const [from, to] = [measure?.(before), measure?.(after)];
  if (!format || from === undefined || to === undefined) return null;
  if (from === to) return 'none';
  return `${to > from ? '+' : '−'}${format(Math.abs(to - from))}`;
}

/** JSON is compared line by line once it is indented. */
function outputOf({ outputText, outputJson }: ExecutionDetail): string | undefined {
  if (outputText === undefined) return undefined;
  return outputJson === undefined
    ? (indentJson(outputText) ?? outputText)
    : stringify(outputJson, 2);
}

function variablesOf({ inputVariables }: ExecutionDetail): string | undefined {
  return inputVariables && stringify(inputVariables, 2);
}

function messagesOf({ messages }: ExecutionDetail): string | undefined {
  return messages?.map(({ role, content }) => `${role}:\n${contentText(content)}`).join('\n\n');
}

function Difference(props: {
  readonly before: string | undefined;
  readonly after: string | undefined;
  readonly label: string;
}) {
  const { before = '', after = '', label } = props;
  if (before === after) {
    return <p className="note">{before === '' ? 'Neither is stored.' : 'No difference.'}</p>;
  }
  return (
    <div className="stack-small">
      {(before === '' || after === '') && (
        <p className="note">The {before === '' ? 'first' : 'second'} execution has none.</p>
      )}
      <Suspense fallback={<Skeleton height={120} />}>
        <TextDiff
          before={before}
          after={after}
          beforeLabel={`${label} of the first execution`}
          afterLabel={`${label} of the second execution`}
        />
      </Suspense>
    </div>
  );
}
