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
import { type ExecutionDetail, executionQuery } from '../../data/executions/executions.ts';
import { contentText } from '../../data/executions/sent-files.ts';
import { stringify } from '../../data/text/exact-json.ts';
import { formatDuration, formatExactCount } from '../../data/text/format.ts';
import { costCell } from './amounts.tsx';
import { indentJson } from './record/json-text.ts';
import classes from './record/record.module.css';

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
      <table className={classes.compared}>
        <caption className="visually-hidden">Figures</caption>
        <thead>
          <tr>
            <td />
            {[before, after].map((one) => (
              <th key={one.executionId} scope="col">
                <Link
                  to="/history/$agentId/$executionId"
                  params={{ agentId: one.agentId, executionId: one.executionId }}
                >
                  <Time at={one.executedAt} />
                </Link>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {figures.map(([name, show]) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td dir="auto">{show(before)}</td>
              <td dir="auto">{show(after)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {parts.map(([title, read]) => (
        <Card key={title} title={title}>
          <Difference before={read(before)} after={read(after)} label={title} />
        </Card>
      ))}
    </div>
  );
}

const figures: readonly (readonly [string, (one: ExecutionDetail) => ReactNode])[] = [
  ['Status', (execution) => <ExecutionBadge execution={execution} />],
  ['Error', ({ errorCode }) => errorCode ?? '–'],
  ['Agent', ({ agentName }) => agentName],
  ['Version', ({ promptVersionLabel }) => <code>{promptVersionLabel}</code>],
  ['Model', ({ modelUsed }) => <code>{modelUsed}</code>],
  ['Latency', ({ latencyMs }) => (latencyMs === undefined ? '–' : formatDuration(latencyMs))],
  ['Input tokens', ({ inputTokens }) => formatExactCount(inputTokens ?? 0)],
  ['Output tokens', ({ outputTokens }) => formatExactCount(outputTokens ?? 0)],
  ['Cost', (one) => costCell(one) ?? '–'],
];

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
    <Suspense fallback={<Skeleton height={120} />}>
      <TextDiff
        before={before}
        after={after}
        beforeLabel={`${label} of the first execution`}
        afterLabel={`${label} of the second execution`}
      />
    </Suspense>
  );
}
