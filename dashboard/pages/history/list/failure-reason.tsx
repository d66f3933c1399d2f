import { Tooltip } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import { statusTones } from '../../../components/states/status-badge.tsx';
import type { Execution } from '../../../data/executions/executions.ts';
import classes from '../history.module.css';
import { useOpenedExecution } from './execution-panel.tsx';

/** Why an execution did not succeed, on one line; the whole text while its row has the pointer or the focus. */
export function Reason({ execution }: { readonly execution: Execution }) {
  const { errorCode, error, status } = execution;
  const line = useRef<HTMLSpanElement>(null);
  const isAttended = useRowAttention(line);
  // It would cover the side panel, which shows the whole text.
  const isPanelOpen = useOpenedExecution() !== null;
  if (errorCode === undefined) return null;
  const text = error ?? '';
  return (
    <Tooltip
      multiline
      maw="40rem"
      opened={isAttended && !isPanelOpen}
      // A portal elsewhere would be outside of all landmarks.
      portalProps={{ target: '#page' }}
      position="bottom-start"
      label={<span className={classes.whole}>{`${errorCode}: ${text}`}</span>}
    >
      <span ref={line} className={classes.reason} data-tone={statusTones[status]}>
        <code>{errorCode}</code> {text}
      </span>
    </Tooltip>
  );
}

/** Whether the row around a line that is cut off has the pointer or the focus. */
function useRowAttention(line: React.RefObject<HTMLElement | null>): boolean {
  const [attended, setAttended] = useState(false);
  useEffect(() => {
    const row = line.current?.closest('tr');
    if (!row) return;
    const begin = () => {
      const { scrollWidth = 0, clientWidth = 0 } = line.current ?? {};
      setAttended(scrollWidth > clientWidth);
    };
    const end = () => setAttended(false);
    const listeners = [
      ['mouseenter', begin],
      ['focusin', begin],
      ['mouseleave', end],
      ['focusout', end],
    ] as const;
    for (const [name, listener] of listeners) row.addEventListener(name, listener);
    return () => {
      for (const [name, listener] of listeners) row.removeEventListener(name, listener);
    };
  }, [line]);
  return attended;
}
