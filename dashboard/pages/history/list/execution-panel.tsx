import { ActionIcon, Skeleton, Stack, Tooltip } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useCallback } from 'react';
import { CopyButton } from '../../../components/code/copy-button.tsx';
import { Icon, type IconName } from '../../../components/icon.tsx';
import { ErrorState } from '../../../components/states/error-state.tsx';
import { StaleNotice } from '../../../components/states/stale-notice.tsx';
import { isNotFound } from '../../../data/client/error-status.ts';
import { type Execution, executionQuery } from '../../../data/executions/executions.ts';
import { ExecutionRecord } from '../record/execution-record.tsx';
import type { HistorySearch } from '../search.ts';
import { focusRow, linkOf } from './list-rows.ts';
import classes from './panel.module.css';

type Key = Pick<Execution, 'agentId' | 'executionId'>;

/** The execution in the side panel; null while it is closed. */
export function useOpenedExecution(): Key | null {
  const { open }: HistorySearch = useSearch({ strict: false });
  const [agentId, executionId] = open?.split('/') ?? [];
  return agentId && executionId ? { agentId, executionId } : null;
}

export function useOpenPanel() {
  const navigate = useNavigate();
  return ({ agentId, executionId }: Key, { replace = false } = {}) => {
    const search = (now: object) => ({ ...now, open: `${agentId}/${executionId}` });
    void navigate({ to: '.', search: search as never, replace, resetScroll: false });
  };
}

export function useClosePanel(): () => void {
  const navigate = useNavigate();
  const search = (now: object) => ({ ...now, open: undefined });
  return () => void navigate({ to: '.', search: search as never, resetScroll: false });
}

/** Closes the panel; the focus goes to its row, unless it is elsewhere in the list. */
export function closePanelOf(executionId: string, close: () => void): void {
  const focused = document.activeElement;
  close();
  if (!focused || focused === document.body || focused.closest('aside')) focusRow(executionId);
}

/** One execution beside the list, which stays usable. */
export function ExecutionPanel(props: {
  readonly rows: readonly Execution[] | undefined;
  readonly onDeleted: (executionId: string) => void;
}) {
  const opened = useOpenedExecution();
  if (!opened) return null;
  // Resets local state for another execution.
  return <Panel key={opened.executionId} opened={opened} {...props} />;
}

function Panel(props: {
  readonly opened: Key;
  readonly rows: readonly Execution[] | undefined;
  readonly onDeleted: (executionId: string) => void;
}) {
  const { opened, rows, onDeleted } = props;
  const { agentId, executionId } = opened;
  const open = useOpenPanel();
  const close = useClosePanel();
  const { q }: HistorySearch = useSearch({ strict: false });
  const record = useQuery(executionQuery(agentId, executionId));
  const { refetch } = record;
  const refresh = useCallback(() => void refetch(), [refetch]);
  const at = rows?.findIndex((row) => row.executionId === executionId) ?? -1;
  const rowBeside = (by: 1 | -1) => (at < 0 ? undefined : rows?.[at + by]);
  return (
    <aside className={classes.panel} aria-label="Execution">
      <div className={classes.top}>
        <StepButton label="Previous (k)" icon="up" to={rowBeside(-1)} onOpen={open} />
        <StepButton label="Next (j)" icon="down" to={rowBeside(1)} onOpen={open} />
        <span className="grow" />
        <CopyButton text={linkOf(opened)} name="link" />
        <Tooltip label="Open page (o)">
          <ActionIcon
            variant="subtle"
            color="gray"
            aria-label="Open page"
            renderRoot={(root: object) => (
              <Link
                {...root}
                to="/history/$agentId/$executionId"
                params={opened}
                search={q === undefined ? {} : { q }}
              />
            )}
          >
            <Icon name="external" size={14} />
          </ActionIcon>
        </Tooltip>
        <Tooltip label="Close (Esc)">
          <ActionIcon
            variant="subtle"
            color="gray"
            aria-label="Close"
            onClick={() => closePanelOf(executionId, close)}
          >
            <Icon name="close" size={14} />
          </ActionIcon>
        </Tooltip>
      </div>
      {record.isError && (!record.data || isNotFound(record.error)) ? (
        <ErrorState error={record.error} onRetry={refresh} />
      ) : record.data ? (
        <>
          <StaleNotice query={record} />
          <ExecutionRecord
            execution={record.data}
            heading
            onEnded={refresh}
            onDeleted={async () => {
              onDeleted(executionId);
              close();
            }}
            onStarted={(started) => open({ agentId, executionId: started })}
          />
        </>
      ) : (
        <Stack aria-busy="true">
          <Skeleton height={28} width="60%" />
          <Skeleton height={64} />
          <Skeleton height={220} />
        </Stack>
      )}
    </aside>
  );
}

function StepButton(props: {
  readonly label: string;
  readonly icon: IconName;
  readonly to: Execution | undefined;
  readonly onOpen: (to: Key, options: { readonly replace: boolean }) => void;
}) {
  const { label, icon, to, onOpen } = props;
  return (
    <Tooltip label={label}>
      <ActionIcon
        variant="subtle"
        color="gray"
        aria-label={label}
        disabled={!to}
        onClick={() => to && onOpen(to, { replace: true })}
      >
        <Icon name={icon} size={14} />
      </ActionIcon>
    </Tooltip>
  );
}
