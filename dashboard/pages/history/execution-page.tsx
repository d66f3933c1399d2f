import { Skeleton, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useCallback, useState } from 'react';
import { useNavigateFrom } from '../../components/hooks/use-navigate-from.ts';
import { PageHeader } from '../../components/layout/page-header.tsx';
import { ErrorState } from '../../components/states/error-state.tsx';
import { StaleNotice } from '../../components/states/stale-notice.tsx';
import { ExecutionBadge } from '../../components/states/status-badge.tsx';
import { isNotFound } from '../../data/client/error-status.ts';
import { executionQuery } from '../../data/executions/executions.ts';
import { can, useMe } from '../../data/workspace/me.ts';
import { useKeys } from '../../shell/shortcuts/use-keys.ts';
import { ExecutionRecord } from './record/execution-record.tsx';
import { RunAgainById } from './record/run-again-by-id.tsx';

const route = getRouteApi('/app/history/$agentId/$executionId');

/** The page of one execution. */
export function ExecutionPage() {
  const { agentId, executionId } = route.useParams();
  // Resets local state for another execution.
  return <Execution key={executionId} agentId={agentId} executionId={executionId} />;
}

function Execution({
  agentId,
  executionId,
}: {
  readonly agentId: string;
  readonly executionId: string;
}) {
  const { q } = route.useSearch();
  const navigate = useNavigate();
  const navigateFrom = useNavigateFrom(executionId);
  const canEdit = can(useMe(), 'edit');
  const record = useQuery(executionQuery(agentId, executionId));
  const { refetch } = record;
  const refresh = useCallback(() => void refetch(), [refetch]);
  const [isRunningAgain, setRunningAgain] = useState(false);
  useKeys(canEdit ? { r: () => setRunningAgain(true) } : {});
  const isGone = record.isError && (!record.data || isNotFound(record.error));
  return (
    <>
      <PageHeader
        title={record.data ? `Execution of ${record.data.agentName}` : 'Execution'}
        parent={{ label: 'Executions', to: '/history' }}
        badge={record.data && !isGone && <ExecutionBadge execution={record.data} />}
      />
      {isGone ? (
        <ErrorState error={record.error} onRetry={refresh} />
      ) : record.data ? (
        <div data-full-width>
          <StaleNotice query={record} />
          <ExecutionRecord
            execution={record.data}
            q={q}
            onEnded={refresh}
            onDeleted={() => navigateFrom({ to: '/history', replace: true })}
            onStarted={(started) =>
              void navigate({
                to: '/history/$agentId/$executionId',
                params: { agentId, executionId: started },
              })
            }
          />
        </div>
      ) : (
        <Stack aria-busy="true">
          <Skeleton height={28} width="60%" />
          <Skeleton height={64} />
          <Skeleton height={220} />
        </Stack>
      )}
      {isRunningAgain && (
        <RunAgainById
          agentId={agentId}
          executionId={executionId}
          onClose={() => setRunningAgain(false)}
        />
      )}
    </>
  );
}
