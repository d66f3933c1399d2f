import { Button, SegmentedControl, Skeleton, Stack } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { Suspense, useState } from 'react';
import { Time } from '../../../components/figures/time.tsx';
import { PageHeader } from '../../../components/layout/page-header.tsx';
import { lazyComponent } from '../../../components/loading/lazy-component.tsx';
import { EmptyState } from '../../../components/states/empty-state.tsx';
import { ErrorState } from '../../../components/states/error-state.tsx';
import { ExecutionBadge } from '../../../components/states/status-badge.tsx';
import { conversationQuery, saidText } from '../../../data/executions/conversations.ts';
import { type Execution, isInProgress } from '../../../data/executions/executions.ts';
import { formatCost, formatDuration } from '../../../data/text/format.ts';
import { rendersQuickly } from '../record/markdown-limits.ts';
import classes from './conversation.module.css';

const Markdown = lazyComponent(() => import('../record/markdown.tsx'));

const route = getRouteApi('/app/session');

type View = 'text' | 'markdown';

/** A session as a chat: what its user said, and what the agents answered. The newest turn is at the end. */
export function ConversationPage() {
  const { session } = route.useSearch();
  const [view, setView] = useState<View>('text');
  const pages = useInfiniteQuery(conversationQuery(session));
  const turns = pages.data?.pages.flatMap(({ executions }) => executions).reverse();
  const user = turns?.findLast((turn) => turn.user !== undefined)?.user;
  return (
    <>
      <PageHeader
        title={`Session ${session}`}
        parent={{ label: 'Executions', to: '/history' }}
        description={
          user !== undefined && (
            <>
              With{' '}
              <Link to="/user" search={{ user }}>
                {user}
              </Link>
            </>
          )
        }
        actions={
          <>
            <SegmentedControl
              size="xs"
              aria-label="Format of the answers"
              data={views}
              value={view}
              onChange={(chosen) => setView(chosen as View)}
            />
            <Button
              variant="default"
              renderRoot={(root: object) => (
                <Link {...root} to="/history" search={{ session, playground: 'true,false' }} />
              )}
            >
              Executions
            </Button>
          </>
        }
      />
      {pages.isError && !turns ? (
        <ErrorState error={pages.error} onRetry={() => void pages.refetch()} />
      ) : turns === undefined ? (
        <Stack aria-busy="true">
          <Skeleton height={60} width="60%" />
          <Skeleton height={120} width="80%" />
        </Stack>
      ) : turns.length === 0 ? (
        <EmptyState icon="history" title="No executions in this session">
          Its records may have been deleted.
        </EmptyState>
      ) : (
        <>
          {pages.hasNextPage && (
            <Button
              variant="default"
              size="xs"
              mb="md"
              loading={pages.isFetchingNextPage}
              onClick={() => void pages.fetchNextPage()}
            >
              Earlier turns
            </Button>
          )}
          <ol className={classes.turns} aria-label="Conversation">
            {turns.map((turn) => (
              <Turn key={turn.executionId} turn={turn} view={view} />
            ))}
          </ol>
        </>
      )}
    </>
  );
}

const views = [
  { value: 'text', label: 'Text' },
  { value: 'markdown', label: 'Markdown' },
];

function Turn({ turn, view }: { readonly turn: Execution; readonly view: View }) {
  const { agentId, executionId, agentName, executedAt, latencyMs, costUSD } = turn;
  const said = saidText(turn);
  return (
    <li className={classes.turn}>
      {said !== '' && (
        <div className={classes.said} dir="auto">
          {said}
        </div>
      )}
      <div className={classes.answer}>
        <Answer turn={turn} view={view} />
      </div>
      <div className={classes.about}>
        <Link to="/history/$agentId/$executionId" params={{ agentId, executionId }}>
          {agentName}
        </Link>
        <Time at={executedAt} relative="day" />
        {!isInProgress(turn) && latencyMs !== undefined && <span>{formatDuration(latencyMs)}</span>}
        {costUSD !== undefined && <span>{formatCost(costUSD)}</span>}
      </div>
    </li>
  );
}

function Answer({ turn, view }: { readonly turn: Execution; readonly view: View }) {
  const { outputText, error, errorCode, status } = turn;
  if (status !== 'success') {
    return (
      <div className={classes.failure}>
        <ExecutionBadge execution={turn} />
        {errorCode !== undefined && (
          <span>
            <code>{errorCode}</code> {error}
          </span>
        )}
      </div>
    );
  }
  if (outputText === undefined) return <p className="note">The output is no longer stored.</p>;
  if (view === 'markdown' && rendersQuickly(outputText)) {
    return (
      <Suspense fallback={<div className={classes.text}>{outputText}</div>}>
        <Markdown text={outputText} />
      </Suspense>
    );
  }
  return (
    <div className={classes.text} dir="auto">
      {outputText}
    </div>
  );
}
