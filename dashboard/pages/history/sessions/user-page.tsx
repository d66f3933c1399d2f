import { Button } from '@mantine/core';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { joinValues, type SessionList } from '../../../../src/client/index.ts';
import { ConfirmErasure } from '../../../components/dialogs/confirm-erasure.tsx';
import { MetricList } from '../../../components/figures/metric-list.tsx';
import { Time } from '../../../components/figures/time.tsx';
import { Card } from '../../../components/layout/card.tsx';
import { PageHeader } from '../../../components/layout/page-header.tsx';
import { EmptyState } from '../../../components/states/empty-state.tsx';
import { ErrorState } from '../../../components/states/error-state.tsx';
import { type Column, DataTable } from '../../../components/tables/data-table.tsx';
import { sessionsQuery, userFiguresQuery } from '../../../data/executions/conversations.ts';
import { formatCost, formatCount, formatDuration } from '../../../data/text/format.ts';
import { can, useMe } from '../../../data/workspace/me.ts';
import { openDialog } from '../../../kit/dialog.tsx';
import classes from './conversation.module.css';

const route = getRouteApi('/app/user');

type Session = SessionList['sessions'][number];

/** An end user: what it has spent, what failed, its sessions, and its erasure. */
export function UserPage() {
  const { user } = route.useSearch();
  const canErase = can(useMe(), 'manage');
  const search = { user: joinValues([user]) };
  return (
    <>
      <PageHeader
        title={`User ${user}`}
        parent={{ label: 'Executions', to: '/history' }}
        actions={
          <>
            <Button
              variant="default"
              renderRoot={(root: object) => <Link {...root} to="/history" search={search} />}
            >
              Executions
            </Button>
            {canErase && (
              <Button
                variant="default"
                c="var(--bad)"
                onClick={() =>
                  openDialog(<ConfirmErasure by="user" name="" value={user} onDone={() => {}} />)
                }
              >
                Erase…
              </Button>
            )}
          </>
        }
      />
      <UserRecords user={user} />
    </>
  );
}

function UserRecords({ user }: { readonly user: string }) {
  const figures = useQuery(userFiguresQuery(user));
  if (figures.data && !figures.data.newest) {
    return (
      <EmptyState icon="history" title="No records of this user">
        Calls name their user in the field <code>user</code>, in exactly this spelling. Records may
        have been erased, or their retention period has ended.
      </EmptyState>
    );
  }
  return (
    <>
      <div className={classes.figures}>
        <Figures user={user} />
      </div>
      <Card title="Sessions">
        <Sessions user={user} />
      </Card>
    </>
  );
}

function Figures({ user }: { readonly user: string }) {
  const figures = useQuery(userFiguresQuery(user));
  if (figures.isError && !figures.data) {
    return <ErrorState error={figures.error} onRetry={() => void figures.refetch()} />;
  }
  const { totals, newest, failures } = figures.data ?? {};
  const search = { user: joinValues([user]) };
  const isBound = totals?.summedOver !== undefined;
  const cost = totals && `${totals.costKnown && !isBound ? '' : '≥ '}${formatCost(totals.costUSD)}`;
  return (
    <MetricList
      metrics={[
        ['Executions', totals && formatCount(totals.executions)],
        [
          'Failures',
          failures === undefined ? undefined : (
            <Link key="failures" to="/history" search={{ ...search, status: 'failed' }}>
              {formatCount(failures)}
            </Link>
          ),
        ],
        [
          'Spend',
          cost && (
            <Link key="spend" to="/history" search={{ ...search, sort: '-costUSD' }}>
              {cost}
            </Link>
          ),
        ],
        ['Tokens', totals && `${isBound ? '≥ ' : ''}${formatCount(totals.tokensUsed)}`],
        ['Latency p95', totals?.p95Ms == null ? undefined : `≈ ${formatDuration(totals.p95Ms)}`],
        ['Last seen', newest && <Time key="last" at={newest.executedAt} relative="day" />],
      ]}
    />
  );
}

function Sessions({ user }: { readonly user: string }) {
  const pages = useInfiniteQuery(sessionsQuery(user));
  const rows = pages.data?.pages.flatMap(({ sessions }) => sessions);
  if (pages.isError && !rows) {
    return <ErrorState error={pages.error} onRetry={() => void pages.refetch()} />;
  }
  if (rows?.length === 0 && !pages.hasNextPage) {
    return <p className="note">No record of this user names a session.</p>;
  }
  return (
    <>
      <DataTable
        caption="Sessions of the user"
        columns={columns}
        rows={rows}
        rowKey={({ session }) => session}
        loadingRows={3}
      />
      {pages.hasNextPage && (
        <Button
          variant="default"
          size="xs"
          mt="sm"
          loading={pages.isFetchingNextPage}
          onClick={() => void pages.fetchNextPage()}
        >
          More sessions
        </Button>
      )}
    </>
  );
}

const columns: readonly Column<Session>[] = [
  {
    header: 'Session',
    isName: true,
    cell: ({ session }) => (
      <Link to="/session" search={{ session }} data-row-link>
        {session}
      </Link>
    ),
  },
  { header: 'Last', cell: ({ lastAt }) => <Time at={lastAt} relative="day" /> },
  { header: 'First', hideBelow: 'md', cell: ({ firstAt }) => <Time at={firstAt} relative="day" /> },
  {
    header: 'Executions',
    align: 'right',
    hideBelow: 'sm',
    cell: ({ executions, isLowerBound }) => `${isLowerBound ? '≥ ' : ''}${formatCount(executions)}`,
  },
  { header: 'Failures', align: 'right', cell: ({ failures }) => formatCount(failures) },
  {
    header: 'Cost',
    align: 'right',
    hideBelow: 'sm',
    cell: ({ costUSD, costKnown, isLowerBound }) =>
      `${costKnown && !isLowerBound ? '' : '≥ '}${formatCost(costUSD)}`,
  },
];
