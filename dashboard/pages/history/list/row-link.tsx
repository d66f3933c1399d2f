import { Link } from '@tanstack/react-router';
import type { MouseEvent } from 'react';
import { Time } from '../../../components/figures/time.tsx';
import { useFilters } from '../../../components/hooks/use-filters.ts';
import type { Execution } from '../../../data/executions/executions.ts';
import classes from '../history.module.css';
import type { HistorySearch } from '../search.ts';
import { useOpenPanel } from './execution-panel.tsx';

/** The row's link: it opens the side panel, and in a new tab the page of the execution. */
export function RowLink(props: {
  readonly execution: Execution;
  readonly agentId: string | undefined;
  readonly relative: boolean;
}) {
  const { executionId, agentId, executedAt } = props.execution;
  const open = useOpenPanel();
  const [{ q }] = useFilters<HistorySearch>();
  const onClick = (event: MouseEvent) => {
    if (event.metaKey || event.ctrlKey || event.shiftKey) return;
    event.preventDefault();
    open({ agentId, executionId });
  };
  return (
    <Link
      to="/history/$agentId/$executionId"
      params={{ agentId, executionId }}
      search={q === undefined ? {} : { q }}
      className={classes.when}
      data-row-link
      data-execution={executionId}
      onClick={onClick}
    >
      <Time at={executedAt} relative={props.relative && 'day'} />
    </Link>
  );
}
