import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { ListLink } from '../../data/analytics/links.ts';
import classes from './list-figure.module.css';

/** A figure that leads to the executions it counts. Without a link if the list has no filter for them. */
export function ListFigure(props: {
  readonly link: ListLink | null;
  readonly children: ReactNode;
  /** What it counts, for screen readers and on hover. */
  readonly label?: string;
  readonly className?: string | undefined;
}) {
  const { link, children, label } = props;
  if (link === null) return <span title={label}>{children}</span>;
  const to = link.agentId === undefined ? '/history' : '/agents/$agentId/history';
  return (
    <Link
      to={to}
      params={{ agentId: link.agentId ?? '' }}
      search={link.search as never}
      className={props.className ?? classes.figure}
      title={label}
    >
      {children}
    </Link>
  );
}
