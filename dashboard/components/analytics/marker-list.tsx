import { Link } from '@tanstack/react-router';
import { Time } from '../figures/time.tsx';
import classes from './analytics.module.css';
import type { Markers } from './markers.ts';

const shownMax = 4;

/** The markers of the chart as text. */
export function MarkerList({ markers }: { readonly markers: Markers }) {
  const { shown, total } = markers;
  if (shown.length === 0) return null;
  return (
    <ul className={classes.markers} aria-label="Versions pinned">
      {shown.slice(0, shownMax).map(({ key, atMs, text, agentId }) => (
        <li key={key}>
          <span aria-hidden="true">▾</span>{' '}
          <Link to="/agents/$agentId/versions" params={{ agentId }}>
            {text}
          </Link>{' '}
          <Time at={new Date(atMs).toISOString()} relative />
        </li>
      ))}
      {total > shownMax && <li>and {total - shownMax} more in this period</li>}
    </ul>
  );
}
