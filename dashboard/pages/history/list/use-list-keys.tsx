import { useNavigate, useSearch } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { copyText } from '../../../components/hooks/use-copy.ts';
import { announceFailure, announceSave } from '../../../data/client/saves.ts';
import type { Execution } from '../../../data/executions/executions.ts';
import { can, useMe } from '../../../data/workspace/me.ts';
import { useKeys } from '../../../shell/shortcuts/use-keys.ts';
import { RunAgainById } from '../record/run-again-by-id.tsx';
import type { HistorySearch } from '../search.ts';
import {
  closePanelOf,
  useClosePanel,
  useOpenedExecution,
  useOpenPanel,
} from './execution-panel.tsx';
import { focusedId, focusRow, linkOf } from './list-rows.ts';
import type { Selection } from './use-selection.ts';

/**
 * The keys of the list: j and k move, Enter opens the side panel (as the row's link), o the page, r runs again, c copies the
 * link, x selects, Esc closes. While the panel is open, it follows j and k. Returns the dialog that r opens.
 */
export function useListKeys({
  rows,
  selection,
}: {
  readonly rows: readonly Execution[] | undefined;
  readonly selection: Selection;
}): ReactNode {
  const navigate = useNavigate();
  const { q }: HistorySearch = useSearch({ strict: false });
  const canEdit = can(useMe(), 'edit');
  const opened = useOpenedExecution();
  const open = useOpenPanel();
  const close = useClosePanel();
  const [again, setAgain] = useState<Pick<Execution, 'agentId' | 'executionId'> | null>(null);
  /** The row with the focus, else the open one. */
  const current = () => {
    const focused = focusedId();
    return (
      rows?.find(({ executionId }) => executionId === (focused ?? opened?.executionId)) ?? opened
    );
  };
  const move = (by: 1 | -1) => {
    if (!rows || rows.length === 0) return;
    const id = current()?.executionId;
    const at = rows.findIndex(({ executionId }) => executionId === id);
    const next = rows[at < 0 ? 0 : Math.min(rows.length - 1, Math.max(0, at + by))];
    if (!next) return;
    focusRow(next.executionId);
    if (opened) open(next, { replace: true });
  };
  const withCurrent =
    (act: (execution: Pick<Execution, 'agentId' | 'executionId'>) => void) => () => {
      const execution = current();
      if (execution) act(execution);
    };
  useKeys({
    j: () => move(1),
    k: () => move(-1),
    o: withCurrent(({ agentId, executionId }) => {
      const params = { agentId, executionId };
      void navigate({ to: '/history/$agentId/$executionId', params, search: q ? { q } : {} });
    }),
    c: withCurrent(({ agentId, executionId }) => {
      void copyText(linkOf({ agentId, executionId })).then((copied) =>
        copied ? announceSave('Link copied') : announceFailure('Copy failed'),
      );
    }),
    x: withCurrent(({ executionId }) => selection.toggle(executionId)),
    ...(canEdit && { r: withCurrent(setAgain) }),
    ...(opened
      ? { Escape: () => closePanelOf(opened.executionId, close) }
      : selection.rows.length > 0 && { Escape: selection.clear }),
  });
  return again && <RunAgainById {...again} onClose={() => setAgain(null)} />;
}
