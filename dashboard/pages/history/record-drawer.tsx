import { Drawer, Skeleton, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type NavigateOptions, useNavigate, useParams } from '@tanstack/react-router';
import { useCallback } from 'react';
import { ErrorState } from '../../components/error-state.tsx';
import { useNavigateFrom } from '../../components/hooks/use-navigate-from.ts';
import { useReturnFocus } from '../../components/hooks/use-return-focus.ts';
import { StaleNotice } from '../../components/stale-notice.tsx';
import { routerPath } from '../../data/client/base-path.ts';
import { isNotFound } from '../../data/client/error-status.ts';
import { executionQuery } from '../../data/executions/executions.ts';
import { ExecutionRecord } from './execution-record.tsx';
import classes from './record.module.css';

/** One execution in a drawer over its list, with its own URL. Closing it returns to the list. */
export function RecordDrawer() {
  const { agentId = '', executionId = '' } = useParams({ strict: false });
  const navigate = useNavigate();
  useReturnFocus();
  const record = useQuery(executionQuery(agentId, executionId));
  const { refetch } = record;
  const refresh = useCallback(() => void refetch(), [refetch]);
  const isAgentPage = routerPath(location.pathname).startsWith('/agents/');
  const navigateFrom = useNavigateFrom(executionId);
  const locationOf = (open?: string) => {
    const params = { agentId, executionId: open ?? '' };
    const list = isAgentPage ? '/agents/$agentId/history' : '/history';
    const one = isAgentPage
      ? '/agents/$agentId/history/$executionId'
      : '/history/$agentId/$executionId';
    const search = (now: object) => now;
    const to = open === undefined ? list : one;
    return { to, params, search, resetScroll: false } as NavigateOptions;
  };
  const close = () => {
    // Esc reaches all open dialogs but must close only the topmost.
    if (document.querySelectorAll('[role="dialog"]').length <= 1) void navigate(locationOf());
  };
  return (
    <Drawer.Root
      opened
      onClose={close}
      position="right"
      size="46rem"
      returnFocus={false}
      transitionProps={{ duration: 120 }}
    >
      <Drawer.Overlay backgroundOpacity={0.4} />
      <Drawer.Content>
        <Drawer.Body p="lg">
          {/* Not `Drawer.Header`: with a dialog on top there would be two banners. */}
          <div className={classes.top}>
            <Drawer.Title>Execution</Drawer.Title>
            <Drawer.CloseButton aria-label="Close" />
          </div>
          {record.isError && (!record.data || isNotFound(record.error)) ? (
            <ErrorState error={record.error} onRetry={() => void record.refetch()} />
          ) : record.data ? (
            <>
              <StaleNotice query={record} />
              <ExecutionRecord
                // Resets local state for another execution.
                key={executionId}
                execution={record.data}
                onEnded={refresh}
                onDeleted={() => navigateFrom({ ...locationOf(), replace: true })}
                onStarted={(started) => void navigate(locationOf(started))}
              />
            </>
          ) : (
            <Stack aria-busy="true">
              <Skeleton height={28} width="60%" />
              <Skeleton height={64} />
              <Skeleton height={220} />
            </Stack>
          )}
        </Drawer.Body>
      </Drawer.Content>
    </Drawer.Root>
  );
}
